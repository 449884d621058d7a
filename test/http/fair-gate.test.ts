import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { ApiError } from '../../src/errors.ts';
import { FairGate, type Party } from '../../src/http/server/limits/fair-gate.ts';
import { UploadGate } from '../../src/http/server/limits/upload-gate.ts';

describe('the gate before the database', () => {
  /** Sits down for a party until told to leave; `log` says who sat down, in order. */
  function sitter(gate: FairGate, log: string[]) {
    return (name: string, parties: Party[]) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = gate.run(parties, async () => {
        log.push(name);
        await promise;
      });
      return { leave: resolve, done };
    };
  }

  it('an account has two thirds at most, and its visitors one third, within the account', async () => {
    const gate = new FairGate(6);
    const log: string[] = [];
    const sit = sitter(gate, log);
    const visitors = [1, 2, 3].map((n) => sit(`visitor ${n}`, gate.ofAccount(1, { visitor: true })));
    const people = [1, 2, 3].map((n) => sit(`person ${n}`, gate.ofAccount(1, { visitor: false })));
    const others = [1, 2, 3].map((n) => sit(`other ${n}`, gate.ofAccount(2, { visitor: false })));
    expect(log).to.deep.equal(['visitor 1', 'visitor 2', 'person 1', 'person 2', 'other 1', 'other 2']);
    for (const { leave } of [...visitors, ...people, ...others]) leave();
    await Promise.all([...visitors, ...people, ...others].map(({ done }) => done));
    expect(log).to.have.lengthOf(9);
  });

  it('hooks of an account leave one of its places to its people, and others theirs', async () => {
    const gate = new FairGate(6);
    const log: string[] = [];
    const sit = sitter(gate, log);
    const hooks = [1, 2, 3, 4].map((n) => sit(`hook ${n}`, gate.ofHooks(1)));
    const people = [1, 2].map((n) => sit(`person ${n}`, gate.ofAccount(1, { visitor: false })));
    const others = [1, 2].map((n) => sit(`other ${n}`, gate.ofHooks(2)));
    expect(log).to.deep.equal(['hook 1', 'hook 2', 'hook 3', 'person 1', 'other 1', 'other 2']);
    for (const { leave } of [...hooks, ...people, ...others]) leave();
    await Promise.all([...hooks, ...people, ...others].map(({ done }) => done));
    expect(log).to.have.lengthOf(8);
  });

  it('a place that becomes free goes to who has the fewest, the first come among equals', async () => {
    const gate = new FairGate(3);
    const log: string[] = [];
    const sit = sitter(gate, log);
    const first = [1, 2].map((n) => sit(`first ${n}`, gate.ofAccount(1, { visitor: false })));
    const second = [1, 2].map((n) => sit(`second ${n}`, gate.ofAccount(2, { visitor: false })));
    const third = [1, 2].map((n) => sit(`third ${n}`, gate.ofAccount(3, { visitor: false })));
    expect(log).to.deep.equal(['first 1', 'first 2', 'second 1']);
    first[0]!.leave();
    await first[0]!.done;
    await nextTurn();
    expect(log.at(-1)).to.equal('third 1');
    first[1]!.leave();
    await first[1]!.done;
    await nextTurn();
    expect(log.at(-1)).to.equal('second 2');
    for (const { leave } of [...second, ...third]) leave();
    await Promise.all([...second, ...third].map(({ done }) => done));
  });

  it('of a crowd of strangers each has its turn by itself', async () => {
    const gate = new FairGate(3);
    const log: string[] = [];
    const sit = sitter(gate, log);
    const stranger = (name: string): Party[] => [
      { name, most: 2 },
      { name: 'strangers', most: 3, isCrowd: true },
    ];
    const inside = [
      sit('first', stranger('one')),
      sit('second', stranger('one')),
      sit('member', gate.ofAccount(1, { visitor: false })),
    ];
    const waiting = [sit('other', stranger('other')), sit('guest', gate.ofAccount(1, { visitor: false }))];
    inside[2]!.leave();
    await inside[2]!.done;
    await nextTurn();
    expect(log).to.deep.equal(['first', 'second', 'member', 'other']);
    for (const { leave } of [...inside, ...waiting]) leave();
    await Promise.all([...inside, ...waiting].map(({ done }) => done));
  });

  it('who waits too long is told to try again, and does not enter later', async () => {
    const gate = new FairGate(1, 20);
    const log: string[] = [];
    const sit = sitter(gate, log);
    const party = () => gate.ofCaller('address 192.0.2.1');
    const first = sit('first', party());
    const error = await sit('second', party()).done.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ApiError).and.include({ status: 503, code: 'busy' });
    first.leave();
    await first.done;
    const last = sit('last', party());
    last.leave();
    await last.done;
    expect(log).to.deep.equal(['first', 'last']);
  });

  it('work that fails leaves its place', async () => {
    const gate = new FairGate(1, 20);
    const party = gate.ofCaller('token 1');
    await gate.run(party, () => Promise.reject(new Error('no'))).catch(() => undefined);
    expect(await gate.run(party, () => Promise.resolve('sat'))).to.equal('sat');
  });
});

describe('the gate of forms with files', () => {
  it('leaves one place of an account to its agents, however many visitors send forms', async () => {
    const bounds = { places: 6, perAccount: 3, ofVisitors: 6, perAddress: 6, stallMs: 60_000, bytesPerSecond: 0 };
    const gate = new UploadGate(bounds);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const inside: string[] = [];
    const send = (visitorAt: string | null) =>
      gate.run({ accountId: 1, visitorAt }, async () => {
        inside.push(visitorAt ?? 'agent');
        await over;
      });
    const all = ['10.0.0.1', '10.0.0.2', '10.0.0.3', null].map((visitorAt) => send(visitorAt));
    await nextTurn();
    expect(inside).to.deep.equal(['10.0.0.1', '10.0.0.2', 'agent']);
    end();
    await Promise.all(all);
    expect(inside).to.have.lengthOf(4);
  });
});
