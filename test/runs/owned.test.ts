import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom, tellSeed } from '../faults/helpers.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { FakeModelServer, replies } from '../support/model-server.ts';
import { addPerson } from '../support/people.ts';
import { BotHouse } from './house.ts';

const conversations = 8;
const acts = 40;
const atOnce = 12;

type Changes = Record<string, { previous: unknown; current: unknown }>;

interface EventRow {
  sequence: number;
  name: string;
  account_payload: {
    status?: string;
    private?: boolean;
    sender?: { type: string } | null;
    changed_attributes?: Changes;
  };
}

/** What the events of a conversation say about who has it, read as an agent would read them. */
class Owner {
  assigned = false;
  replied = false;

  get has(): boolean {
    return this.assigned || this.replied;
  }

  sees({ name, account_payload: body }: EventRow): void {
    if (name === 'message_created' && !body.private && body.sender?.type === 'User') this.replied = true;
    else this.#follows(body.changed_attributes ?? {});
  }

  #follows({ assignee_id: assignee, agent_bot_id: chosen, status }: Changes): void {
    if (assignee) this.assigned = assignee.current !== null;
    // Whoever takes the person off, or chooses a bot while there is none, gives the conversation to the bot.
    if ((assignee || chosen) && !this.assigned) this.replied = false;
    if (status?.current === 'pending' || status?.previous === 'resolved') this.replied = false;
  }
}

function isWordOfBot({ name, account_payload: body }: EventRow): boolean {
  return name === 'message_created' && body.sender?.type === 'AgentBot' && body.private === false;
}

/** The public words of bots in a conversation; fails at one that was said while a person had it. */
function wordsIn(events: readonly EventRow[]): number {
  const owner = new Owner();
  const history = events.map(({ sequence, name, account_payload: { sender, changed_attributes: changed } }) =>
    JSON.stringify([sequence, name, sender?.type, changed]),
  );
  for (const [place, event] of events.entries()) {
    if (isWordOfBot(event)) expect(owner.has, history.slice(0, place + 1).join('\n')).to.equal(false);
    owner.sees(event);
  }
  return events.filter(isWordOfBot).length;
}

describe('a conversation that a person has', function () {
  this.timeout(120_000);
  let house: BotHouse;
  let https: HttpsReceiver;
  let model: FakeModelServer;
  let random: () => number;

  before(async () => {
    random = seededRandom(tellSeed());
    house = await BotHouse.open(
      { chatty: { on: { message_created: `ctx.reply('An answer');` }, permissions: { conversation: ['reply'] } } },
      { shipped: ['ai-bot'], config: { burstQuietMs: 0 } },
    );
    https = await startHttpsReceiver();
    model = await FakeModelServer.start();
    // Whatever happens meanwhile, a model takes its time.
    model.expect([], (response, question) => {
      setTimeout(() => replies.answer('An answer', [])(response, question), random() * 200);
    });
    await house.app.patch('/api/v1/accounts/1', { llm: { base_url: model.baseUrl, model: 'slow' } });
  });
  after(async () => {
    await house.close();
    await https.close();
    await model.close();
  });

  async function served(bot: number): Promise<number> {
    const { body: inbox } = await house.app.post('inboxes', { name: 'Server' });
    await house.app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot });
    return inbox.id;
  }

  for (const [kind, what, settings] of [
    ['chatty', 'a plugin', {}],
    ['server', 'a bot on a server', {}],
    ['ai', 'an AI bot that waits for its model', { kind: 'ai', knowledge: false, max_exchanges: 1000 }],
  ] as const) {
    it(`hears no word of ${what}, whatever happens at once`, async () => {
      const { app } = house;
      const made = 'kind' in settings ? settings : { outgoing_url: https.receiver.url };
      const { body: server } = await app.post('agent_bots', { name: 'Server', ...made });
      const inbox = kind === 'chatty' ? house.inboxOf('chatty') : await served(server.id);
      const bot = kind === 'chatty' ? house.botOf('chatty') : server.id;
      const by = { api_access_token: server.access_token };
      const person = await addPerson(app, { name: `Hanna ${kind}` });
      await app.post(`inboxes/${inbox}/members`, { user_ids: [person.id] });
      const { body: contact } = await app.post('contacts', { name: 'Carla' });
      const ids: number[] = [];
      for (let count = 0; count < conversations; count += 1)
        ids.push((await app.post('conversations', { inbox_id: inbox, contact_id: contact.id })).body.id);

      const say = (id: number, fields: object, headers = {}) =>
        app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'outgoing', ...fields }, headers);
      const to = (id: number, status: string) =>
        app.post(`conversations/${id}/toggle_status`, {
          status,
          ...(status === 'snoozed' ? { snoozed_until: Math.floor(Date.now() / 1000) + 3600 } : {}),
        });
      const assign = (id: number, assignee: number | null) =>
        app.post(`conversations/${id}/assignments`, { assignee_id: assignee });
      const statuses = ['open', 'pending', 'resolved', 'snoozed', 'pending'];
      const doings: readonly ((id: number) => Promise<unknown>)[] = [
        (id) => say(id, { message_type: 'incoming' }),
        (id) => say(id, { message_type: 'incoming' }),
        (id) => say(id, {}, by),
        (id) => say(id, {}, by),
        (id) => say(id, {}, by),
        (id) => app.post(`conversations/${id}/toggle_status`, { status: 'open' }, by),
        (id) => assign(id, person.id),
        (id) => assign(id, null),
        (id) => say(id, {}),
        (id) => say(id, { private: true }),
        (id) => to(id, statuses[Math.floor(random() * statuses.length)]!),
        (id) => to(id, 'pending'),
        (id) => app.post(`conversations/${id}/agent_bot`, { agent_bot_id: random() < 0.5 ? bot : null }),
      ];
      const planned = ids.flatMap((id) =>
        Array.from({ length: acts }, () => ({
          id,
          act: doings[Math.floor(random() * doings.length)]!,
          ms: random() * 15,
        })),
      );
      planned.sort((one, other) => one.ms - other.ms);
      while (planned.length > 0) {
        await Promise.all(
          planned.splice(0, atOnce).map(async ({ id, act, ms }) => {
            await sleep(ms);
            await act(id);
          }),
        );
      }
      await app.eventually(async () => app.app.engine.inFlight === 0);
      let words = 0;
      for (const id of ids) {
        words += wordsIn(
          await app.query<EventRow & Record<string, unknown>>(
            'SELECT sequence, name, account_payload FROM events WHERE conversation_id = $1 AND account_payload IS NOT NULL ORDER BY sequence',
            [id],
          ),
        );
      }
      expect(words, 'words of bots').to.be.above(0);
    });
  }
});
