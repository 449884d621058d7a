import { expect } from 'chai';
import { boundedLabel, Counter, Registry } from '../../src/metrics/registries.ts';

describe('metrics', () => {
  it('have a bound for labels that others choose', async () => {
    const registry = new Registry();
    const counter = new Counter({ name: 'models_total', help: 'x', labelNames: ['model'], registers: [registry] });
    const bounded = boundedLabel();
    for (let count = 0; count < 2_000; count += 1) counter.inc({ model: bounded(`model-${count}`) });
    counter.inc({ model: bounded('model-0') });
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('models_total'));
    expect(lines).to.have.lengthOf(1_001);
    expect(lines).to.include.members(['models_total{model="other"} 1000', 'models_total{model="model-0"} 2']);
  });
});
