import { expect } from 'chai';
import { routes } from '../src/api/index.ts';
import { catalog, payloadSchema, type Audience, type EventName } from '../src/events/catalog.ts';
import { findProblems } from '../src/schemas.ts';
import type { EventRow } from './support/app.ts';
import { audiences, setStage } from './support/audience-cases.ts';
import * as form from './support/contract-forms.ts';
import { awakening } from './support/conversation-event-cases.ts';
import { eventCases } from './support/event-cases.ts';
import { fillPath, nameOf, operations, readName, type Request } from './support/operations.ts';
import { expectForm } from './support/shapes.ts';
import { World, type PrincipalName, type Reply } from './support/world.ts';

const forAccounts = (Object.keys(catalog) as EventName[]).filter((name) => 'account' in catalog[name]);
const inbound = 'POST conversations/:conversation_id/messages';

describe('what operations say', () => {
  let world: World;
  let webhook: number;
  /** Hears of one inbox alone, which no case but its own touches. */
  let scoped: { inboxId: number; webhookId: number };

  before(async function () {
    this.timeout(60_000);
    world = await World.build();
    webhook = await world.home.maker.webhook({ subscriptions: forAccounts, active: true });
    // Of the account's and of one inbox of it that is not concerned: none of these hears anything.
    await world.home.maker.webhook({ subscriptions: forAccounts, active: false });
    const inboxId = await world.home.maker.inbox();
    const active = { subscriptions: forAccounts, active: true };
    scoped = { inboxId, webhookId: await world.home.maker.webhook({ ...active, inbox_id: inboxId }) };
    await world.other.maker.webhook({ subscriptions: forAccounts, active: true });
    await world.app.events();
  });

  after(() => world.stop());

  function send(principal: PrincipalName, name: string, { body, ...request }: Request): Promise<Reply> {
    const { method, path } = readName(name);
    const full = fillPath(path, world.home.maker.accountId, request);
    return world.send(principal, { method, path: full, ...(body ? { body } : {}) });
  }

  interface Delivered {
    event_id: number;
    endpoint_kind: 'webhook' | 'bot' | 'channel';
    endpoint_id: number;
    channel_id: number | null;
  }

  interface Said {
    line: string;
    event: EventRow;
  }

  // What was recorded since the last call; whom it is delivered to must be whom it is meant for.
  async function said(): Promise<Said[]> {
    const events = await world.app.events();
    const deliveries = await world.app.query<Delivered>(
      `SELECT d.event_id, d.endpoint_kind, d.endpoint_id, i.channel_id FROM deliveries d JOIN events e ON e.id = d.event_id
       LEFT JOIN inboxes i ON i.id = e.inbox_id WHERE d.event_id = ANY ($1) ORDER BY d.endpoint_kind DESC`,
      [events.map(({ id }) => id)],
    );
    return events.map((event) => {
      const own = deliveries.filter(({ event_id: id }) => id === event.id);
      for (const { endpoint_kind: kind, endpoint_id: id, channel_id: channel } of own) {
        const meant = { webhook, channel, bot: event.bot_id }[kind];
        expect(id, `${kind} of ${event.name}`).to.equal(meant);
      }
      return { line: `${event.name} > ${own.map(({ endpoint_kind: kind }) => kind).join(' ')}`, event };
    });
  }

  const linesOf = (events: Said[]) => events.map(({ line }) => line);

  it('is told for every operation that may write, and for no other', () => {
    const writing = routes.filter(({ method }) => method !== 'GET').map(nameOf);
    expect(Object.keys(eventCases).sort()).to.deep.equal(writing.sort());
  });

  for (const [name, cases] of Object.entries(eventCases)) {
    for (const { when, request: prepare = operations[name], as, isRefused = false, says, again } of cases) {
      it(`${name}${when ? `, ${when}` : ''}: ${says.join(', ') || 'nothing'}`, async () => {
        const request = await prepare!(world.home, world);
        await said();
        const principal = as ?? (name.includes('/platform/') ? 'platform' : 'administrator');
        const first = await send(principal, name, request);
        expect(first.status >= 300, first.text).to.equal(isRefused);
        expect(linesOf(await said())).to.deep.equal(says);
        const second = await send(principal, name, request);
        expect(second.status < 300, second.text).to.equal(again !== 'refused');
        expect(linesOf(await said()), 'the second time').to.deep.equal(
          Array.isArray(again) ? again : again === 'the same' ? says : [],
        );
      });
    }
  }

  for (const [when, prepare, says] of awakening) {
    it(`a message of the customer, ${when}: ${says.join(', ')}`, async () => {
      const request = await prepare(world.home, world);
      await said();
      expect((await send('administrator', inbound, request)).status).to.equal(201);
      expect(linesOf(await said())).to.deep.equal(says);
    });
  }

  it('is delivered to the webhook of one inbox when that inbox is concerned', async () => {
    await world.app.events();
    await world.home.maker.conversation(scoped.inboxId);
    const ids = (await world.app.events()).map(({ id }) => id);
    const rows = await world.app.query<{ endpoint_id: number }>(
      `SELECT DISTINCT endpoint_id FROM deliveries JOIN events e ON e.id = event_id
       WHERE event_id = ANY ($1) AND e.name = 'conversation_created' ORDER BY endpoint_id`,
      [ids],
    );
    expect(rows.map(({ endpoint_id: id }) => id)).to.deep.equal([webhook, scoped.webhookId]);
  });

  it('is said of each conversation without a gap', async () => {
    const gaps = await world.app.query(
      `SELECT c.id FROM conversations c LEFT JOIN LATERAL (
         SELECT count(sequence) AS count, min(sequence) AS first, max(sequence) AS last
         FROM events e WHERE e.account_id = c.account_id AND e.conversation_id = c.id) said ON true
       WHERE c.event_sequence <> coalesce(said.last, 0) OR said.count <> coalesce(said.last, 0) OR said.first <> 1`,
    );
    expect(gaps).to.deep.equal([]);
    const [recorded] = await world.app.query<{ count: number }>(
      'SELECT count(*) AS count FROM events WHERE sequence IS NOT NULL',
    );
    expect(recorded!.count).to.be.greaterThan(100);
  });

  it('is by its schema, with its name and its sequence, and of every kind there is but breaches, scheduled calls and those about webhooks', async () => {
    const rows = await world.app.query<EventRow>('SELECT * FROM events');
    for (const { name, sequence, account_payload: account, bot_payload: bot } of rows) {
      for (const [audience, payload] of [
        ['account', account],
        ['bot', bot],
      ] as [Audience, EventRow['bot_payload']][]) {
        if (payload === null) continue;
        expect(findProblems(payloadSchema(name as EventName, audience), payload), name).to.deep.equal([]);
        expect(payload).to.include({ event: name });
        if (sequence !== null) expect(payload, name).to.include({ sequence });
      }
    }
    const all = Object.keys(catalog).filter(
      (name) => !/^(sla_breached|schedule|webhook_.*|delivery_exhausted)$/.test(name),
    );
    expect(new Set(rows.map(({ name }) => name))).to.have.all.keys(...all);
  });

  describe('by the contract', () => {
    async function hear(): Promise<{ events: EventRow[]; message: Reply['body'] }> {
      const { maker, inbox } = world.home;
      const contactId = await maker.contact({
        email: 'carla@example.com',
        phone_number: '+14155552671',
        identifier: maker.text('crm'),
      });
      const id = await maker.conversation(inbox, { contact_id: contactId, additional_attributes: { page: '/prices' } });
      await said();
      const body = {
        content: 'How much?',
        message_type: 'incoming',
        source_id: 'mail-7',
        content_attributes: { subject: 'Prices' },
      };
      const { body: message } = await send('administrator', inbound, { at: { conversation_id: id }, body });
      await send('administrator', 'POST conversations/:id/toggle_status', { at: { id }, body: { status: 'resolved' } });
      return { events: (await said()).map(({ event }) => event), message };
    }

    it('message_created of account webhooks', async () => {
      const {
        events: [event],
        message,
      } = await hear();
      const { account_payload: payload } = event!;
      expectForm(payload, form.accountMessage);
      expect(payload).to.deep.include({
        event: 'message_created',
        id: String(message.id),
        content: 'How much?',
        message_type: 'incoming',
        account: { id: 1, name: 'Demo account' },
      });
      expect(payload!['conversation']).to.include({
        id: message.conversation_id,
        status: 'pending',
        inbox_id: world.home.inbox,
      });
      expect(payload!['contact']).to.have.all.keys('id', 'name', 'email').and.include({ email: 'carla@example.com' });
      expect(Math.floor(Date.parse(payload!['created_at'] as string) / 1000)).to.equal(message.created_at);
    });

    it('message_created of bots', async () => {
      const {
        events: [event],
        message,
      } = await hear();
      const { bot_payload: payload } = event!;
      expectForm(payload, form.botMessage);
      expect(payload).to.deep.include({
        event: 'message_created',
        id: message.id,
        content: 'How much?',
        content_type: 'text',
        message_type: 'incoming',
        created_at: message.created_at,
        private: false,
        source_id: 'mail-7',
        additional_attributes: { page: '/prices' },
        content_attributes: { subject: 'Prices' },
        account: { id: 1, name: 'Demo account' },
      });
      expect(payload!['sender']).to.include({
        email: 'carla@example.com',
        phone_number: '+14155552671',
        type: 'contact',
      });
      expect(payload!['inbox']).to.include({ id: world.home.inbox, channel: 'Channel::Api' });
      expect(payload!['conversation']).to.include({ account_id: 1, status: 'pending', assignee: null });
    });

    it('conversation_resolved of bots', async () => {
      const { events, message } = await hear();
      const resolved = events.find(({ name }) => name === 'conversation_resolved');
      expect(resolved!.account_payload).to.equal(null);
      expectForm(resolved!.bot_payload, form.botResolved);
      expect(resolved!.bot_payload).to.deep.include({
        id: message.conversation_id,
        status: 'resolved',
        account_id: 1,
        account: { id: 1, name: 'Demo account' },
      });
    });

    it('what changed, before and after', async () => {
      const { maker, inbox } = world.home;
      const id = await maker.conversation(inbox, { custom_attributes: { plan: 'free' } });
      await said();
      await maker.call('PATCH', `conversations/${id}`, { priority: 'high', custom_attributes: { plan: 'pro' } });
      await maker.call('POST', `conversations/${id}/toggle_status`, { status: 'open' });
      const changes = (await said()).map(({ event }) => event.account_payload!['changed_attributes']);
      expect(changes).to.deep.equal([
        {
          priority: { previous: null, current: 'high' },
          custom_attributes: { previous: { plan: 'free' }, current: { plan: 'pro' } },
        },
        { status: { previous: 'pending', current: 'open' } },
      ]);
    });
  });

  describe('the bot,', () => {
    // Whether it hears of what is done now, by event, and why not.
    async function listen(done: () => Promise<unknown>): Promise<Record<string, string | null>> {
      await said();
      await done();
      const heard = (await said()).filter(({ event }) => event.bot_id !== null);
      for (const { line, event } of heard) expect(line.endsWith('bot'), line).to.equal(event.bot_silence === null);
      return Object.fromEntries(heard.map(({ event }) => [event.name, event.bot_silence]));
    }

    for (const [done, perform, silence] of audiences) {
      it(`when ${done}: ${silence ?? 'it serves'}`, async () => {
        const { bot } = world.home;
        const stage = await setStage(world);
        await perform(stage);
        const at = { conversation_id: stage.id };
        const incoming = { content: 'Hello', message_type: 'incoming' };
        const hello = await send('administrator', inbound, { at, body: incoming });
        const edit = { at: { ...at, message_id: hello.body.id }, body: { content: 'Hello!' } };
        expect(await listen(() => send('administrator', inbound, { at, body: incoming }))).to.deep.equal({
          message_created: silence,
        });
        expect(
          await listen(() => send('administrator', `${inbound.replace('POST', 'PATCH')}/:message_id`, edit)),
        ).to.deep.equal({
          message_updated: silence,
        });
        const answer = await send('bot', inbound, { at, body: { content: 'Yes?', message_type: 'outgoing' } });
        expect([answer.status, answer.body.code]).to.deep.equal(silence ? [403, 'bot_suppressed'] : [201, undefined]);
        const note = { content: 'A note', message_type: 'outgoing', private: true };
        expect((await send('bot', inbound, { at, body: note })).status).to.equal(201);
        const explained = (await send('administrator', 'GET conversations/:id/agent_bot', { at: { id: stage.id } }))
          .body;
        expect(explained).to.deep.include({ answers: silence === null, reason: silence });
        expect(explained.agent_bot.id).to.equal(bot.id);
        expect(await listen(() => stage.to('resolved'))).to.deep.equal({ conversation_resolved: null });
        expect(await listen(() => stage.to('open'))).to.deep.equal({ conversation_opened: null });
      });
    }

    it('is the one of the conversation before that of the inbox, and the other hears nothing and may say nothing', async () => {
      const { bot, idle } = world.home;
      const { id, say, override } = await setStage(world);
      await override('idle');
      await said();
      await say('administrator', { message_type: 'incoming' });
      const [{ line, event }] = (await said()) as [Said];
      expect(line).to.equal('message_created > webhook bot');
      expect(event).to.include({ bot_id: idle.id, bot_silence: null });
      expect(event.bot_id).not.to.equal(bot.id);
      const message = { content: 'Hello', message_type: 'outgoing' };
      const at = { conversation_id: id };
      expect((await send('bot', inbound, { at, body: message })).status).to.equal(403);
      expect((await send('idle', inbound, { at, body: message })).status).to.equal(201);
    });

    it('hears of what a message of the customer reopens, before the message', async () => {
      const { id, say, to } = await setStage(world);
      await say('administrator');
      await to('resolved');
      const heard = await listen(() => say('administrator', { message_type: 'incoming' }));
      expect(Object.entries(heard)).to.deep.equal([
        ['conversation_opened', null],
        ['message_created', null],
      ]);
      expect((await world.home.maker.call('GET', `conversations/${id}`)).status).to.equal('pending');
    });

    it('of a blocked contact is not woken', async () => {
      const { say, to, block } = await setStage(world);
      await to('resolved');
      await block(true);
      expect(await listen(() => say('administrator', { message_type: 'incoming' }))).to.deep.equal({
        message_created: 'contact_blocked',
      });
    });
  });
});
