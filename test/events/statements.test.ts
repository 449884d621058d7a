import { expect } from 'chai';
import { checkSla } from '../../src/domain/conversations/deadlines/breaches.ts';
import { claiming } from '../../src/deliveries/lanes/claim.ts';
import { toPlugin } from '../../src/engine/send/to-plugin.ts';
import { wakeDueSnoozes } from '../../src/domain/conversations/deadlines/snoozes.ts';
import { systemClock, systemRandom } from '../../src/lib/ports.ts';
import { foundWithBot } from '../../src/records/bots/bot-to-run.ts';
import { BotRunner } from '../../src/runs/bot-runner.ts';
import { ChannelRunner } from '../../src/runs/channel-runner.ts';
import { FreeRunner } from '../../src/runs/free-runner.ts';
import type { Action, Sandbox } from '../../src/sandbox/run.ts';
import { openConversation, pluginRootOf, serveInboxes } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { addPerson } from '../support/people.ts';
import { addContact, addConversation, addInbox, addTeam } from '../support/records.ts';
import { StatementLog } from '../support/statement-log.ts';
import { Widget } from '../support/widget.ts';

const names: readonly [RegExp, string][] = [
  [/^SELECT EXISTS .*'chatwoot'.*/, 'look for formats'],
  [/^SELECT t\.index, .*'chatwoot'.*/, 'read surroundings'],
  [/^(begin|commit)/i, '$1'],
  [/.*k\.token_hash = \$1/, 'read identity'],
  [/^WITH candidate AS/, 'claim'],
  [/^WITH result AS/, 'finish delivery'],
  [/^SELECT FROM lanes .* FOR UPDATE/, 'lock lane'],
  [/INTO bot_runs/, 'insert into bot_runs'],
  [/^WITH c AS MATERIALIZED .*ANY \(ARRAY.* FOR UPDATE/, 'lock conversations'],
  [/^WITH c AS MATERIALIZED/, 'lock conversation'],
  [/^WITH c AS \( SELECT nextval/, 'draft conversation'],
  [/^SELECT FROM conversations c WHERE/, 'see conversation'],
  [/AS due_at FROM conversations/, 'find conversations'],
  [/nextval\('messages_id_seq'\) AS id$/, 'take message id'],
  [/array_position/, 'read conversations'],
  [/conversation_count_changes/, 'read counts'],
  [/^SELECT c\.id FROM \(/, 'find a page'],
  [/^SELECT m\.id.* DESC LIMIT 1\) m/, 'read last message'],
  [/^SELECT m\.id/, 'read messages'],
  [/\bFROM conversations c JOIN/, 'read conversation'],
  [/^SELECT count.*messages/, 'count messages'],
  [/(INSERT INTO|UPDATE|DELETE FROM) (\w+)/i, '$1 $2'],
  [/.*\bFROM "?(\w+)"?/i, 'read $1'],
];

/** A statement in a few words: enough to see which one was added or removed. */
function nameOf(statement: string): string {
  const written = /^WITH (active|said|created|changed|happened)/.test(statement)
    ? statement.matchAll(/(?:INSERT INTO|UPDATE) (contacts|messages|conversations|events)\b/g)
    : [];
  const tables = Array.from(written, ([, table]) => table);
  if (tables.length > 0) return `write ${tables.join(', ')}`;
  const [pattern, name] = names.find(([one]) => one.test(statement)) ?? [/^.*$/, statement];
  return (pattern.exec(statement)?.[0] ?? '').replace(pattern, name).toLowerCase();
}

const holdAttempts = 3;
const claimBots = claiming({ kind: 'bot', isSide: false }, foundWithBot);
const actions: Action[] = [
  { type: 'reply', content: 'Let me see' },
  { type: 'label', add: ['billing'] },
  { type: 'handoff', reason: 'too hard', note: 'Somebody please' },
];

type Operation = () => Promise<unknown>;

/** The round trips of each operation, in order, and the statements of each. A change that adds one must say why. */
const costs: Readonly<
  Record<string, { prepare: (app: TestApp) => Promise<Operation>; statements: readonly string[] }>
> = {
  'a message that a person sends': {
    prepare: async (app) => {
      const id = await addConversation(app, await addInbox(app));
      return () => app.post(`conversations/${id}/messages`, { content: 'Good morning', message_type: 'outgoing' });
    },
    statements: [
      'begin + read identity + look for formats + lock conversation',
      'write conversations, messages, events + commit',
    ],
  },
  'a message that an agent sends': {
    prepare: async (app) => {
      const agent = await addPerson(app, { name: 'Writer' });
      const id = await addConversation(app, await addInbox(app, { members: [agent] }));
      const body = { content: 'Good evening', message_type: 'outgoing' };
      // From its first request on the process remembers whose token it is.
      await app.post(`conversations/${id}/messages`, body, agent.headers);
      return () => app.post(`conversations/${id}/messages`, body, agent.headers);
    },
    statements: [
      'begin + read identity + look for formats + lock conversation + see conversation',
      'write conversations, messages, events + commit',
    ],
  },
  'a message from the widget': {
    prepare: async (app) => {
      const widget = await Widget.create(app);
      const { headers } = await widget.enter();
      await widget.say('Hello', headers);
      return () => widget.say('Anybody there?', headers);
    },
    statements: [
      'read inboxes',
      'begin + look for formats + read contact_tokens + lock conversations',
      'write conversations, contacts, messages, events + commit',
    ],
  },
  'a change of status': {
    prepare: async (app) => {
      const id = await addConversation(app, await addInbox(app));
      return () => app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    },
    statements: [
      'begin + read identity + look for formats + lock conversation',
      'write conversations, events + commit',
      'read last message',
    ],
  },
  'an assignment': {
    prepare: async (app) => {
      const id = await addConversation(app, await addInbox(app));
      return () => app.post(`conversations/${id}/assignments`, { assignee_id: 1 });
    },
    statements: [
      'begin + read identity + look for formats + lock conversation',
      'read agents',
      'read inbox_members',
      'write conversations, events + commit',
      'read last message',
    ],
  },
  'a conversation with a first message': {
    prepare: async (app) => {
      const [inbox, contact] = [await addInbox(app), await addContact(app)];
      const message = { content: 'Hello' };
      return () => app.post('conversations', { inbox_id: inbox, contact_id: contact, message });
    },
    statements: [
      'begin + read identity + look for formats + read contacts + draft conversation',
      'write conversations, messages, events + commit',
    ],
  },
  'a bot chosen for a conversation': {
    prepare: async (app) => {
      const id = await addConversation(app, await addInbox(app));
      const bot = await app.post('agent_bots', { name: 'Chosen', kind: 'plugin', plugin_id: 'thinker' });
      return () => app.post(`conversations/${id}/agent_bot`, { agent_bot_id: bot.body.id });
    },
    statements: [
      'begin + read identity + look for formats + lock conversation',
      'read agent_bots',
      'write conversations, events + commit',
      'read bot_runs',
    ],
  },
  'three snoozes that are over': {
    prepare: async (app) => {
      const inbox = await addInbox(app);
      const ids = [
        await addConversation(app, inbox),
        await addConversation(app, inbox),
        await addConversation(app, inbox),
      ];
      const over = `UPDATE conversations SET status = 'snoozed', snoozed_until = now() - interval '1 second'`;
      await app.query(`${over} WHERE id = ANY ($1)`, [ids]);
      return () => wakeDueSnoozes(app.app.database);
    },
    statements: [
      'find conversations',
      'begin + look for formats + lock conversations',
      'write conversations, events + commit',
    ],
  },
  'three broken promises, and none of another kind': {
    prepare: async (app) => {
      const inbox = await addInbox(app);
      const { body: policy } = await app.post('sla_policies', { name: 'Fast', resolution_seconds: 60 });
      for (let count = 0; count < 3; count++) {
        const id = await addConversation(app, inbox);
        await app.patch(`conversations/${id}`, { sla_policy_id: policy.id });
        await app.query(`UPDATE conversations SET resolution_due_at = now() - interval '1 second' WHERE id = $1`, [id]);
      }
      return () => checkSla(app.app.database);
    },
    statements: [
      'find conversations',
      'find conversations',
      'begin + look for formats + lock conversations',
      'read sla_policies',
      'insert into labels',
      'write conversations, events + commit',
    ],
  },
  'a page of the list that an agent reads': {
    prepare: async (app) => {
      const agent = await addPerson(app, { name: 'Reader of lists' });
      const inbox = await addInbox(app, { members: [agent] });
      await addConversation(app, inbox);
      return () => app.get(`conversations?inbox_id=${inbox}`, agent.headers);
    },
    statements: ['read identity', 'read counts', 'find a page', 'read conversations'],
  },
  'a conversation that an agent reads': {
    prepare: async (app) => {
      const agent = await addPerson(app, { name: 'Reader of one' });
      const id = await addConversation(app, await addInbox(app, { members: [agent] }));
      return () => app.get(`conversations/${id}`, agent.headers);
    },
    statements: ['read identity', 'read conversation', 'read last message'],
  },
  'the messages that an agent reads': {
    prepare: async (app) => {
      const agent = await addPerson(app, { name: 'Reader of messages' });
      const id = await addConversation(app, await addInbox(app, { members: [agent] }));
      return () => app.get(`conversations/${id}/messages`, agent.headers);
    },
    statements: ['read identity', 'read conversation', 'read messages'],
  },
  'a team that two conversations have': {
    prepare: async (app) => {
      const inbox = await addInbox(app);
      const team = await addTeam(app, 'Night shift');
      const ids = [await addConversation(app, inbox), await addConversation(app, inbox)];
      for (const id of ids) await app.post(`conversations/${id}/assignments`, { team_id: team });
      return () => app.delete(`teams/${team}`);
    },
    statements: [
      'begin + read identity + look for formats + select pg_advisory_xact_lock(hashtextextended($1, 0))',
      'read teams',
      'savepoint savepoint_1 + read teams',
      'read conversations',
      'release savepoint_1',
      'insert into audit_log',
      'commit',
      'begin + look for formats + lock conversations',
      'write conversations, events + commit',
      'begin + look for formats + read teams',
      'read conversations',
      'read teams',
      'commit',
    ],
  },
  "a bot's turn, from its claim, in which it replies, labels and hands off": {
    prepare: prepareTurn,
    statements: [
      'claim',
      'begin + look for formats + lock conversation + insert into labels + take message id',
      'insert into bot_runs + lock lane + finish delivery + write conversations, messages, events + commit',
    ],
  },
};

const inFormat = { url: 'http://127.0.0.1:9/', subscriptions: ['message_created'], format: 'chatwoot' };

async function prepareFormatted(app: TestApp): Promise<{ send: Operation }> {
  expect((await app.post('webhooks', inFormat)).status).to.equal(201);
  const id = await addConversation(app, await addInbox(app));
  const send = () => app.post(`conversations/${id}/messages`, { content: 'Bonjour', message_type: 'outgoing' });
  return { send };
}

/** Where bodies in another format are wanted, and after that. */
const formatCosts: typeof costs = {
  'a message, where a webhook wants its body in the format of the field': {
    prepare: async (app) => (await prepareFormatted(app)).send,
    statements: [
      'begin + read identity + look for formats + lock conversation',
      'write conversations, messages + read surroundings',
      'write events + commit',
    ],
  },
  'a message, where no webhook wants that any more': {
    prepare: async (app) => {
      const { send } = await prepareFormatted(app);
      for (const { id } of (await app.get('webhooks')).body.payload) await app.delete(`webhooks/${id}`);
      return send;
    },
    statements: [
      'begin + read identity + look for formats + lock conversation',
      'write conversations, messages, events + commit',
    ],
  },
};

async function prepareTurn(app: TestApp): Promise<Operation> {
  const id = await openConversation(app, (await serveInboxes(app, ['thinker'])).get('thinker'));
  await app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
  const [bot] = await app.query<{ id: number }>(
    `SELECT endpoint_id AS id FROM lanes WHERE endpoint_kind = 'bot' AND subject_kind = 'conversation' AND subject_id = $1`,
    [id],
  );
  // The code of a plugin is read from the database once.
  await app.app.plugins.find('thinker', 'bot');
  const { database, plugins } = app.app;
  const log = { info: () => undefined, warn: () => undefined };
  const sandbox: Sandbox = {
    queued: 0,
    warm: () => undefined,
    close: async () => undefined,
    run: async () => ({ outcome: 'ok', actions, logs: [], calls: [], wallMs: 1, cpuMs: 0 }),
  };
  const ports = { clock: systemClock, random: systemRandom };
  const running = { database, storageBytes: 1e6, plugins, ...ports, log, sandbox };
  const [botRunner, freeRunner] = [new BotRunner(running), new FreeRunner(running)];
  const forward = () => Promise.reject(new Error('The bot forwards nothing'));
  const deliver = toPlugin({
    database,
    holdAttempts,
    log,
    botRunner,
    freeRunner,
    channelRunner: new ChannelRunner(running),
    forward,
  });
  return async () => {
    const due = { id: bot!.id, accountId: 1, isProven: null, circuit: 'closed', rate: null } as const;
    const bounds = {
      shares: [{ ...due, lanes: 1 }],
      leaseSeconds: 30,
      token: systemRandom.uuid(),
      holdAttempts,
      isHeld: false,
    };
    const { heads } = await claimBots(database.sql, bounds);
    expect(await deliver(heads[0]!, due)).to.include({ outcome: 'delivered' });
  };
}

describe('the statements of', () => {
  let log: StatementLog;
  let root: { path: string; remove: () => void };
  let app: TestApp;

  before(async () => {
    log = new StatementLog();
    root = pluginRootOf({ thinker: '' }, {}, ['reply', 'note', 'label', 'handoff']);
    app = await TestApp.start({ engine: false, pluginRoot: root.path });
  });

  after(async () => {
    await app.stop();
    log.close();
    root.remove();
  });

  for (const [operation, { prepare, statements }] of Object.entries({ ...costs, ...formatCosts })) {
    it(operation, async () => {
      const work = await prepare(app);
      const sent = (await log.tripsDuring(work)).map((trip) => trip.map(nameOf).join(' + '));
      expect(sent).to.deep.equal(statements);
    });
  }
});
