import { cpSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { maxClaims } from '../../../src/deliveries/core/claims.ts';
import type { Write } from './evidence.ts';
import type { Fault } from './fault.ts';
import { ok } from './manners.ts';
import {
  startMail,
  startMessenger,
  startTelegram,
  startWhatsApp,
  type OtherSystem,
  type StartSystem,
} from './other-systems.ts';
import { moved, until } from './patience.ts';
import type { Trial } from './trial.ts';

/** Messages of each customer, and to each, between two kills. */
const perKill = 4;

/** A message that the other system has got. */
interface Taken {
  to: string;
  text: string;
  /** When, by `performance.now()`. */
  at: number;
}

/** An inbox of the channel, its conversations by customer, and how often each side has written there. */
interface Talk {
  system: OtherSystem;
  taken: readonly Taken[];
  inbox: number;
  conversations: Map<string, number>;
  written: number;
  /** The log of what was acknowledged. Both sides write at once: the order of each is judged here. */
  writes: Write[];
}

const what = 'kill -9 of the only engine while a channel sends and receives, between request, answer and record';

export const killedChannels: readonly Fault[] = [
  { id: 'F22', what, run: (trial) => talkAndKill(trial, startMessenger) },
  { id: 'F25', what: 'F22 with Telegram', run: (trial) => talkAndKill(trial, startTelegram) },
  { id: 'F26', what: 'F22 with WhatsApp', run: (trial) => talkAndKill(trial, startWhatsApp) },
  { id: 'F27', what: 'F22 with mail by SMTP', run: (trial) => talkAndKill(trial, startMail) },
];

async function talkAndKill(trial: Trial, start: StartSystem): Promise<void> {
  const { services, scale } = trial;
  const taken: Taken[] = [];
  let onTaken = (): void => undefined;
  const system = await start(async (to, text) => {
    taken.push({ to, text, at: performance.now() });
    moved();
    onTaken();
    await sleep(scale.random() * 20);
  });
  /** Resolves a while after so many more messages were taken: before their answer, or after it. */
  const moment = (more: number, afterMs: number): Promise<void> => {
    const wanted = taken.length + more;
    const { promise, resolve } = Promise.withResolvers<void>();
    onTaken = () => void (taken.length >= wanted && setTimeout(resolve, afterMs));
    return promise;
  };
  try {
    const plugin = system.channel.plugin_id;
    cpSync(fileURLToPath(new URL(`../../../plugins/${plugin}`, import.meta.url)), services.file(plugin), {
      recursive: true,
    });
    await services.startWeb();
    await services.startEngine();
    await trial.receiver('receiver', () => ok);
    const producer = await trial.producer(1);
    const talk = await begin(trial, { system, taken, writes: producer.writes });
    for (let kills = scale.kills(4); kills > 0; kills -= 1) {
      const more = 1 + Math.floor(scale.random() * system.customers.length * 2);
      const reached = moment(more, scale.random() * 25);
      await Promise.all([converse(trial, talk), producer.write(perKill), reached]);
      const [engine] = services.engines;
      if (engine) await services.kill(engine);
      await trial.endLeases();
      await services.startEngine();
    }
    await trial.settle();
    await judge(trial, talk);
  } finally {
    await system.stop();
  }
}

async function begin(trial: Trial, talking: Pick<Talk, 'system' | 'taken' | 'writes'>): Promise<Talk> {
  const { channel, customers, connect } = talking.system;
  const { id: inbox, hook_url: hook } = await trial.client.need('POST', 'inboxes', {
    name: 'Channel',
    channel: { type: 'plugin', ...channel },
  });
  await connect(hook as string);
  const talk: Talk = { ...talking, inbox, conversations: new Map(), written: 1 };
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

async function write({ system, writes }: Talk, customer: string, number: number): Promise<void> {
  const key = `from ${customer} ${number}`;
  const { status, text } = await system.write(customer, key);
  if (status >= 300) throw new Error(`A hook was answered ${status}: ${text}`);
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

async function judge(trial: Trial, { system, taken, inbox, written }: Talk): Promise<void> {
  const numbers = Array.from({ length: written }, (_, index) => index + 1);
  const rows = await trial.rows<Row>(
    `SELECT c.source_id AS customer, m.message_type AS type, m.content, m.status, m.external_error AS reason FROM messages m
     JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id WHERE c.inbox_id = $1 ORDER BY m.id`,
    [inbox],
  );
  const failed = rows.filter(({ type, status }) => type === 'outgoing' && status !== 'sent');
  checkFailed(trial, failed);
  for (const customer of system.customers) {
    const received = rows.filter((row) => row.customer === customer && row.type === 'incoming');
    trial.check(
      received.map(({ content }) => numberIn(content)).join() === numbers.join(),
      `of ${customer} arrived ${received.map(({ content }) => content).join()}`,
    );
    const got = taken.filter(({ to }) => to === customer);
    const order = got.map(({ text }) => numberIn(text));
    const unsent = failed.filter((row) => row.customer === customer).map(({ content }) => numberIn(content));
    const wanted = numbers.slice(1).filter((number) => order.includes(number) || !unsent.includes(number));
    trial.check([...new Set(order)].join() === wanted.join(), `to ${customer} went ${order.join()}`);
    for (const [index, { text, at }] of got.entries()) {
      const before = got[index - 1];
      if (!before || numberIn(before.text) < numberIn(text)) continue;
      // The answer to the first was lost with the process that waited for it.
      const isExplained =
        before.text === text && trial.services.disturbances.some(({ from }) => from > before.at && from < at);
      trial.check(isExplained, `to ${customer} went ${text} after ${before.text}, and no process was killed between`);
    }
  }
}

/** A message of the conversations. */
interface Row {
  customer: string;
  type: string;
  content: string;
  status: string;
  reason: string | null;
}

// A message is given up when as many processes have died of it as may.
function checkFailed(trial: Trial, failed: readonly Row[]): void {
  const odd = failed.filter(({ status, reason }) => status !== 'failed' || !reason?.endsWith('(defect)'));
  trial.check(odd.length === 0, `${odd.length} messages are not sent, such as ${JSON.stringify(odd[0])}`);
  const kills = trial.services.disturbances.length;
  trial.check(
    failed.length * maxClaims <= kills,
    `${failed.length} messages are said to have failed, after ${kills} kills`,
  );
}

function numberIn(text: string): number {
  return Number(text.split(' ').at(-1));
}
