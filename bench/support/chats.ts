import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './cases.ts';
import { site } from './retrieval.ts';
import { call } from './service.ts';

/** How a bot took a case. */
export type Outcome = 'answered' | 'offered' | 'offered another' | 'silent' | 'wrong';

/** A case that was played. */
export interface Played extends Case {
  outcome: Outcome;
  isRight: boolean;
  /** The bot's words; null if it handed the conversation over or said nothing. */
  reply: string | null;
  /** The message to which it gave none; null if it replied to all. */
  unanswered: string | null;
}

interface Message {
  id: number;
  content: string;
  message_type: string;
  private: boolean;
  content_attributes?: { offer?: boolean };
}
interface Inbox {
  inbox_id: number;
  contact_id: number;
}

const atOnce = 8;
const pollMs = 150;
const patienceMs = 15_000;
const links = new RegExp(`${site.replaceAll('.', '\\.')}[a-z0-9-]+`, 'g');

/** Plays the cases as a customer would, several at once, with bots of the kind `ai`. */
export async function playCases(url: string, cases: readonly Case[]): Promise<Played[]> {
  const everything = await hire(url, null);
  const limited = new Map<string, Inbox>();
  for (const language of new Set(cases.map((one) => one.language)))
    limited.set(language, await hire(url, { languages: [language] }));
  // A question in another language would find the article of its own.
  const inboxOf = ({ kind, language }: Case) =>
    kind === 'cross-language' ? (limited.get(language) ?? everything) : everything;
  const played: Played[] = [];
  const waiting = cases.values();
  const work = async () => {
    for (const one of waiting) played.push(judge(one, await play(url, inboxOf(one), one)));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return played;
}

async function hire(url: string, knowledge: object | null): Promise<Inbox> {
  const bot = await call<{ id: number }>(url, 'POST', 'agent_bots', { kind: 'ai', name: 'Ada', knowledge });
  const inbox = await call<{ id: number }>(url, 'POST', 'inboxes', { name: 'Shop', channel: { type: 'api' } });
  await call(url, 'POST', `inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
  const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Kim' });
  return { inbox_id: inbox.id, contact_id: contact.id };
}

/** The bot's reply to the last message, or the first message to which it gave none. */
async function play(url: string, inbox: Inbox, { before, question }: Case): Promise<Message | string> {
  const { id } = await call<{ id: number }>(url, 'POST', 'conversations', inbox);
  let last: Message | string = question;
  for (const content of [...before, question]) {
    const message = { content, message_type: 'incoming' };
    const said = await call<Message>(url, 'POST', `conversations/${id}/messages`, message);
    last = (await replyTo(url, id, said.id)) ?? content;
    if (last === content) break;
  }
  return last;
}

/** The reply to a message; null if the bot handed over, or said nothing. */
async function replyTo(url: string, conversation: number, message: number): Promise<Message | null> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    await sleep(pollMs);
    const { status } = await call<{ status: string }>(url, 'GET', `conversations/${conversation}`);
    // Words of a handoff are no answer.
    if (status !== 'pending') return null;
    const { payload } = await call<{ payload: Message[] }>(url, 'GET', `conversations/${conversation}/messages`);
    const reply = payload.find((one) => one.id > message && one.message_type === 'outgoing' && !one.private);
    if (reply) return (await isHandedOver(url, conversation)) ? null : reply;
  }
  return null;
}

// It may have been handed over between the two requests.
async function isHandedOver(url: string, conversation: number): Promise<boolean> {
  return (await call<{ status: string }>(url, 'GET', `conversations/${conversation}`)).status !== 'pending';
}

function judge(one: Case, last: Message | string): Played {
  const [message, unanswered] = typeof last === 'string' ? [null, last] : [last, null];
  const outcome = outcomeOf(one, message);
  const isAnswerable = one.urls.length > 0;
  const isRight = isAnswerable
    ? outcome === 'answered' || outcome === 'offered'
    : one.isSmallTalk
      ? outcome === 'answered'
      : outcome !== 'wrong';
  return { ...one, outcome, isRight, reply: message?.content ?? null, unanswered };
}

function outcomeOf({ urls, isSmallTalk }: Case, message: Message | null): Outcome {
  if (!message) return 'silent';
  const cited = message.content.match(links) ?? [];
  const isHit = cited.some((link) => urls.includes(link));
  if (message.content_attributes?.offer === true) return isHit ? 'offered' : 'offered another';
  if (isHit) return 'answered';
  if (cited.length > 0) return 'wrong';
  // A greeting is the whole answer to small talk, and none to a question.
  return isSmallTalk ? 'answered' : 'silent';
}
