import { expect } from 'chai';
import * as fc from 'fast-check';
import { TestApp, type Answer } from './support/app.ts';
import type { Person } from './support/people.ts';
import { addInbox, addWebhookBot } from './support/records.ts';

// A conversation as the contract says it behaves, and commands on several of them: of people, of the customer, and of the
// bots, one of which an inbox may have.
interface Model {
  /** The bot chosen for it, in place of its inbox's. */
  override: BotName | null;
  inboxBot: BotName | null;
  /** Who keeps the bot quiet until people or a new session end that: people every bot, a bot itself alone. */
  heldByPeople: boolean;
  heldByBot: BotName | null;
  handedOff: boolean;
  status: string;
  priority: string | null;
  assignee: number | null;
  labels: string[];
  snoozedUntil: number | null;
  unread: number;
  messages: number;
}

type BotName = 'usual' | 'other';
type Command =
  | { kind: 'create'; status: string | null; withBot: boolean }
  | { kind: 'bot'; at: number; who: BotName; does: BotAct }
  | { kind: 'override'; at: number; by: BotName | null }
  | { kind: 'toggle'; at: number; status: string }
  | { kind: 'priority'; at: number; priority: string | null }
  | { kind: 'assign'; at: number; assignee: boolean }
  | { kind: 'labels'; at: number; labels: string[] }
  | { kind: 'customer'; at: number }
  | { kind: 'agent'; at: number; note: boolean }
  | { kind: 'seen'; at: number }
  | { kind: 'delete'; at: number };

type BotAct = 'reply' | 'note' | 'label' | 'assign' | 'unassign' | 'open' | 'pending' | 'resolved' | 'snoozed';
type Change = Exclude<Command, { kind: 'create' | 'delete' }>;
type ChangeKind = Change['kind'];

interface World {
  app: TestApp;
  inboxIds: { bare: number; served: number };
  bots: Record<BotName, Person>;
  contactId: number;
  userId: number;
  /** What should be, by conversation id; null for deleted ones. */
  models: Map<number, Model | null>;
}

const statuses = ['open', 'resolved', 'pending', 'snoozed'];
const titles = ['model-a', 'model-b', 'model-c'];
const runs = 25;
// The suite says the same each time; another seed looks elsewhere.
const seed = Number(process.env.FUZZ_SEED ?? 20_261_120);
const soon = () => Math.floor(Date.now() / 1000) + 3600;

const at = fc.nat({ max: 5 });
const botActs = ['reply', 'note', 'label', 'assign', 'unassign', 'open', 'pending', 'resolved', 'snoozed'] as const;
const commands: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    status: fc.constantFrom(null, 'open', 'pending', 'resolved'),
    withBot: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('bot' as const),
    at,
    who: fc.constantFrom('usual' as const, 'other' as const),
    does: fc.constantFrom(...botActs),
  }),
  fc.record({
    kind: fc.constant('override' as const),
    at,
    by: fc.constantFrom(null, 'usual' as const, 'other' as const),
  }),
  fc.record({ kind: fc.constant('toggle' as const), at, status: fc.constantFrom(...statuses) }),
  fc.record({
    kind: fc.constant('priority' as const),
    at,
    priority: fc.constantFrom(null, 'urgent', 'high', 'medium', 'low'),
  }),
  fc.record({ kind: fc.constant('assign' as const), at, assignee: fc.boolean() }),
  fc.record({ kind: fc.constant('labels' as const), at, labels: fc.subarray(titles) }),
  fc.record({ kind: fc.constant('customer' as const), at }),
  fc.record({ kind: fc.constant('agent' as const), at, note: fc.boolean() }),
  fc.record({ kind: fc.constant('seen' as const), at }),
  fc.record({ kind: fc.constant('delete' as const), at }),
);

async function create(world: World, { status, withBot }: { status: string | null; withBot: boolean }): Promise<void> {
  const { app, inboxIds, contactId, models } = world;
  const { status: answered, body } = await app.post('conversations', {
    inbox_id: withBot ? inboxIds.served : inboxIds.bare,
    contact_id: contactId,
    ...(status === null ? {} : { status }),
  });
  expect(answered).to.equal(201);
  models.set(body.id, {
    override: null,
    inboxBot: withBot ? 'usual' : null,
    heldByPeople: false,
    heldByBot: null,
    handedOff: false,
    status: status ?? (withBot ? 'pending' : 'open'),
    priority: null,
    assignee: null,
    labels: [],
    snoozedUntil: null,
    unread: 0,
    messages: 0,
  });
}

function toggle(world: World, path: string, status: string, headers?: Person['headers']): Promise<Answer> {
  const snooze = status === 'snoozed' ? { snoozed_until: soon() } : {};
  return world.app.post(`${path}/toggle_status`, { status, ...snooze }, headers);
}

function sendAsBot(world: World, path: string, { who, does }: Extract<Command, { kind: 'bot' }>): Promise<Answer> {
  const { app, userId, bots } = world;
  const { headers } = bots[who];
  switch (does) {
    case 'reply':
    case 'note': {
      const message = { content: 'of a bot', message_type: 'outgoing', private: does === 'note' };
      return app.post(`${path}/messages`, message, headers);
    }
    case 'label':
      return app.post(`${path}/labels`, { labels: [titles[0]] }, headers);
    case 'assign':
    case 'unassign':
      return app.post(`${path}/assignments`, { assignee_id: does === 'assign' ? userId : null }, headers);
    default:
      return toggle(world, path, does, headers);
  }
}

function send(world: World, path: string, command: Change | { kind: 'delete' }): Promise<Answer> {
  const { app, userId, bots } = world;
  switch (command.kind) {
    case 'toggle':
      return toggle(world, path, command.status);
    case 'bot':
      return sendAsBot(world, path, command);
    case 'override':
      return app.post(`${path}/agent_bot`, { agent_bot_id: command.by && bots[command.by].id });
    case 'priority':
      return app.patch(path, { priority: command.priority });
    case 'assign':
      return app.post(`${path}/assignments`, { assignee_id: command.assignee ? userId : null });
    case 'labels':
      return app.post(`${path}/labels`, { labels: command.labels });
    case 'customer':
      return app.post(`${path}/messages`, { content: 'from the customer', message_type: 'incoming' });
    case 'agent':
      return app.post(`${path}/messages`, { content: 'an answer', message_type: 'outgoing', private: command.note });
    case 'seen':
      return app.post(`${path}/update_last_seen`);
    default:
      return app.delete(path);
  }
}

const servingIn = ({ override, inboxBot }: Model) => override ?? inboxBot;
const freeBot = { heldByPeople: false, heldByBot: null, handedOff: false };

function isSilent(model: Model): boolean {
  return model.assignee !== null || model.heldByPeople || model.heldByBot === servingIn(model);
}

function hearCustomer(model: Model): void {
  model.messages += 1;
  model.unread += 1;
  if (model.status === 'snoozed') Object.assign(model, { status: 'open', snoozedUntil: null });
  if (model.status !== 'resolved') return;
  const answered = servingIn(model) !== null && model.assignee === null;
  Object.assign(model, freeBot, { status: answered ? 'pending' : 'open' });
}

function move(model: Model, status: string): void {
  if (model.status === 'resolved' && status !== 'resolved') Object.assign(model, freeBot);
  Object.assign(model, { status, snoozedUntil: status === 'snoozed' ? soon() : null });
}

function hearAgent(model: Model): void {
  Object.assign(model, { unread: 0, heldByPeople: true });
  if (model.status === 'pending') model.status = 'open';
}

function assign(model: Model, assignee: number | null): void {
  if (model.assignee !== null && assignee === null) {
    const stays = model.handedOff && model.heldByBot === servingIn(model);
    Object.assign(model, stays ? { heldByPeople: false } : freeBot);
  }
  model.assignee = assignee;
}

function toggleByPerson(model: Model, status: string): void {
  if (status === 'open' && ['pending', 'snoozed'].includes(model.status)) model.heldByPeople = true;
  if (status === 'pending') Object.assign(model, freeBot);
  move(model, status);
}

// A bot that serves, and is not silent.
function actAsBot(model: Model, who: BotName, does: BotAct, userId: number): void {
  if (does === 'reply' || does === 'note') model.messages += 1;
  if (does === 'label') model.labels = [titles[0] as string];
  if (does === 'assign') model.assignee = userId;
  if (!statuses.includes(does)) return;
  const gives = does === 'open' && ['pending', 'snoozed'].includes(model.status);
  move(model, does);
  if (gives) Object.assign(model, { heldByBot: who, handedOff: true });
}

/** How a command of a bot is answered. */
function botStatus(model: Model, who: BotName, does: BotAct): number {
  const harmless = does === 'note' || does === 'label';
  if (servingIn(model) !== who || (isSilent(model) && !harmless)) return 403;
  return does === 'reply' || does === 'note' ? 201 : 200;
}

function choose(model: Model, by: BotName | null): void {
  if (model.override === by) return;
  model.override = by;
  if (servingIn(model) === null) return;
  Object.assign(model, model.assignee === null ? freeBot : { heldByBot: null, handedOff: false });
}

// What each command should do, said a second time and in another way than the service says it.
const effects: {
  [Kind in ChangeKind]: (model: Model, command: Extract<Change, { kind: Kind }>, userId: number) => void;
} = {
  toggle: (model, { status }) => toggleByPerson(model, status),
  priority: (model, { priority }) => Object.assign(model, { priority }),
  assign: (model, { assignee }, userId) => assign(model, assignee ? userId : null),
  labels: (model, { labels }) => Object.assign(model, { labels }),
  customer: hearCustomer,
  agent: (model, { note }) => {
    model.messages += 1;
    if (!note) hearAgent(model);
  },
  seen: (model) => Object.assign(model, { unread: 0 }),
  bot: (model, { who, does }, userId) => {
    if (botStatus(model, who, does) < 300) actAsBot(model, who, does, userId);
  },
  override: (model, { by }) => choose(model, by),
};

function predict(model: Model, command: Change | { kind: 'delete' }, userId: number): Model | null {
  if (command.kind === 'delete') return null;
  const next = structuredClone(model);
  effects[command.kind](next, command as never, userId);
  return next;
}

async function check({ app, models, bots }: World, id: number): Promise<void> {
  const model = models.get(id);
  const { status, body } = await app.get(`conversations/${id}`);
  expect(status).to.equal(model ? 200 : 404);
  if (!model) return;
  const { snoozedUntil, messages, assignee, unread, status: expected, priority, labels } = model;
  expect(body).to.deep.include({ status: expected, priority, labels, unread_count: unread });
  const explained = (await app.get(`conversations/${id}/agent_bot`)).body;
  const serving = servingIn(model);
  expect(explained.agent_bot?.id ?? null).to.equal(serving && bots[serving].id);
  const silent = expected === 'resolved' ? assignee !== null : isSilent(model);
  expect(explained.answers, JSON.stringify([model, explained])).to.equal(serving !== null && !silent);
  expect(body.meta.assignee?.id ?? null).to.equal(assignee);
  expect(body.snoozed_until === null).to.equal(snoozedUntil === null);
  const list = await app.get(`conversations/${id}/messages`);
  expect(list.body.payload).to.have.lengthOf(Math.min(20, messages));
}

async function checkCounts({ app, models }: World): Promise<void> {
  const all = [...models.values()].filter((model) => model !== null);
  const assigned = all.filter(({ assignee }) => assignee !== null).length;
  const { body } = await app.get('conversations');
  expect(body.data.meta).to.include({
    all_count: all.length,
    mine_count: assigned,
    assigned_count: assigned,
    unassigned_count: all.length - assigned,
  });
  for (const status of statuses) {
    const filtered = await app.get(`conversations?status=${status}`);
    expect(filtered.body.data.meta.all_count).to.equal(all.filter((model) => model.status === status).length);
  }
}

async function play(world: World, script: readonly Command[]): Promise<void> {
  for (const command of script) {
    const ids = [...world.models.keys()];
    if (command.kind === 'create' || ids.length === 0) {
      await create(world, command.kind === 'create' ? command : { status: null, withBot: true });
      continue;
    }
    const id = ids[ids.length - 1 - (command.at % ids.length)] as number;
    const model = world.models.get(id) ?? null;
    const { status } = await send(world, `conversations/${id}`, command);
    if (model && command.kind === 'bot') expect(status).to.equal(botStatus(model, command.who, command.does));
    else if (model) expect(status).to.be.oneOf([200, 201]);
    else expect(status).to.equal(404);
    if (model) world.models.set(id, predict(model, command, world.userId));
    await check(world, id);
  }
  await checkCounts(world);
}

describe('conversations against a model of them', () => {
  let world: World;

  before(async () => {
    const app = await TestApp.start({ engine: false });
    const bots = { usual: await addWebhookBot(app, 'Usual'), other: await addWebhookBot(app, 'Other') };
    const inboxIds = { bare: await addInbox(app), served: await addInbox(app, { botId: bots.usual.id }) };
    const contact = await app.post('contacts', { name: 'Model' });
    for (const title of titles) await app.post('labels', { title });
    const profile = await app.get('/api/v1/profile');
    world = { app, inboxIds, bots, contactId: contact.body.id, userId: profile.body.id, models: new Map() };
  });

  after(async () => {
    await world.app.stop();
  });

  it('create, toggle, prioritise, assign, label, write, choose bots, let them act, and delete in any order', async function () {
    this.timeout(180_000);
    const script = fc.array(commands, { minLength: 10, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(script, (chosen) => play(world, chosen)),
      { seed, numRuns: runs, endOnFailure: true },
    );
  });

  it('leaves every conversation with events numbered without a gap', async () => {
    const gaps = await world.app.query(
      `SELECT conversation_id FROM events WHERE conversation_id IS NOT NULL
       GROUP BY conversation_id HAVING count(*) <> max(sequence) OR min(sequence) <> 1`,
    );
    expect(gaps).to.deep.equal([]);
  });
});
