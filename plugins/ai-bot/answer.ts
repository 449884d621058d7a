import type { ChatAnswer, HandoffCause, Passage } from 'switchboard/bot';
import { hostOf, removeLinks } from './links.ts';

/** The result of a question: an answer, or the cause and reason of a handoff. */
export type Outcome = { text: string } | { cause: HandoffCause; reason: string };

interface Answer {
  text: string;
  citations: readonly number[];
}

type Fields = Record<string, unknown>;

const maxCalls = 3;
const maxChars = 20_000;
const maxReasonChars = 400;
const marker = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g;

/**
 * Reads what a model answered; nobody vouches for it. `passages` are those that it was given, null when it answers alone:
 * then it has nothing to cite.
 */
export function readAnswer(chat: ChatAnswer, passages: readonly Passage[] | null): Outcome {
  const { content, tool_calls: calls, finish_reason: end } = chat;
  const chars = calls.reduce(
    (sum, call) => sum + call.name.length + JSON.stringify(call.arguments).length,
    content.length,
  );
  if (calls.length > maxCalls) return invalid(`${calls.length} calls`);
  if (chars > maxChars) return invalid(`${chars} characters`);
  if (calls.length > 0) return readCalls(calls, passages);
  return end === 'length' ? invalid('cut off') : settle({ text: content, citations: [] }, passages);
}

function readCalls(calls: ChatAnswer['tool_calls'], passages: readonly Passage[] | null): Outcome {
  const read = calls.map(({ name, arguments: given }) => ({ name, given: typeof given === 'string' ? null : given }));
  const wrong = read.find(({ name, given }) => !given || (name !== 'answer' && name !== 'handoff'));
  if (wrong) return invalid(wrong.given ? 'an unknown call' : 'arguments that are no JSON');
  const handoff = read.find(({ name }) => name === 'handoff')?.given;
  if (handoff) return requested(handoff);
  const { text, citations = [], confident } = read[0]?.given ?? {};
  if (typeof text !== 'string') return invalid('an answer without a text');
  if (!Array.isArray(citations)) return invalid('citations that are no list');
  if (confident === false) return unknown('The model is not sure of its answer');
  return settle({ text, citations: citations.filter((one) => Number.isSafeInteger(one)) as number[] }, passages);
}

/** The answer as the customer gets it: with its sources, and without links to anywhere else. */
export function settle({ text, citations }: Answer, passages: readonly Passage[] | null): Outcome {
  const marked = [...text.matchAll(marker)].flatMap(([, numbers = '']) => numbers.split(',').map(Number));
  const wanted = [...new Set([...marked, ...citations])];
  const cited = wanted.filter((number) => passages?.[number - 1]);
  if (passages && cited.length === 0) return unknown('The model cites no passage');
  const sources = cited.flatMap((number) => passages?.[number - 1] ?? []);
  const hosts = sources.flatMap(({ url }) => (url === null ? [] : [hostOf(url)]));
  const said = removeLinks(passages ? renumber(text, cited) : text, hosts).trim();
  if (said === '') return invalid('an empty answer');
  const list = sources.map(({ title, url }, index) => `[${index + 1}] ${title}${url === null ? '' : `: ${url}`}`);
  const whole = list.length === 0 ? said : `${said}\n\n${list.join('\n')}`;
  return whole.length > maxChars ? invalid(`${whole.length} characters with its sources`) : { text: whole };
}

// The numbers count the sources below the answer; those of no source go.
function renumber(text: string, cited: readonly number[]): string {
  return text.replace(marker, (_, numbers: string) => {
    const known = numbers.split(',').map((number) => cited.indexOf(Number(number)) + 1);
    return known
      .filter((place) => place > 0)
      .map((place) => `[${place}]`)
      .join('');
  });
}

function requested({ reason, summary }: Fields): Outcome {
  const words = [reason, summary].filter((word): word is string => typeof word === 'string' && word.trim() !== '');
  const told = removeLinks(words.join('. ').replace(/\s+/g, ' '), []).slice(0, maxReasonChars).toWellFormed();
  return { cause: 'requested_by_model', reason: `The model asks for a person${told === '' ? '' : `: ${told}`}` };
}

function invalid(what: string): Outcome {
  return { cause: 'model_failed', reason: `The model gave no valid answer (${what})` };
}

function unknown(reason: string): Outcome {
  return { cause: 'no_answer', reason };
}
