import type { ChatAnswer, Passage } from 'switchboard/bot';
import { readAnswer, readSearch, type Outcome } from './answer.ts';
import type { Ctx } from './bot.ts';
import { questionOf, type Words } from './prompt.ts';
import { findPassages, forQuestion } from './questions.ts';
import { ToolCalls } from './tools.ts';

interface Asked {
  /** Null when the model answers without the knowledge base. */
  passages: readonly Passage[] | null;
  history: readonly Words[];
}

interface AskedFirst extends Asked {
  /** Whether the message may go on with the question before: then what fits its words may be about something else. */
  isFollowUp: boolean;
}

/** Questions to the model for one message: one with what a search found, or several with results of tools. */
const maxQuestions = 4;

/**
 * Asks the model, which words an answer from the passages and from results of the account's tools. For a follow-up, and where
 * none of the passages answers, it may word the search once, in the language of the articles.
 */
export async function askModel(ctx: Ctx, asked: AskedFirst): Promise<Outcome> {
  try {
    return await converse(ctx, asked);
  } catch (error) {
    const { code = 'error', message } = error as Error & { code?: string };
    ctx.log.warn('no answer of the model', { code, message });
    return { cause: code === 'budget' ? code : 'model_failed', reason: `The model gave no answer (${code})` };
  }
}

async function converse(ctx: Ctx, asked: AskedFirst): Promise<Outcome> {
  const { history } = asked;
  const tools = new ToolCalls(ctx.config.tools, {
    call: (name, given) => ctx.tools.call(name, given),
    warn: (text, fields) => ctx.log.warn(text, fields),
  });
  let { passages } = asked;
  let searchIn = await languagesToSearch(ctx, asked);
  for (let question = 1; question < maxQuestions; question += 1) {
    const { offered } = tools;
    const answer = await chat(ctx, { passages, history, searchIn, offered, tools });
    if (offered.length > 0 && tools.isAsked(answer)) {
      await tools.make(answer);
      continue;
    }
    const queries = searchIn ? readSearch(answer) : null;
    if (!queries) return outcomeOf(answer, passages, tools);
    searchIn = null;
    passages = forQuestion([...(await searchAll(ctx, queries)), ...(passages ?? [])]);
    if (passages.length === 0 && offered.length === 0)
      return { cause: 'no_answer', reason: 'The knowledge base has no answer' };
  }
  const last = await chat(ctx, { passages, history, searchIn: null, offered: [], tools });
  return outcomeOf(last, passages, tools);
}

function outcomeOf(answer: ChatAnswer, passages: Asked['passages'], tools: ToolCalls): Outcome {
  if (tools.isAsked(answer)) return { cause: 'no_answer', reason: 'The model asks for tools again and again' };
  return readAnswer(answer, passages, tools.hasResult);
}

async function searchAll(ctx: Ctx, queries: readonly string[]): Promise<Passage[]> {
  return (await Promise.all(queries.map((query) => findPassages(ctx, query)))).flat();
}

interface Turn extends Asked {
  searchIn: readonly string[] | null;
  offered: ToolCalls['offered'];
  tools: ToolCalls;
}

function chat(ctx: Ctx, { tools, ...asked }: Turn): Promise<ChatAnswer> {
  const { system_prompt: systemPrompt, temperature } = ctx.config;
  const account = ctx.account?.name ?? '';
  return ctx.llm.chat(questionOf({ account, systemPrompt, temperature, turns: tools.turns, ...asked }));
}

/** Languages in which the model may word the search; null when it may not. */
async function languagesToSearch(ctx: Ctx, { passages, isFollowUp }: AskedFirst): Promise<string[] | null> {
  const maySearch = passages !== null && (isFollowUp || !passages.some(({ answers }) => answers));
  if (!maySearch) return null;
  const { scope, languages } = ctx.config.knowledge;
  return scope === 'selected' && languages.length > 0 ? languages : ctx.kb.languages();
}
