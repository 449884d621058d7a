import { defineBot, type HandoffCause, type MessageContext, type Passage } from 'switchboard/bot';
import { readAnswer, settle, type Outcome } from './answer.ts';
import { extract } from './extract.ts';
import { findKeyword } from './keywords.ts';
import { questionOf } from './prompt.ts';

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
/** Words of a question that may be a part of the one before. */
const shortWords = 3;
/** The replies of the present session; a handoff line is none. */
const countKey = 'replies';

export default defineBot<Settings>({
  on: {
    // A session begins.
    conversation_opened: (ctx) => ctx.storage.delete(countKey),
    async message_created(ctx) {
      const { content } = ctx.message;
      const keyword = findKeyword(content, ctx.config.handoff_keywords);
      if (keyword !== null) return handOff(ctx, { cause: 'keyword', reason: `The customer wrote “${keyword}”` });
      const replies = (await ctx.storage.get<number>(countKey)) ?? 0;
      if (replies >= ctx.config.max_exchanges)
        return handOff(ctx, { cause: 'max_exchanges', reason: `${replies} replies in this session` });
      const model = await ctx.llm.status();
      const passages = await findPassages(ctx, content, model !== null);
      const outcome = await answer(ctx, { question: content, passages, hasModel: model !== null });
      if ('cause' in outcome) return handOff(ctx, { ...outcome, passages: passages ?? [] });
      ctx.reply(outcome.text);
      await ctx.storage.set(countKey, replies + 1);
    },
  },
});

/** The passages that answer the question; null when the knowledge base is not to be asked. */
async function findPassages(ctx: Ctx, question: string, hasModel: boolean): Promise<Passage[] | null> {
  const { scope, tags, languages } = ctx.config.knowledge;
  if (scope === 'none') return null;
  const filter = { limit: passagesAtMost, ...(scope === 'all' ? {} : { tags, languages }) };
  const found = (await ctx.kb.search(question, filter)).filter(({ answers }) => answers);
  // “And on Saturday?” alone finds nothing. Only a model can tell whether what was asked before answers it too.
  const before = hasModel && found.length === 0 && isShort(question) ? questionBefore(ctx) : null;
  if (before === null) return found;
  return (await ctx.kb.search(`${before} ${question}`, filter)).filter(({ answers }) => answers);
}

function isShort(question: string): boolean {
  return question.trim().split(/\s+/).length <= shortWords;
}

function questionBefore({ history, message }: Ctx): string | null {
  const isBefore = ({ id, message_type: type }: Ctx['message']) => id < message.id && type === 'incoming';
  return history.findLast(isBefore)?.content ?? null;
}

interface Asked {
  question: string;
  passages: readonly Passage[] | null;
  hasModel: boolean;
}

async function answer(ctx: Ctx, { question, passages, hasModel }: Asked): Promise<Outcome> {
  const [best] = passages ?? [];
  if (passages && !best) return { cause: 'no_answer', reason: 'The knowledge base has no answer' };
  if (!hasModel && best) return settle({ text: extract(best.text, question), citations: [1] }, [best]);
  if (!hasModel) return { cause: 'no_answer', reason: 'There is neither a model nor a knowledge base' };
  const { system_prompt: systemPrompt, temperature } = ctx.config;
  const account = ctx.account?.name ?? '';
  try {
    const chat = await ctx.llm.chat(questionOf({ account, systemPrompt, temperature, passages, history: ctx.history }));
    return readAnswer(chat, passages);
  } catch (error) {
    const { code = 'error', message } = error as Error & { code?: string };
    ctx.log.warn('no answer of the model', { code, message });
    return { cause: 'model_failed', reason: `The model gave no answer (${code})` };
  }
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
