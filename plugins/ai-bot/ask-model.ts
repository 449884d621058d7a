import type { ChatAnswer, Passage } from 'switchboard/bot';
import { readAnswer, readSearch, type Outcome } from './answer.ts';
import type { Ctx } from './bot.ts';
import { questionOf, type Words } from './prompt.ts';
import { findPassages, forQuestion } from './questions.ts';

interface Asked {
  /** Null when the model answers without the knowledge base. */
  passages: readonly Passage[] | null;
  history: readonly Words[];
}

interface AskedFirst extends Asked {
  /** Whether the message may go on with the question before: then what fits its words may be about something else. */
  isFollowUp: boolean;
}

/**
 * Asks the model, which words an answer from the passages. For a follow-up, and where none of them answers, it may word the search, in the language of
 * the articles, and is asked once more: two questions at most.
 */
export async function askModel(ctx: Ctx, { passages, history, isFollowUp }: AskedFirst): Promise<Outcome> {
  const maySearch = passages !== null && (isFollowUp || !passages.some(({ answers }) => answers));
  try {
    const searchIn = maySearch ? await languagesOf(ctx) : null;
    const first = await chat(ctx, { passages, history, searchIn });
    const queries = searchIn ? readSearch(first) : null;
    if (!queries) return readAnswer(first, passages);
    const found = await Promise.all(queries.map((query) => findPassages(ctx, query)));
    const better = forQuestion([...found.flat(), ...(passages ?? [])]);
    if (better.length === 0) return { cause: 'no_answer', reason: 'The knowledge base has no answer' };
    return readAnswer(await chat(ctx, { passages: better, history, searchIn: null }), better);
  } catch (error) {
    const { code = 'error', message } = error as Error & { code?: string };
    ctx.log.warn('no answer of the model', { code, message });
    return { cause: code === 'budget' ? code : 'model_failed', reason: `The model gave no answer (${code})` };
  }
}

function chat(ctx: Ctx, asked: Asked & { searchIn: readonly string[] | null }): Promise<ChatAnswer> {
  const { system_prompt: systemPrompt, temperature } = ctx.config;
  return ctx.llm.chat(questionOf({ account: ctx.account?.name ?? '', systemPrompt, temperature, ...asked }));
}

async function languagesOf(ctx: Ctx): Promise<string[]> {
  const { scope, languages } = ctx.config.knowledge;
  return scope === 'selected' && languages.length > 0 ? languages : ctx.kb.languages();
}
