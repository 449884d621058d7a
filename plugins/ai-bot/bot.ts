import { defineBot, type CustomerWords, type HandoffCause, type MessageContext, type Passage } from 'switchboard/bot';
import { readAnswer, settle, type Outcome } from './answer.ts';
import { extract } from './extract.ts';
import { findKeyword } from './keywords.ts';
import { questionOf, type Words } from './prompt.ts';

interface Settings {
  system_prompt: string;
  temperature: number;
  max_exchanges: number;
  handoff_keywords: string[];
  handoff_message: string;
  knowledge: { scope: 'all' | 'selected' | 'none'; tags: string[]; languages: string[] };
}

type Ctx = MessageContext<Settings>;

const passagesAtMost = 5;
/** Characters of what customers wrote that are looked for; the rest of a long text tells more of other things. */
const askedChars = 2000;
/** Words of a question that may be a part of the one before. */
const shortWords = 3;

/** Where the bot remembers the last message that it answered. */
const answeredKey = 'answered';
// Covers the time in which the rest of a burst may arrive. It expires, because a bot's storage in an account is limited.
const answeredSeconds = 86_400;

export default defineBot<Settings>({
  on: {
    async message_created(ctx) {
      const keyword = leaveAtKeyword(ctx, ctx.message.content);
      if (keyword) return handOff(ctx, keyword);
      const [answered, replies] = await Promise.all([ctx.storage.get<number>(answeredKey), ctx.replies()]);
      // Skips a message of a burst that was answered with its first message.
      if (ctx.message.id <= (answered ?? 0)) return;
      const last = leaveAtLast(ctx, replies);
      if (last) return handOff(ctx, last);
      const model = await ctx.llm.status();
      if (model?.tokens_left === 0)
        return handOff(ctx, { cause: 'budget', reason: 'The tokens for today are used up' });
      await answerBurst(ctx, model !== null);
    },
  },
});

function leaveAtKeyword(ctx: Ctx, text: string): Leave | null {
  const keyword = findKeyword(text, ctx.config.handoff_keywords);
  return keyword === null ? null : { cause: 'keyword', reason: `The customer wrote “${keyword}”` };
}

function leaveAtLast(ctx: Ctx, replies: number): Leave | null {
  const isOver = replies >= ctx.config.max_exchanges;
  return isOver ? { cause: 'max_exchanges', reason: `${replies} replies in this session` } : null;
}

async function answerBurst(ctx: Ctx, hasModel: boolean): Promise<void> {
  const more = await restOfBurst(ctx);
  const said = [ctx.message, ...more].map(({ content }) => content).join('\n');
  const keyword = leaveAtKeyword(ctx, said);
  if (keyword) return handOff(ctx, keyword);
  const question = cut(said);
  // A picture, for example: an earlier question is not the present one.
  if (question.trim() === '') return handOff(ctx, { cause: 'no_answer', reason: 'The customer wrote no words' });
  const passages = await findPassages(ctx, question, hasModel);
  const outcome = await answer(ctx, { question, passages, hasModel, more });
  if ('cause' in outcome) return handOff(ctx, { ...outcome, passages: passages ?? [] });
  ctx.reply(outcome.text);
  await ctx.storage.set(answeredKey, more.at(-1)?.id ?? ctx.message.id, { ttl: answeredSeconds });
}

/** Returns the other messages of the burst; none if they are too large, because each message has a run of its own as well. */
function restOfBurst(ctx: Ctx): Promise<CustomerWords[]> {
  return ctx.settled().catch(() => []);
}

/** The passages that answer the question; null when the knowledge base is not to be asked. */
async function findPassages(ctx: Ctx, question: string, hasModel: boolean): Promise<Passage[] | null> {
  const { scope, tags, languages } = ctx.config.knowledge;
  if (scope === 'none') return null;
  const filter = { limit: passagesAtMost, ...(scope === 'all' ? {} : { tags, languages }) };
  const found = (await ctx.kb.search(question, filter)).filter(({ answers }) => answers);
  // “And on Saturday?” alone finds nothing. Only a model can tell whether what was asked before answers it too.
  const before = hasModel && found.length === 0 && isShort(question) ? questionBefore(ctx) : null;
  if (before === null) return found;
  return (await ctx.kb.search(`${cut(before, askedChars - question.length)} ${question}`, filter)).filter(
    ({ answers }) => answers,
  );
}

// Cut, because a call has a size limit, and a long text must not make the bot fail.
function cut(text: string, chars = askedChars): string {
  return text.trim().slice(0, chars).toWellFormed();
}

function isShort(question: string): boolean {
  return question.trim().split(/\s+/).length <= shortWords;
}

function questionBefore(ctx: Ctx): string | null {
  const { history, message } = ctx;
  const isBefore = ({ id, message_type: type }: Ctx['history'][number]) => id < message.id && type === 'incoming';
  return history.findLast(isBefore)?.content ?? null;
}

interface Asked {
  question: string;
  passages: readonly Passage[] | null;
  hasModel: boolean;
  more: readonly CustomerWords[];
}

async function answer(ctx: Ctx, { question, passages, hasModel, more }: Asked): Promise<Outcome> {
  const [best] = passages ?? [];
  if (passages && !best) return { cause: 'no_answer', reason: 'The knowledge base has no answer' };
  if (!hasModel && best) return settle({ text: extract(best, question), citations: [1] }, [best]);
  if (!hasModel) return { cause: 'no_answer', reason: 'There is neither a model nor a knowledge base' };
  const { system_prompt: systemPrompt, temperature } = ctx.config;
  const account = ctx.account?.name ?? '';
  try {
    const history = [...ctx.history, ...laterThan(ctx.history, [ctx.message, ...more])];
    const chat = await ctx.llm.chat(questionOf({ account, systemPrompt, temperature, passages, history }));
    return readAnswer(chat, passages);
  } catch (error) {
    const { code = 'error', message } = error as Error & { code?: string };
    ctx.log.warn('no answer of the model', { code, message });
    return { cause: code === 'budget' ? code : 'model_failed', reason: `The model gave no answer (${code})` };
  }
}

// A run that begins late has them in its history already; one of a very long message does not even have that.
function laterThan(history: Ctx['history'], more: readonly Pick<CustomerWords, 'id' | 'content'>[]): Words[] {
  const last = history.at(-1)?.id ?? 0;
  return more.filter(({ id }) => id > last).map(({ content }) => ({ content, message_type: 'incoming', sender: null }));
}

interface Leave {
  cause: HandoffCause;
  reason: string;
  passages?: readonly Passage[];
}

function handOff(ctx: Ctx, { cause, reason, passages = [] }: Leave): void {
  const { handoff_message: message } = ctx.config;
  ctx.handoff({
    cause,
    reason,
    passages: passages.map(({ title, url }) => ({ title, url })),
    ...(message.trim() === '' ? {} : { message }),
  });
}
