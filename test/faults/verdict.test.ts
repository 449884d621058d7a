import { expect } from 'chai';
import type { Arrival, Disturbance, Evidence, Reply, Write } from './matrix/evidence.ts';
import { isClean, judge } from './matrix/verdict.ts';

const conversation = 7;
const inFlight = 2;

/** The arrival of message `sequence` (its text is the number). */
function arrival(sequence: number, changes: Partial<Arrival> = {}): Arrival {
  return {
    webhookId: `evt_${sequence}_webhook_1`,
    key: String(sequence),
    event: 'message_created',
    conversation,
    sequence,
    attempt: 1,
    at: sequence * 10,
    repliedAt: sequence * 10 + 1,
    reply: 'accepted',
    ...changes,
  };
}

const write = (sequence: number, outcome: Write['outcome'] = 'acknowledged'): Write => ({
  key: String(sequence),
  conversation,
  outcome,
});
const failed = (sequence: number, attempt: number, reply: Reply = 'refused'): Arrival =>
  arrival(sequence, { attempt, reply });
const kill = (from: number, until = from): Disturbance => ({ what: 'kill -9', from, until });

/** Three messages, each committed, and one receiver with these arrivals. */
function evidence(arrivals: readonly Arrival[], changes: Partial<Evidence> = {}): Evidence {
  return {
    writes: [1, 2, 3].map((sequence) => write(sequence)),
    committed: new Set(['1', '2', '3']),
    receivers: [{ name: 'receiver', arrivals }],
    disturbances: [],
    overdue: new Set(),
    holdAttempts: 3,
    mostInFlight: inFlight,
    ...changes,
  };
}

const whole = [1, 2, 3].map((sequence) => arrival(sequence));

describe('the verdict on logs', () => {
  it('is clean when every message arrived once, in order', () => {
    const verdict = judge(evidence(whole));
    expect(verdict).to.deep.equal({
      events: 3,
      delivered: 3,
      lost: [],
      ghosts: [],
      order: [],
      explained: 0,
      unexplained: [],
    });
    expect(isClean(verdict)).to.equal(true);
  });

  it('sees a message that never arrived, at each receiver', () => {
    const receivers = [
      { name: 'whole', arrivals: whole },
      { name: 'other', arrivals: whole.slice(1) },
    ];
    const verdict = judge(evidence([], { receivers }));
    expect(verdict.lost).to.deep.equal(['"1" never reached other']);
    expect(isClean(verdict)).to.equal(false);
  });

  it('sees a message that arrived and was never accepted', () => {
    const verdict = judge(evidence([failed(1, 1), failed(1, 2, null), ...whole.slice(1)]));
    expect(verdict.lost).to.deep.equal(['"1" never reached receiver']);
  });

  it('sees an acknowledged message that is gone', () => {
    const verdict = judge(evidence(whole, { committed: new Set(['1', '2']) }));
    expect(verdict.lost).to.deep.equal(['"3" was acknowledged and is not in the feed']);
  });

  it('wants a message of unknown end to arrive when it was committed, and not to arrive when it was not', () => {
    const writes = [write(1), write(2), write(3, 'unknown')];
    expect(judge(evidence(whole.slice(0, 2), { writes })).lost).to.deep.equal(['"3" never reached receiver']);
    const committed = new Set(['1', '2']);
    expect(isClean(judge(evidence(whole.slice(0, 2), { writes, committed })))).to.equal(true);
    expect(judge(evidence(whole, { writes, committed })).ghosts).to.deep.equal([
      '"3" reached receiver and was never committed',
    ]);
  });

  it('sees what nobody wrote, and what was kept from being committed', () => {
    const verdict = judge(evidence([...whole, arrival(4)]));
    expect(verdict.ghosts).to.deep.equal(['"4" reached receiver and was never committed']);
    const prevented = judge(evidence(whole, { writes: [write(1), write(2), write(3, 'prevented')] }));
    expect(prevented.ghosts).to.deep.equal([
      '"3" is in the feed and was never committed',
      '"3" reached receiver and was never committed',
    ]);
  });

  it('sees two messages that arrived in the wrong order, and only those', () => {
    const verdict = judge(evidence([arrival(2), arrival(1), arrival(3)]));
    expect(verdict.order).to.deep.equal(['receiver, conversation 7: event 2 came before event 1']);
    const elsewhere = [arrival(2), arrival(1, { conversation: 8 }), arrival(3)];
    expect(judge(evidence(elsewhere)).order).to.deep.equal([]);
  });

  it('counts an overtaking attempt, accepted or not', () => {
    const verdict = judge(evidence([failed(2, 1), arrival(1), arrival(2, { attempt: 2 }), arrival(3)]));
    expect(verdict.order).to.have.lengthOf(1);
  });

  it('allows overtaking after as many failures as a lane is held for, and not after fewer', () => {
    const held = [failed(1, 1), failed(1, 2), failed(1, 3), arrival(2), arrival(3), arrival(1, { attempt: 4 })];
    expect(judge(evidence(held)).order).to.deep.equal([]);
    const early = [failed(1, 1), failed(1, 2), arrival(2), arrival(1, { attempt: 3 }), arrival(3)];
    expect(judge(evidence(early)).order).to.have.lengthOf(1);
  });

  it('takes attempts that the receiver did not see from the number of the next one', () => {
    expect(judge(evidence([arrival(2), arrival(1, { attempt: 4 }), arrival(3)])).order).to.deep.equal([]);
    expect(judge(evidence([arrival(2), arrival(1, { attempt: 3 }), arrival(3)])).order).to.have.lengthOf(1);
  });

  it('sees messages that are numbered in another order than that in which they were written', () => {
    const writes = [write(2), write(1), write(3)];
    expect(judge(evidence(whole, { writes })).order).to.deep.equal([
      'receiver, conversation 7: "1" was written after "2"',
    ]);
  });

  it('sees a repetition that nothing explains', () => {
    const again = arrival(1, { at: 40, attempt: 2 });
    const verdict = judge(evidence([...whole, again], { disturbances: [kill(5), kill(45)] }));
    expect([verdict.explained, verdict.unexplained.length]).to.deep.equal([0, 1]);
    expect(isClean(verdict)).to.equal(false);
    expect(verdict.delivered, 'repetitions are not counted').to.equal(3);
  });

  it('does not take an attempt after a failed one for a repetition', () => {
    const verdict = judge(evidence([failed(1, 1), failed(1, 2, null), ...whole]));
    expect([verdict.explained, verdict.unexplained]).to.deep.equal([0, []]);
  });

  it('explains a repetition by a disturbance between the two arrivals, and no more of them than were in flight', () => {
    const again = (sequence: number) => arrival(sequence, { at: 40 + sequence, attempt: 2 });
    const one = judge(evidence([...whole, again(1)], { disturbances: [kill(35)] }));
    expect([one.explained, one.unexplained]).to.deep.equal([1, []]);
    const long = judge(evidence([...whole, again(1)], { disturbances: [kill(5, 12)] }));
    expect(long.explained).to.equal(1);
    const three = judge(evidence([...whole, again(1), again(2), again(3)], { disturbances: [kill(35)] }));
    expect([three.explained, three.unexplained.length]).to.deep.equal([inFlight, 1]);
  });

  it('explains a repetition by a cut answer, and by an attempt that was overdue', () => {
    const [, ...others] = whole;
    const again = arrival(1, { at: 40, attempt: 2 });
    expect(judge(evidence([arrival(1, { reply: 'cut' }), ...others, again])).unexplained).to.deep.equal([]);
    const overdue = new Set(['evt_1_webhook_1']);
    expect(judge(evidence([...whole, again], { overdue })).unexplained).to.deep.equal([]);
  });
});
