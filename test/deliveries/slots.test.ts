import { expect } from 'chai';
import type { EndpointOutcome } from '../../src/deliveries/core/circuit.ts';
import { Slots, type DueEndpoint, type Share, type Slot } from '../../src/deliveries/core/slots.ts';

const endpoint = (id: number, changes: Partial<DueEndpoint> = {}): DueEndpoint => ({
  id,
  accountId: 1,
  isProven: true,
  circuit: 'closed',
  rate: null,
  ...changes,
});
const lanesOf = (shares: readonly Share[], id: number) => shares.find((share) => share.id === id)?.lanes ?? 0;

/** Takes all slots of a plan, and returns them. */
function takeAll(slots: Slots, due: readonly DueEndpoint[]): Slot[] {
  return slots.plan(due).flatMap((share) => Array.from({ length: share.lanes }, () => slots.take(share)));
}

function perform(slots: Slots, one: DueEndpoint, outcome: EndpointOutcome): void {
  slots.give(slots.take(one), outcome);
}

describe('slots', () => {
  it('an endpoint has one until it succeeds, earns more by success, and falls back to one by failure', () => {
    const slots = new Slots({ total: 100, perEndpoint: 4 });
    const one = endpoint(1, { isProven: false });
    const allowed = () => lanesOf(slots.plan([one]), 1);
    expect(allowed()).to.equal(1);
    one.isProven = true;
    expect(allowed()).to.equal(2);
    const slot = slots.take(one);
    expect([allowed(), slots.free]).to.deep.equal([1, 99]);
    slots.give(slot, 'delivered');
    expect([allowed(), slots.free]).to.deep.equal([3, 100]);
    for (let count = 0; count < 5; count++) perform(slots, one, 'delivered');
    expect(allowed()).to.equal(4);
    for (const outcome of ['failed', 'unanswered'] as const) {
      perform(slots, one, outcome);
      one.isProven = false;
      expect(allowed()).to.equal(1);
      perform(slots, one, 'delivered');
      one.isProven = true;
      expect(allowed()).to.equal(2);
    }
  });

  it('an attempt that says nothing of its endpoint changes nothing', () => {
    const slots = new Slots({ total: 100, perEndpoint: 4 });
    perform(slots, endpoint(1), 'skipped');
    expect(lanesOf(slots.plan([endpoint(1)]), 1)).to.equal(2);
    for (let count = 0; count < 5; count++) perform(slots, endpoint(1), 'delivered');
    perform(slots, endpoint(1), 'skipped');
    expect(lanesOf(slots.plan([endpoint(1)]), 1)).to.equal(4);
  });

  it('endpoints that are not proven have a quarter of the slots between them, the proven the rest', () => {
    const slots = new Slots({ total: 256, perEndpoint: 8 });
    const crowd = Array.from({ length: 600 }, (_, at) =>
      endpoint(at + 1, { accountId: 10 + (at % 100), isProven: false }),
    );
    const held = takeAll(slots, crowd);
    expect(held).to.have.lengthOf(64);
    expect(takeAll(slots, crowd)).to.deep.equal([]);
    const healthy = Array.from({ length: 300 }, (_, at) => endpoint(at + 1_000, { accountId: 10 + (at % 100) }));
    expect(takeAll(slots, [...crowd, ...healthy])).to.have.lengthOf(192);
    expect(slots.free).to.equal(0);
    for (const slot of held) slots.give(slot, 'unanswered');
    expect(slots.plan(healthy)).to.deep.equal([]);
    expect(slots.plan(crowd).reduce((sum, { lanes }) => sum + lanes, 0)).to.equal(64);
  });

  it('a probe takes one slot of the unproven, whatever was known of its endpoint', () => {
    const slots = new Slots({ total: 8, perEndpoint: 8 });
    const [one, other] = [endpoint(1, { circuit: 'probe' }), endpoint(2, { circuit: 'probe' })];
    expect(slots.plan([one]).map(({ lanes }) => lanes)).to.deep.equal([1]);
    expect(takeAll(slots, [one, other])).to.have.lengthOf(2);
    expect(slots.plan([endpoint(3, { isProven: false })])).to.deep.equal([]);
    expect(lanesOf(slots.plan([endpoint(4)]), 4)).to.equal(2);
  });

  it('one account leaves the others a quarter of either part, and takes no more than its eighth of that', () => {
    const slots = new Slots({ total: 256, perEndpoint: 8 });
    const many = (accountId: number) =>
      Array.from({ length: 200 }, (_, at) => endpoint(accountId * 1_000 + at, { accountId }));
    expect(takeAll(slots, many(1))).to.have.lengthOf(192 - 48);
    expect(takeAll(slots, many(1))).to.deep.equal([]);
    expect(takeAll(slots, many(2))).to.have.lengthOf(24);
    expect(takeAll(slots, many(3))).to.have.lengthOf(24);
    expect(takeAll(slots, many(4))).to.deep.equal([]);
  });

  it('accounts take turns, whoever has more endpoints or holds slots already', () => {
    const slots = new Slots({ total: 16, perEndpoint: 8 });
    const first = Array.from({ length: 20 }, (_, at) => endpoint(at + 1, { accountId: 1 }));
    const held = takeAll(slots, first);
    expect(held).to.have.lengthOf(9);
    const other = endpoint(100, { accountId: 2 });
    const shares = slots.plan([...first, other]);
    expect(lanesOf(shares, 100)).to.equal(1);
    for (const slot of held) slots.give(slot, 'delivered');
    const fair = new Slots({ total: 16, perEndpoint: 8 }).plan([...first, other, endpoint(200, { accountId: 3 })]);
    expect([lanesOf(fair, 100), lanesOf(fair, 200)]).to.deep.equal([2, 2]);
  });

  it('with fewer slots than endpoints each has its turn', () => {
    const slots = new Slots({ total: 4, perEndpoint: 8 });
    const busy = Array.from({ length: 8 }, (_, at) => endpoint(at + 1));
    const served = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const taken = takeAll(slots, busy);
      expect(taken).to.have.lengthOf(3);
      for (const slot of taken) {
        served.add(slot.endpoint.id);
        slots.give(slot, 'delivered');
      }
    }
    expect(served.size).to.equal(8);
  });

  it('of a system bot every account has its own standing, and its server is spared as a whole', () => {
    const slots = new Slots({ total: 256, perEndpoint: 4 });
    const inside = (accountId: number) => endpoint(1, { accountId, isProven: null });
    for (let count = 0; count < 9; count++) perform(slots, inside(1), 'delivered');
    perform(slots, inside(2), 'failed');
    const shares = slots.plan([inside(1), inside(2)]);
    expect(shares.map(({ accountId, lanes }) => [accountId, lanes])).to.have.deep.members([
      [1, 4],
      [2, 1],
    ]);
    const server = (accountId: number) => endpoint(2, { accountId });
    for (const accountId of [1, 2, 3]) perform(slots, server(accountId), 'delivered');
    expect(slots.plan([1, 2, 3].map(server)).reduce((sum, { lanes }) => sum + lanes, 0)).to.equal(4);
  });

  it('deliveries that wait elsewhere free their slots, up to a bound of their account and of all accounts', () => {
    const slots = new Slots({ total: 10, perEndpoint: 4, room: { total: 2, perAccount: 1 } });
    const [first, second, other, third] = [1, 1, 2, 3].map((accountId, id) => slots.take(endpoint(id, { accountId })));
    const back = slots.leave(first!);
    expect(slots.free).to.equal(7);
    slots.leave(second!);
    expect(slots.free, 'another of the same account').to.equal(7);
    slots.leave(other!);
    expect(slots.free, 'one of another account').to.equal(8);
    slots.leave(third!);
    expect(slots.free, 'more than there is room for').to.equal(8);
    back();
    expect(slots.free).to.equal(7);
    slots.leave(second!);
    expect(slots.free, 'the place that the first has left').to.equal(8);
  });

  it('a single slot serves everybody', () => {
    const slots = new Slots({ total: 1, perEndpoint: 8 });
    const served: number[] = [];
    for (let round = 0; round < 4; round++) {
      const [slot, none] = takeAll(slots, [endpoint(1), endpoint(2, { isProven: false })]);
      expect(none).to.equal(undefined);
      served.push(slot!.endpoint.id);
      slots.give(slot!, 'delivered');
    }
    expect(new Set(served)).to.deep.equal(new Set([1, 2]));
  });
});
