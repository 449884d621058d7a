import type { Action, RecordedCall } from '../sandbox/run.ts';

/** Tokens of models that a run took. */
export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
}

interface Answer {
  model?: unknown;
  finish_reason?: unknown;
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown };
}

interface Passage {
  id?: unknown;
  title?: unknown;
  url?: unknown;
  score?: unknown;
}

const maxTokens = 2 ** 31 - 1;

/** Returns the tokens of a run's recorded calls, as the service counted them. */
export function tokensOf(calls: readonly Pick<RecordedCall, 'name' | 'output'>[]): TokenUsage {
  const answers = calls
    .filter(({ name, output }) => name === 'llm.chat' && output)
    .map(({ output }) => output as Answer);
  const sum = (count: (answer: Answer) => unknown) =>
    answers.reduce((total, answer) => Math.min(maxTokens, total + (Number(count(answer)) || 0)), 0);
  return {
    promptTokens: sum(({ usage }) => usage?.prompt_tokens),
    completionTokens: sum(({ usage }) => usage?.completion_tokens),
  };
}

/** How a run used models and knowledge base, from its record; null when it asked neither. */
export function usageOf(calls: readonly RecordedCall[], actions: readonly unknown[]) {
  const chats = calls.filter(({ name }) => name === 'llm.chat');
  const searches = calls.filter(({ name }) => name === 'kb.search');
  if (chats.length + searches.length === 0) return null;
  const last = chats.at(-1)?.output as Answer | undefined;
  const { promptTokens, completionTokens } = tokensOf(chats);
  const found = searches.flatMap(({ output }) => (Array.isArray(output) ? (output as Passage[]) : []));
  const handoff = (actions as Action[]).find((action) => action.type === 'handoff');
  return {
    model: textOrNull(last?.model),
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    ms: [...chats, ...searches].reduce((sum, { ms }) => sum + ms, 0),
    finish_reason: textOrNull(last?.finish_reason) ?? chats.at(-1)?.error?.code ?? null,
    passages: found.map(({ id, title, url, score }) => ({
      article_id: Number(id),
      title: String(title),
      url: textOrNull(url),
      score: Number(score),
    })),
    handoff_reason: handoff ? (handoff.cause ?? 'plugin') : null,
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
