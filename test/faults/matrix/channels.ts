import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FakeMessenger } from '../../support/fake-messenger.ts';
import { byGithub, send } from '../../support/hook-senders.ts';
import type { Write } from './evidence.ts';
import type { Fault } from './fault.ts';
import { ok } from './manners.ts';
import { moved, until } from './patience.ts';
import type { Trial } from './trial.ts';

const plugin = fileURLToPath(new URL('../../../plugins/http-channel', import.meta.url));
const secret = 'a-secret-of-the-hook';
const customers = ['one', 'two', 'three'];
/** Messages of each customer, and to each, between two kills. */
const perKill = 4;

/** An inbox of the channel, its conversations by customer, and how often each side has written there. */
interface Talk {
  inbox: number;
  hook: string;
  conversations: Map<string, number>;
  written: number;
  /** The log of what was acknowledged. Both sides write at once: the order of each is judged here. */
  writes: Write[];
}

export const killedChannel: Fault = {
  id: 'F22',
  what: 'kill -9 of the only engine while a channel sends and receives, between request, answer and record',
  run: async (trial) => {
    const { services, scale } = trial;
    const env = { PLUGIN_DIRS: services.file('plugins') };
    cpSync(plugin, services.file('plugins/http-channel'), { recursive: true });
    const messenger = await FakeMessenger.start();
    try {
      messenger.delayMs = () => scale.random() * 20;
      await services.startWeb({ env });
      await services.startEngine({ env });
      await trial.receiver('receiver', () => ok);
      const producer = await trial.producer(1);
      const talk = await begin(trial, messenger, producer.writes);
      for (let kills = scale.pick(4, 50); kills > 0; kills -= 1) {
        const wanted = messenger.taken.length + 1 + Math.floor(scale.random() * customers.length * 2);
        const reached = moment(messenger, { wanted, afterMs: scale.random() * 25 });
        await Promise.all([converse(trial, talk), producer.write(perKill), reached]);
        const [engine] = services.engines;
        if (engine) await services.kill(engine);
        await trial.endLeases();
        await services.startEngine({ env });
      }
      await trial.settle();
      await judge(trial, messenger, talk);
    } finally {
      await messenger.stop();
    }
  },
};

async function begin(trial: Trial, messenger: FakeMessenger, writes: Write[]): Promise<Talk> {
  const secrets = { API_TOKEN: 'token', HOOK_SECRET: secret };
  const config = { api_url: messenger.url, outgoing: { body: { to: '{source_id}', text: '{content}' } } };
  const channel = { type: 'plugin', plugin_id: 'http-channel', config, secrets };
  const { id: inbox, hook_url: hook } = await trial.client.need('POST', 'inboxes', { name: 'Messenger', channel });
  const talk: Talk = { inbox, hook, conversations: new Map(), written: 1, writes };
  for (const customer of customers) await write(talk, customer, 1);
  await until('a conversation of each customer', async () => {
    const rows = await trial.rows<{ id: number; source_id: string }>(
      'SELECT id::int, source_id FROM conversations WHERE inbox_id = $1',
      [inbox],
    );
    for (const { id, source_id: customer } of rows) talk.conversations.set(customer, id);
    return rows.length === customers.length;
  });
  return talk;
}

async function write({ hook, writes }: Talk, customer: string, number: number): Promise<void> {
  const key = `from ${customer} ${number}`;
  const body = JSON.stringify({ from: { id: customer }, id: key, text: key });
  const { status, text } = await send(hook, body, byGithub(body, secret, body));
  if (status !== 202) throw new Error(`A hook was answered ${status}: ${text}`);
  writes.push({ key, conversation: 0, outcome: 'acknowledged' });
  moved();
}

/** Has each customer and an agent write to each other, in order. */
async function converse({ client }: Trial, talk: Talk): Promise<void> {
  const say = async (customer: string, conversation: number, number: number): Promise<void> => {
    const key = `to ${customer} ${number}`;
    const said = { content: key, message_type: 'outgoing' };
    await client.need('POST', `conversations/${conversation}/messages`, said);
    talk.writes.push({ key, conversation: 0, outcome: 'acknowledged' });
  };
  const begun = talk.written;
  talk.written += perKill;
  const all = [...talk.conversations].map(async ([customer, conversation]) => {
    for (let number = begun + 1; number <= talk.written; number += 1) {
      await Promise.all([write(talk, customer, number), say(customer, conversation, number)]);
    }
  });
  await Promise.all(all);
}

/** Resolves a while after so many messages were taken: before their answer, or after it. */
function moment(messenger: FakeMessenger, { wanted, afterMs }: { wanted: number; afterMs: number }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  messenger.onTaken = () => {
    moved();
    if (messenger.taken.length >= wanted) setTimeout(resolve, afterMs);
  };
  return promise;
}

async function judge(trial: Trial, messenger: FakeMessenger, { inbox, written }: Talk): Promise<void> {
  const numbers = Array.from({ length: written }, (_, index) => index + 1);
  const rows = await trial.rows<{ customer: string; type: string; content: string; status: string }>(
    `SELECT c.source_id AS customer, m.message_type AS type, m.content, m.status FROM messages m
     JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id WHERE c.inbox_id = $1 ORDER BY m.id`,
    [inbox],
  );
  const unsent = rows.filter(({ type, status }) => type === 'outgoing' && status !== 'sent');
  trial.check(unsent.length === 0, `${unsent.length} messages are not sent, such as ${JSON.stringify(unsent[0])}`);
  for (const customer of customers) {
    const received = rows.filter((row) => row.customer === customer && row.type === 'incoming');
    trial.check(
      received.map(({ content }) => numberIn(content)).join() === numbers.join(),
      `of ${customer} arrived ${received.map(({ content }) => content).join()}`,
    );
    const taken = messenger.taken.filter(({ body }) => body.to === customer);
    const order = taken.map(({ body }) => numberIn(body.text));
    trial.check([...new Set(order)].join() === numbers.slice(1).join(), `to ${customer} went ${order.join()}`);
    for (const [index, { body, at }] of taken.entries()) {
      const before = taken[index - 1];
      if (!before || numberIn(before.body.text) < numberIn(body.text)) continue;
      // The answer to the first was lost with the process that waited for it.
      const isExplained =
        before.body.text === body.text && trial.services.disturbances.some(({ from }) => from > before.at && from < at);
      trial.check(
        isExplained,
        `to ${customer} went ${body.text} after ${before.body.text}, and no process was killed between`,
      );
    }
  }
}

function numberIn(text: string): number {
  return Number(text.split(' ').at(-1));
}
