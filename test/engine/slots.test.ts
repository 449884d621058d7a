import { expect } from 'chai';
import { Slots } from '../../src/engine/slots.ts';

describe('slots', () => {
  it('an endpoint begins with two, earns more by success, and falls to one by failure', () => {
    const slots = new Slots({ total: 10, perEndpoint: 4 });
    const freeOf = (id: number) => slots.freeByEndpoint().get(id) ?? slots.first;
    expect(freeOf(1)).to.equal(2);
    slots.take(1);
    expect([freeOf(1), slots.free]).to.deep.equal([1, 9]);
    slots.give(1, 'delivered');
    expect([freeOf(1), slots.free]).to.deep.equal([3, 10]);
    for (let count = 0; count < 5; count++) {
      slots.take(1);
      slots.give(1, 'delivered');
    }
    expect(freeOf(1)).to.equal(4);
    slots.take(1);
    slots.give(1, 'failed');
    expect(freeOf(1)).to.equal(1);
    slots.take(1);
    expect(freeOf(1)).to.equal(0);
  });

  it('an attempt that says nothing of its endpoint changes nothing, one without an answer is a failure', () => {
    const slots = new Slots({ total: 10, perEndpoint: 4 });
    const freeOf = (id: number) => slots.freeByEndpoint().get(id) ?? slots.first;
    slots.take(1);
    slots.give(1, 'skipped');
    expect([freeOf(1), slots.free]).to.deep.equal([2, 10]);
    slots.take(1);
    slots.give(1, 'unanswered');
    expect([freeOf(1), slots.free]).to.deep.equal([1, 10]);
    slots.take(1);
    slots.give(1, 'skipped');
    expect(freeOf(1)).to.equal(1);
  });

  it('endpoints that hang hold one slot each once they have failed', () => {
    const slots = new Slots({ total: 256, perEndpoint: 8 });
    for (let id = 1; id <= 100; id++) {
      slots.take(id);
      slots.take(id);
    }
    expect(slots.free).to.equal(56);
    for (let id = 1; id <= 100; id++) slots.give(id, 'failed');
    expect([...slots.freeByEndpoint().values()].every((free) => free === 0)).to.equal(true);
  });
});
