import type { ChatAnswer, HandoffCause, Passage } from 'switchboard/bot';
import { cleanText, cleanTitle } from './clean-text.ts';
import { withoutHtml } from './html.ts';
import { removeLinks } from './links.ts';

/** A text for the customer, with the ids of the articles that it is from, and whether it only offers them. */
export interface Reply {
  text: string;
  sources: readonly number[];
  isOffer: boolean;
  /** Whether it is from a result of a tool. */
  isFromTool: boolean;
}

/** The result of a question: a reply, or the cause and reason of a handoff. */
export type Outcome = Reply | { cause: HandoffCause; reason: string };

interface Answer {
  text: string;
  citations: readonly number[];
  citesTool?: boolean;
}

type Fields = Record<string, unknown>;

const maxCalls = 3;
const maxChars = 20_000;
const maxReasonChars = 400;
/** Characters of a greeting or of a question back. */
const maxTalkChars = 300;
/** Stands behind what is from a tool's result; customers do not get it. */
const toolMarker = /\s?\[tools?\]/gi;
const marker = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g;

/**
 * Reads what a model answered; nobody vouches for it. `passages` are those that it was given, null when it answers alone:
 * then it has nothing to cite. `hasResult` tells whether a tool has told it something, which it may cite, too.
 */
export function readAnswer(chat: ChatAnswer, passages: readonly Passage[] | null, hasResult = false): Outcome {
  const { content, tool_calls: calls, finish_reason: end } = chat;
  const chars = calls.reduce(
    (sum, call) => sum + call.name.length + JSON.stringify(call.arguments).length,
    content.length,
  );
  if (calls.length > maxCalls) return invalid(`${calls.length} calls`);
  if (chars > maxChars) return invalid(`${chars} characters`);
  if (calls.length > 0) return readCalls(calls, { passages, hasResult });
  return end === 'length' ? invalid('cut off') : settle({ text: content, citations: [] }, passages, hasResult);
}

/** Characters of a search that a model words, and searches that are made. */
const [maxQueryChars, maxQueries] = [300, 3];

/** The searches that a model asks for instead of an answer; null when it asks for none that can be made. */
export function readSearch({ tool_calls: calls }: ChatAnswer): string[] | null {
  const [first] = calls.slice(0, maxCalls).filter(({ name }) => name === 'search');
  const queries = first && typeof first.arguments !== 'string' ? first.arguments['queries'] : null;
  if (!Array.isArray(queries)) return null;
  const texts = queries.filter((query): query is string => typeof query === 'string' && query.trim() !== '');
  return texts.length === 0 ? null : texts.slice(0, maxQueries).map((query) => query.slice(0, maxQueryChars));
}

interface Sources {
  passages: readonly Passage[] | null;
  hasResult: boolean;
}

function readCalls(calls: ChatAnswer['tool_calls'], sources: Sources): Outcome {
  const read = calls.map(({ name, arguments: given }) => ({ name, given: typeof given === 'string' ? null : given }));
  if (read.some(({ name }) => name === 'search')) return unknown('The knowledge base has no answer');
  const wrong = read.find(({ name, given }) => !given || !['answer', 'talk', 'handoff'].includes(name));
  if (wrong) return invalid(wrong.given ? 'an unknown call' : 'arguments that are no JSON');
  const handoff = read.find(({ name }) => name === 'handoff')?.given;
  if (handoff) return requested(handoff);
  const answered = read.find(({ name }) => name === 'answer')?.given;
  return answered ? readFacts(answered, sources) : talk(read[0]?.given ?? {});
}

function readFacts({ text, citations = [], confident }: Fields, { passages, hasResult }: Sources): Outcome {
  if (typeof text !== 'string') return invalid('an answer without a text');
  if (!Array.isArray(citations)) return invalid('citations that are no list');
  if (confident === false) return unknown('The model is not sure of its answer');
  const numbers = citations.filter((one) => Number.isSafeInteger(one)) as number[];
  return settle({ text, citations: numbers, citesTool: citations.includes('tool') }, passages, hasResult);
}

/** Greetings, thanks and questions back need no source. Facts have numbers more often than not, and need one. */
function talk({ text }: Fields): Outcome {
  if (typeof text !== 'string') return invalid('a talk without a text');
  if (text.length > maxTalkChars) return invalid(`a talk of ${text.length} characters`);
  if (/\p{N}/u.test(text)) return unknown('The model states a number without a source');
  const said = withoutHtml(text).trim();
  if (said === '') return invalid('a talk without a text');
  if (removeLinks(said, []) !== said) return invalid('a talk with a link');
  return { text: said, sources: [], isOffer: false, isFromTool: false };
}

/** The answer as the customer gets it: with its sources, and without links to anywhere else. */
export function settle(
  { text, citations, citesTool = false }: Answer,
  passages: readonly Passage[] | null,
  hasResult = false,
): Outcome {
  const marked = [...text.matchAll(marker)].flatMap(([, numbers = '']) => numbers.split(',').map(Number));
  const wanted = [...new Set([...marked, ...citations])];
  const cited = wanted.filter((number) => passages?.[number - 1]);
  const unmarked = text.replace(toolMarker, '');
  const isFromTool = hasResult && (citesTool || unmarked !== text);
  if (passages && cited.length === 0 && !isFromTool) return unknown('The model cites no passage');
  const sources = cited.flatMap((number) => passages?.[number - 1] ?? []);
  const urls = sources.flatMap(({ url }) => url ?? []);
  const said = cleanText(passages ? renumber(unmarked, cited) : unmarked, urls).trim();
  if (said === '') return invalid('an empty answer');
  const list = sources.map((source, index) => {
    const { url } = source;
    return `[${index + 1}] ${cleanTitle(source, urls)}${url === null ? '' : `: ${url}`}`;
  });
  const whole = list.length === 0 ? said : `${said}\n\n${list.join('\n')}`;
  if (whole.length > maxChars) return invalid(`${whole.length} characters with its sources`);
  return { text: whole, sources: sources.map(({ id }) => id), isOffer: false, isFromTool };
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
  const told = cleanText(words.join('. ').replace(/\s+/g, ' '), []).slice(0, maxReasonChars).toWellFormed();
  return { cause: 'requested_by_model', reason: `The model asks for a person${told === '' ? '' : `: ${told}`}` };
}

function invalid(what: string): Outcome {
  return { cause: 'model_failed', reason: `The model gave no valid answer (${what})` };
}

function unknown(reason: string): Outcome {
  return { cause: 'no_answer', reason };
}
