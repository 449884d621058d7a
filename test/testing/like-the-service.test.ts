import { expect } from 'chai';
import { simulate, type Simulation } from 'switchboard/testing';
import { BotHouse } from '../runs/house.ts';
import type { Body } from '../support/sending.ts';
import { makeBot, removeBots } from './helpers.ts';

/** Actions of the bot at a message with this text. */
const steps: Readonly<Record<string, string>> = {
  label: `ctx.label.add('new', 'vip'); ctx.label.add('new');`,
  unlabel: `ctx.label.remove('new', 'never'); ctx.label.add('old');`,
  priority: `ctx.priority('high'); ctx.attributes({ score: 5, gone: null });`,
  team: `ctx.assign({ team: 'billing' });`,
  agent: `ctx.assign({ assignee: 1 });`,
  count: `const n = await ctx.storage.incr('n'); ctx.reply(n + ' ' + await ctx.storage.get('n'));`,
  keep: `await ctx.storage.set('kept', { a: [1] }, { ttl: 600 }); await ctx.storage.contact.set('n', 'x');`,
  recall: `ctx.reply(JSON.stringify([await ctx.storage.get('kept'), await ctx.storage.contact.get('n'), await ctx.storage.get('none')]));`,
  forget: `await ctx.storage.delete('n'); await ctx.storage.incr('n', 2); await ctx.storage.set('kept', 1);`,
  half: `await ctx.storage.set('half', 'x'.repeat(600));`,
  rest: `await ctx.storage.set('rest', 'x'.repeat(600));`,
  five: `for (let n = 0; n < 5; n += 1) ctx.reply('n' + n);`,
  handoff: `ctx.note('Before'); ctx.handoff({ reason: 'asked', team: 'Billing', priority: 'urgent', message: 'A moment', note: 'Wants a person' });`,
  open: `ctx.open();`,
  snooze: `ctx.snooze({ inSeconds: 3600 });`,
  resolve: `ctx.reply('Bye'); ctx.resolve();`,
  late: `ctx.resolve(); ctx.reply('Bye');`,
  both: `ctx.open(); ctx.snooze({ inSeconds: 60 });`,
  again: `ctx.reply(String(await ctx.replies()));`,
  throw: `ctx.reply('unsaid'); ctx.label.add('unset'); throw new Error('no');`,
};

/** Conversations: the texts of the customer, in order. */
const conversations: readonly (readonly string[])[] = [
  ['label', 'unlabel', 'label', 'priority', 'team', 'count', 'count', 'handoff', 'count'],
  ['count', 'keep', 'recall', 'forget', 'count', 'recall', 'half', 'rest', 'recall'],
  ['five', 'five', 'five', 'again'],
  ['Money back!', 'open'],
  ['snooze', 'again'],
  ['again', 'again', 'resolve', 'again'],
  ['label', 'throw', 'again'],
  ['agent', 'again'],
  ['late', 'again'],
  ['both', 'again'],
];

const permissions = {
  conversation: ['reply', 'note', 'handoff', 'resolve', 'snooze', 'open', 'assign', 'label', 'priority', 'attributes'],
  storage: { scopes: ['conversation', 'contact'], maxBytes: 1024 },
};
const handlers = Object.entries(steps).map(([name, code]) => `if (ctx.message.content === '${name}') { ${code} }`);
const handler = handlers.join('\n');

interface State {
  status: string;
  priority: string | null;
  labels: readonly string[];
  team: string | null;
  assignee: number | null;
  attributes: unknown;
  isSnoozed: boolean;
  silence: string | null;
  said: string[];
  notes: string[];
}

async function simulated(texts: readonly string[]): Promise<State[]> {
  const code = `async message_created(ctx: any) { ${handler} },`;
  const sim: Simulation = await simulate(makeBot(code, { permissions }));
  const said: string[] = [];
  const states: State[] = [];
  for (const text of texts) {
    await sim.customer(text);
    said.push(...sim.replies());
    const { status, priority, labels, team, assignee, custom_attributes: attributes, silence } = sim.conversation;
    states.push({
      status,
      priority,
      labels: [...labels].toSorted(),
      team: team?.name.toLowerCase() ?? null,
      assignee: assignee?.id ?? null,
      attributes,
      isSnoozed: sim.conversation.snoozed_until !== null,
      silence,
      said: [...said],
      notes: sim.notes(),
    });
  }
  return states;
}

async function served(house: BotHouse, texts: readonly string[]): Promise<State[]> {
  const id = await house.conversation('sample');
  const states: State[] = [];
  for (const text of texts) {
    const { reason } = (await house.app.get(`conversations/${id}/agent_bot`)).body as { reason: string | null };
    await (reason === null ? house.ask(id, text) : house.say(id, text));
    const { body } = await house.app.get(`conversations/${id}`);
    const messages = (await house.app.get(`conversations/${id}/messages`)).body.payload as Body[];
    const contents = (wanted: (message: Body) => boolean) =>
      messages.filter(wanted).map((message) => message['content'] as string);
    states.push({
      status: body.status,
      priority: body.priority,
      labels: body.labels.toSorted(),
      team: body.meta.team?.name.toLowerCase() ?? null,
      assignee: body.meta.assignee?.id ?? null,
      attributes: body.custom_attributes,
      isSnoozed: body.snoozed_until !== null,
      silence: (await house.app.get(`conversations/${id}/agent_bot`)).body.reason,
      said: contents((message) => !message['private'] && message['sender']?.type === 'AgentBot'),
      notes: contents((message) => message['private'] === true),
    });
  }
  return states;
}

describe('a simulation, beside the service', function () {
  this.timeout(180_000);
  let house: BotHouse;

  before(async () => {
    house = await BotHouse.open(
      { sample: { on: { message_created: handler }, permissions } },
      { bodies: { sample: { name: 'Sample' } } },
    );
    expect((await house.app.post('teams', { name: 'Billing' })).status).to.equal(201);
    const members = await house.app.post('inbox_members', { inbox_id: house.inboxOf('sample'), user_ids: [1] });
    expect(members.status, JSON.stringify(members.body)).to.be.below(300);
  });

  after(async () => {
    await house.close();
    removeBots();
  });

  for (const texts of conversations) {
    it(`does the same at ${texts.join(', ')}`, async () => {
      expect(await simulated(texts)).to.deep.equal(await served(house, texts));
    });
  }
});
