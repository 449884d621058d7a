import { expect } from 'chai';
import { array, assert, integer, property, record } from 'fast-check';
import { FairQueue } from '../../src/sandbox/parent/fair-queue.ts';
import type { Owner } from '../../src/sandbox/parent/fair-queue.ts';
import { Paces } from '../../src/sandbox/parent/paces.ts';

interface Item {
  owner: Owner;
  name: string;
}

const item = (account: number, bot: number, name = ''): Item => ({ owner: { account, bot }, name });
const any = (): boolean => true;
const nothing = (): void => undefined;

function takeAll(queue: FairQueue<Item>): string[] {
  const names: string[] = [];
  for (let next = queue.take(any); next; next = queue.take(any)) names.push(next.name);
  return names;
}

describe('sandbox: fair queue', () => {
  it('gives each account its turn, and each bot of an account, in order of arrival', () => {
    const queue = new FairQueue<Item>(100);
    for (const name of ['a1', 'a2', 'a3']) queue.add(item(1, 1, name), nothing);
    for (const name of ['b1', 'b2']) queue.add(item(1, 2, name), nothing);
    for (const name of ['x1', 'x2']) queue.add(item(2, 9, name), nothing);
    expect(takeAll(queue)).to.deep.equal(['a1', 'x1', 'b1', 'x2', 'a2', 'b2', 'a3']);
    expect(queue.size).to.equal(0);
  });

  it('puts an account that comes later before the next of one that was served', () => {
    const queue = new FairQueue<Item>(100);
    for (const name of ['a1', 'a2', 'a3']) queue.add(item(1, 1, name), nothing);
    queue.take(any);
    queue.add(item(2, 1, 'x1'), nothing);
    queue.take(any);
    expect(takeAll(queue)).to.deep.equal(['x1', 'a3']);
  });

  it('passes over who may not be taken, who keeps the turn', () => {
    const queue = new FairQueue<Item>(100);
    for (const [account, name] of [
      [1, 'a1'],
      [1, 'a2'],
      [2, 'x1'],
      [2, 'x2'],
    ] as const) {
      queue.add(item(account, 1, name), nothing);
    }
    expect(queue.take(({ account }) => account === 2)?.name).to.equal('x1');
    expect(queue.take(() => false)).to.equal(null);
    expect(takeAll(queue)).to.deep.equal(['a1', 'x2', 'a2']);
  });

  it('lets the account with the most make room, and of it the bot with the most', () => {
    const queue = new FairQueue<Item>(4);
    for (const [bot, name] of [
      [1, 'a1'],
      [2, 'b1'],
      [1, 'a2'],
      [1, 'a3'],
    ] as const) {
      expect(queue.add(item(1, bot, name), nothing)).to.equal(null);
    }
    expect(queue.add(item(1, 2, 'b2'), nothing)?.name).to.equal('a3');
    expect(queue.add(item(1, 2, 'b3'), nothing)?.name).to.equal('b3');
    expect(queue.add(item(2, 1, 'x1'), nothing)?.name).to.equal('b2');
    expect(queue.add(item(2, 1, 'x2'), nothing)?.name).to.equal('a2');
    expect(queue.size).to.equal(4);
    expect(takeAll(queue)).to.deep.equal(['a1', 'x1', 'b1', 'x2']);
  });

  it('counts only who still waits once everybody had a chance to take', () => {
    const queue = new FairQueue<Item>(1);
    queue.add(item(1, 1, 'a1'), nothing);
    expect(queue.add(item(1, 1, 'a2'), () => queue.take(any))).to.equal(null);
    expect(takeAll(queue)).to.deep.equal(['a2']);
  });

  it('loses nothing and invents nothing; no account waits while another is served twice', () => {
    const owners = array(record({ account: integer({ min: 1, max: 4 }), bot: integer({ min: 1, max: 3 }) }));
    assert(
      property(owners, integer({ min: 1, max: 10 }), (added, limit) => {
        const queue = new FairQueue<Item>(limit);
        const gone = added.map((owner, index) => queue.add({ owner, name: String(index) }, nothing)?.name);
        expect(queue.size).to.equal(Math.min(limit, added.length));
        const taken = takeAll(queue);
        expect([...taken, ...gone.filter((name) => name !== undefined)].sort()).to.deep.equal(
          added.map((_, index) => String(index)).sort(),
        );
        expectTurns(taken.map((name) => added[Number(name)]?.account ?? 0));
      }),
    );
  });
});

/** Expects of accounts in the order in which they were served: between two turns of one, all that still waited had one. */
function expectTurns(served: readonly number[]): void {
  for (const [index, account] of served.entries()) {
    const next = served.indexOf(account, index + 1);
    if (next === -1) continue;
    const waiting = new Set(served.slice(next));
    waiting.delete(account);
    expect(served.slice(index + 1, next)).to.include.members([...waiting]);
  }
}

describe('sandbox: who may take the reserve', () => {
  const bot = { account: 1, bot: 1 };
  const other = { account: 1, bot: 2 };
  const quick = { computedMs: 5, killed: false };

  function ran(paces: Paces, owner: Owner, end = quick): void {
    paces.begin(owner)(end);
  }

  it('a bot that nothing is known of, unless its account has a run under way', () => {
    const paces = new Paces();
    expect(paces.mayTakeReserve(bot)).to.equal(true);
    const end = paces.begin(other);
    expect(paces.mayTakeReserve(bot)).to.equal(false);
    expect(paces.mayTakeReserve({ account: 2, bot: 1 })).to.equal(true);
    end(quick);
    expect(paces.mayTakeReserve(bot)).to.equal(true);
  });

  it('a bot that was quick, whatever else its account has under way', () => {
    const paces = new Paces();
    ran(paces, bot);
    paces.begin(bot);
    paces.begin(other);
    expect(paces.mayTakeReserve(bot)).to.equal(true);
  });

  for (const [title, slow] of [
    ['computed for long', { computedMs: 400, killed: false }],
    ['cost a child its life', { computedMs: 5, killed: true }],
  ] as const) {
    it(`not a bot that ${title}, nor an unknown one of its account, until there were ten quick runs`, () => {
      const paces = new Paces();
      ran(paces, bot);
      ran(paces, bot, slow);
      for (let count = 0; count < 10; count += 1) {
        expect([paces.mayTakeReserve(bot), paces.mayTakeReserve(other)]).to.deep.equal([false, false]);
        ran(paces, bot);
      }
      expect([paces.mayTakeReserve(bot), paces.mayTakeReserve(other)]).to.deep.equal([true, true]);
    });
  }

  it('counts the runs under way that no record speaks for', () => {
    const paces = new Paces();
    ran(paces, bot);
    const ends = [bot, other, { account: 2, bot: 1 }].map((owner) => paces.begin(owner));
    expect(paces.unproven).to.equal(2);
    for (const end of ends) end(quick);
    expect(paces.unproven).to.equal(0);
  });
});
