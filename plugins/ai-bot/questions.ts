import type { Passage } from 'switchboard/bot';
import type { Ctx } from './bot.ts';
import { smallTalkOf } from './small-talk.ts';

/** Passages that the bot looks at for a message. */
const passagesAtMost = 5;
/** Passages among them about the question before. */
const earlierAtMost = 2;
/** Characters of what customers wrote that are looked for; the rest of a long text tells more of other things. */
const questionChars = 2000;
/** Messages of the customer that a follow-up may go on with: it may follow another one. */
const messagesBefore = 3;
/** Words of a message that may be a part of the question before. */
const shortWords = 12;

/** The passages that the question has words of, best first. */
export function findPassages(ctx: Ctx, question: string): Promise<Passage[]> {
  const { scope, tags, languages } = ctx.config.knowledge;
  const filter = { limit: passagesAtMost, ...(scope === 'all' ? {} : { tags, languages }) };
  return ctx.kb.search(cut(question), filter);
}

/** The best passages of several searches, each article once. */
export function forQuestion(passages: readonly Passage[]): Passage[] {
  const best = new Map<number, Passage>();
  for (const passage of passages.toSorted((one, other) => other.score - one.score))
    if (!best.has(passage.id)) best.set(passage.id, passage);
  return [...best.values()].slice(0, passagesAtMost);
}

/** The passages for a follow-up: the best of its own, and the best of what was asked before. */
export function withEarlier(found: readonly Passage[], earlier: readonly Passage[]): Passage[] {
  const passages = [...found.slice(0, passagesAtMost - earlierAtMost), ...earlier.slice(0, earlierAtMost), ...found];
  return [...new Map(passages.map((passage) => [passage.id, passage])).values()].slice(0, passagesAtMost);
}

// Cut, because a call has a size limit, and a long text must not make the bot fail.
function cut(text: string): string {
  return text.trim().slice(0, questionChars).toWellFormed();
}

/** Whether a message is short enough to be a part of the question before. */
export function isShort(message: string): boolean {
  return message.trim().split(/\s+/, shortWords + 1).length <= shortWords;
}

/** The customer's latest messages before this one; null when it is the first. */
export function questionBefore({ history, message }: Ctx): string | null {
  const isBefore = ({ id, message_type: type, content }: Ctx['history'][number]) =>
    id < message.id && type === 'incoming' && smallTalkOf(content) === null;
  const before = history.filter(isBefore).slice(-messagesBefore);
  return before.length === 0 ? null : before.map(({ content }) => content).join('\n');
}
