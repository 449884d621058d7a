import { expect } from 'chai';
import { gaugeLines } from '../../src/metrics/text.ts';
import { Counter, Histogram } from '../../src/metrics/measures.ts';

describe('metrics', () => {
  it('are told in the text format of Prometheus, with labels that nobody can break', () => {
    const counter = new Counter('things_total', 'Things.');
    counter.count({ kind: 'a "quoted"\\\nname' });
    counter.count({ kind: 'a "quoted"\\\nname' }, 2);
    expect(counter.lines()).to.deep.equal([
      '# HELP things_total Things.',
      '# TYPE things_total counter',
      'things_total{kind="a \\"quoted\\"\\\\\\nname"} 3',
    ]);
    expect(gaugeLines('depth', 'Depth.', [{ value: 1.5 }]).at(-1)).to.equal('depth 1.5');
  });

  it('of durations are counted in buckets that include the smaller ones', () => {
    const histogram = new Histogram('seconds', 'Time.');
    for (const seconds of [0.004, 0.3, 60]) histogram.observe({}, seconds);
    const lines = histogram.lines();
    expect(lines).to.include('seconds_bucket{le="0.005"} 1');
    expect(lines).to.include('seconds_bucket{le="0.25"} 1');
    expect(lines).to.include('seconds_bucket{le="0.5"} 2');
    expect(lines).to.include('seconds_bucket{le="10"} 2');
    expect(lines).to.include('seconds_bucket{le="+Inf"} 3');
    expect(lines).to.include('seconds_sum 60.304');
    expect(lines).to.include('seconds_count 3');
  });

  it('have a bound for labels that others choose', () => {
    const counter = new Counter('models_total', 'Models.');
    for (let count = 0; count < 2_000; count += 1) counter.count({ model: `model-${count}` });
    expect(counter.lines()).to.have.lengthOf(2 + 1_001);
    expect(counter.lines()).to.include('models_total{model="other"} 1000');
  });
});
