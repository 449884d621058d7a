import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  nextSilence,
  type NextSilence,
  type SilenceChange,
  type SilenceState,
} from '../../../src/domain/conversations/silence.ts';

type ActorKind = Parameters<typeof nextSilence>[1];

const actors: readonly ActorKind[] = ['user', 'agent_bot', 'contact', 'system'];
const statuses = ['open', 'pending', 'resolved', 'snoozed'] as const;
const served: SilenceState = {
  status: 'pending',
  byBot: null,
  byPeople: null,
  streak: 3,
  assigned: false,
  blocked: false,
  bot: 'able',
};
const free = { byBot: null, byPeople: null, streak: 0 };

type Row = [who: ActorKind, from: Partial<SilenceState>, change: SilenceChange, next: Partial<NextSilence>];

/** Cases: actor, change and state, and what differs afterwards. By default a bot serves a pending conversation. */
const table: readonly Row[] = [
  // A conversation begins.
  ['user', {}, { kind: 'begun', status: null, spoken: false }, {}],
  ['user', {}, { kind: 'begun', status: null, spoken: true }, { status: 'open', byPeople: 'human_replied' }],
  ['user', {}, { kind: 'begun', status: 'pending', spoken: true }, {}],
  ['user', {}, { kind: 'begun', status: 'open', spoken: false }, { status: 'open' }],
  ['user', { bot: null }, { kind: 'begun', status: null, spoken: false }, { status: 'open' }],
  ['user', { bot: 'unable' }, { kind: 'begun', status: null, spoken: false }, { status: 'open' }],
  ['user', { bot: 'unable' }, { kind: 'begun', status: 'pending', spoken: false }, {}],
  ['user', { assigned: true }, { kind: 'begun', status: null, spoken: false }, { status: 'open' }],
  ['contact', { blocked: true }, { kind: 'begun', status: null, spoken: false }, { status: 'open' }],
  ['contact', {}, { kind: 'begun', status: null, spoken: true }, {}],

  // A person moves the status.
  ['user', {}, { kind: 'status', to: 'open' }, { status: 'open', byPeople: 'human_opened' }],
  ['user', { status: 'snoozed' }, { kind: 'status', to: 'open' }, { status: 'open', byPeople: 'human_opened' }],
  ['user', { byPeople: 'human_replied' }, { kind: 'status', to: 'open' }, { status: 'open' }],
  [
    'user',
    { byBot: 'bot_failed', status: 'snoozed' },
    { kind: 'status', to: 'open' },
    { status: 'open', byPeople: 'human_opened' },
  ],
  ['user', { status: 'open' }, { kind: 'status', to: 'open' }, {}],
  ['user', {}, { kind: 'status', to: 'snoozed' }, { status: 'snoozed' }],
  ['user', { byPeople: 'human_opened' }, { kind: 'status', to: 'resolved' }, { status: 'resolved' }],
  [
    'user',
    { status: 'open', byPeople: 'human_replied' },
    { kind: 'status', to: 'pending' },
    { status: 'pending', ...free },
  ],
  ['user', { status: 'open', byBot: 'handed_off' }, { kind: 'status', to: 'pending' }, { status: 'pending', ...free }],
  ['user', { byPeople: 'human_replied' }, { kind: 'status', to: 'pending' }, free],
  ['user', { byBot: 'loop_suspected', streak: 20 }, { kind: 'status', to: 'pending' }, free],

  // A session ends with the resolution, and the next begins whatever the conversation is reopened to.
  ['user', { status: 'resolved', byBot: 'handed_off' }, { kind: 'status', to: 'open' }, { status: 'open', ...free }],
  [
    'user',
    { status: 'resolved', byPeople: 'human_replied' },
    { kind: 'status', to: 'snoozed' },
    { status: 'snoozed', ...free },
  ],
  ['user', { status: 'resolved', byBot: 'handed_off' }, { kind: 'status', to: 'resolved' }, {}],
  [
    'contact',
    { status: 'resolved', byBot: 'bot_failed', byPeople: 'human_replied' },
    { kind: 'customer_spoke' },
    { status: 'pending', ...free },
  ],
  [
    'user',
    { status: 'resolved', byPeople: 'human_replied' },
    { kind: 'customer_spoke' },
    { status: 'pending', ...free },
  ],
  ['contact', { status: 'resolved', assigned: true }, { kind: 'customer_spoke' }, { status: 'open', ...free }],
  ['contact', { status: 'resolved', bot: null }, { kind: 'customer_spoke' }, { status: 'open', ...free }],
  ['contact', { status: 'resolved', bot: 'unable' }, { kind: 'customer_spoke' }, { status: 'open', ...free }],
  ['contact', { status: 'resolved', blocked: true, byBot: 'handed_off' }, { kind: 'customer_spoke' }, { streak: 0 }],

  // The customer writes.
  ['contact', {}, { kind: 'customer_spoke' }, { streak: 0 }],
  [
    'contact',
    { status: 'snoozed', byPeople: 'human_replied' },
    { kind: 'customer_spoke' },
    { status: 'open', streak: 0 },
  ],
  ['user', { status: 'snoozed' }, { kind: 'customer_spoke' }, { status: 'open', streak: 0 }],
  ['contact', { status: 'snoozed', blocked: true }, { kind: 'customer_spoke' }, { streak: 0 }],
  ['contact', { bot: 'unable' }, { kind: 'customer_spoke' }, { status: 'open', streak: 0 }],
  ['contact', { bot: null }, { kind: 'customer_spoke' }, { streak: 0 }],
  ['contact', { bot: null, byPeople: 'human_replied' }, { kind: 'customer_spoke' }, { streak: 0 }],
  ['contact', { byPeople: 'human_replied' }, { kind: 'customer_spoke' }, { status: 'open', streak: 0 }],
  ['contact', { byBot: 'bot_failed' }, { kind: 'customer_spoke' }, { status: 'open', streak: 0 }],
  ['contact', { assigned: true }, { kind: 'customer_spoke' }, { streak: 0 }],

  // People and the service write.
  ['user', {}, { kind: 'spoke' }, { status: 'open', byPeople: 'human_replied' }],
  ['user', { status: 'snoozed' }, { kind: 'spoke' }, { byPeople: 'human_replied' }],
  ['user', { status: 'open', byPeople: 'human_opened' }, { kind: 'spoke' }, {}],
  ['user', { status: 'open', byBot: 'handed_off' }, { kind: 'spoke' }, { byPeople: 'human_replied' }],
  ['user', { bot: null }, { kind: 'spoke' }, { status: 'open', byPeople: 'human_replied' }],
  ['user', {}, { kind: 'noted' }, {}],
  ['system', {}, { kind: 'spoke' }, {}],
  ['system', { status: 'snoozed' }, { kind: 'woken' }, { status: 'open' }],
  ['system', { status: 'snoozed', byPeople: 'human_replied' }, { kind: 'woken' }, { status: 'open' }],

  // Assignments.
  ['user', { assigned: true }, { kind: 'assigned' }, {}],
  ['user', { byPeople: 'human_replied' }, { kind: 'unassigned' }, free],
  ['user', { byBot: 'loop_suspected' }, { kind: 'unassigned' }, free],
  ['user', { byBot: 'bot_failed' }, { kind: 'unassigned' }, free],
  ['user', { byBot: 'handed_off' }, { kind: 'unassigned' }, {}],
  ['user', { byBot: 'handed_off', byPeople: 'human_replied' }, { kind: 'unassigned' }, { byPeople: null }],

  // Which bot serves.
  ['user', { byPeople: 'human_replied' }, { kind: 'bot_chosen' }, free],
  ['user', { byBot: 'handed_off' }, { kind: 'bot_chosen' }, free],
  ['user', { byPeople: 'human_opened', assigned: true }, { kind: 'bot_chosen' }, { streak: 0 }],
  ['user', { byPeople: 'human_opened', bot: null }, { kind: 'bot_chosen' }, { streak: 0 }],
  ['user', { byPeople: 'human_replied' }, { kind: 'bot_removed' }, { streak: 0 }],
  ['user', { byBot: 'bot_failed' }, { kind: 'bot_removed' }, { byBot: null, streak: 0 }],

  // Bots act.
  ['agent_bot', {}, { kind: 'spoke' }, { streak: 4 }],
  ['agent_bot', {}, { kind: 'noted' }, {}],
  ['agent_bot', {}, { kind: 'status', to: 'open' }, { status: 'open', byBot: 'handed_off' }],
  ['agent_bot', { status: 'snoozed' }, { kind: 'status', to: 'open' }, { status: 'open', byBot: 'handed_off' }],
  ['agent_bot', {}, { kind: 'status', to: 'resolved' }, { status: 'resolved' }],
  ['agent_bot', { status: 'resolved' }, { kind: 'status', to: 'open' }, { status: 'open' }],
  ['agent_bot', { status: 'open' }, { kind: 'status', to: 'pending' }, { status: 'pending' }],
  ['agent_bot', {}, { kind: 'bot_ended', reason: 'handed_off' }, { status: 'open', byBot: 'handed_off' }],
  ['system', {}, { kind: 'bot_ended', reason: 'bot_failed' }, { status: 'open', byBot: 'bot_failed' }],
  [
    'system',
    { status: 'snoozed' },
    { kind: 'bot_ended', reason: 'bot_failed' },
    { status: 'open', byBot: 'bot_failed' },
  ],
  [
    'system',
    { status: 'resolved' },
    { kind: 'bot_ended', reason: 'loop_suspected' },
    { status: 'open', byBot: 'loop_suspected' },
  ],
  ['system', { status: 'resolved' }, { kind: 'bot_ended', reason: 'bot_failed' }, { byBot: 'bot_failed' }],
  ['agent_bot', { byBot: 'handed_off', status: 'open' }, { kind: 'bot_ended', reason: 'handed_off' }, {}],
];

const status = fc.constantFrom(...statuses);
const byBot = fc.constantFrom('handed_off' as const, 'loop_suspected' as const, 'bot_failed' as const);
const states: fc.Arbitrary<SilenceState> = fc.record({
  status,
  byBot: fc.option(byBot),
  byPeople: fc.constantFrom(null, 'human_replied' as const, 'human_opened' as const),
  streak: fc.nat({ max: 25 }),
  assigned: fc.boolean(),
  blocked: fc.boolean(),
  bot: fc.constantFrom(null, 'able' as const, 'unable' as const),
});
const kinds = {
  begun: fc.record({ kind: fc.constant('begun' as const), status: fc.option(status), spoken: fc.boolean() }),
  status: fc.record({ kind: fc.constant('status' as const), to: status }),
  woken: fc.constant({ kind: 'woken' as const }),
  customer_spoke: fc.constant({ kind: 'customer_spoke' as const }),
  spoke: fc.constant({ kind: 'spoke' as const }),
  noted: fc.constant({ kind: 'noted' as const }),
  assigned: fc.constant({ kind: 'assigned' as const }),
  unassigned: fc.constant({ kind: 'unassigned' as const }),
  bot_chosen: fc.constant({ kind: 'bot_chosen' as const }),
  bot_removed: fc.constant({ kind: 'bot_removed' as const }),
  bot_ended: fc.record({ kind: fc.constant('bot_ended' as const), reason: byBot }),
} satisfies { [Kind in SilenceChange['kind']]: fc.Arbitrary<Extract<SilenceChange, { kind: Kind }>> };
const changes: fc.Arbitrary<SilenceChange> = fc.oneof(...Object.values(kinds));
const numRuns = 5_000;

describe('the silence of bots', () => {
  for (const [who, from, change, next] of table) {
    it(`${who}: ${JSON.stringify(change)} in ${JSON.stringify(from)}`, () => {
      const { status: before, byBot: ended, byPeople, streak } = { ...served, ...from };
      expect(nextSilence({ ...served, ...from }, who, change)).to.deep.equal({
        status: before,
        byBot: ended,
        byPeople,
        streak,
        ...next,
      });
    });
  }

  it('is never made smaller by a bot, whatever it does', () => {
    fc.assert(
      fc.property(states, changes, (state, change) => {
        const next = nextSilence(state, 'agent_bot', change);
        if (state.byBot) expect(next.byBot).to.equal(state.byBot);
        if (state.byPeople) expect(next.byPeople).to.equal(state.byPeople);
        expect(next.streak).to.be.at.least(state.streak);
      }),
      { numRuns },
    );
  });

  it('is never made smaller by the service itself, save where a person took the cause away or a session begins', () => {
    const ends = new Set(['unassigned', 'bot_chosen', 'bot_removed', 'status', 'customer_spoke']);
    fc.assert(
      fc.property(states, changes, (state, change) => {
        if (ends.has(change.kind)) return;
        const next = nextSilence(state, 'system', change);
        if (state.byBot) expect(next.byBot).to.equal(state.byBot);
        if (state.byPeople) expect(next.byPeople).to.equal(state.byPeople);
      }),
      { numRuns },
    );
  });

  it('holds after every public word of a person, until the customer or a person changes that', () => {
    fc.assert(
      fc.property(states, (state) => {
        const next = nextSilence(state, 'user', { kind: 'spoke' });
        expect(next.byPeople).not.to.equal(null);
        expect(next.status).not.to.equal('pending');
      }),
      { numRuns },
    );
  });

  it('ends when a person sets the status to pending, and when a session begins', () => {
    fc.assert(
      fc.property(states, status, fc.constantFrom(...actors), (state, before, actor) => {
        expect(nextSilence({ ...state, status: before }, 'user', { kind: 'status', to: 'pending' })).to.deep.include(
          free,
        );
        const resolved = { ...state, status: 'resolved' as const, blocked: false };
        if (actor === 'agent_bot') return;
        expect(nextSilence(resolved, actor, { kind: 'customer_spoke' })).to.deep.include(free);
        expect(nextSilence(resolved, actor, { kind: 'status', to: 'open' })).to.deep.include(free);
      }),
      { numRuns },
    );
  });
});
