import { storableText } from '../lib/text/storable.ts';
import { findUnsafeValue } from '../lib/text/unsafe-value.ts';
import { ModelError, type ChatAnswer, type ChatMessage, type ToolCall } from './chat.ts';

type Fields = Record<string, unknown>;

const maxNameChars = 100;
/** Calls of one answer; the bot gets no others. */
const maxCalls = 20;

/**
 * Checks the shape of what a model server answered, which its client does not: a page of HTML with status 200 comes through
 * as a text. `messages` are those of the question. Throws a ModelError.
 */
export function readAnswer(given: unknown, asked: string, messages: readonly ChatMessage[]): ChatAnswer {
  if (!isFields(given)) throw bad('The answer is no JSON object, such as one of chat completions');
  const [choice] = Array.isArray(given.choices) ? (given.choices as unknown[]) : [];
  const message = isFields(choice) ? choice.message : undefined;
  if (!isFields(choice) || !isFields(message)) throw bad('The answer has no choice with a message');
  const { refusal } = message;
  const isRefusal = typeof refusal === 'string' && refusal !== '';
  return {
    content: readContent(isRefusal ? refusal : message.content),
    tool_calls: readCalls(message, messages),
    finish_reason: isRefusal ? 'refusal' : nameOf(choice.finish_reason, 'stop'),
    model: nameOf(given.model, asked),
    usage: readUsage(given.usage),
  };
}

function readContent(content: unknown = null): string {
  if (content === null) return '';
  const text = Array.isArray(content) ? content.map(textOfPart).join('') : content;
  if (typeof text !== 'string') throw bad('The content of the answer is no text');
  return storableText(text, text.length);
}

// Some servers answer in parts, of which those that show how the model thought are no text.
function textOfPart(part: unknown): string {
  return isFields(part) && typeof part.text === 'string' ? part.text : '';
}

function readCalls({ tool_calls: calls = null }: Fields, messages: readonly ChatMessage[]): ToolCall[] {
  if (calls === null) return [];
  if (!Array.isArray(calls)) throw bad('The tool calls of the answer are no list');
  const used = new Set(messages.flatMap(({ tool_calls: earlier = [] }) => earlier.map(({ id }) => id)));
  return calls.slice(0, maxCalls).map((call) => readCall(call, used));
}

function readCall(call: unknown, used: Set<string>): ToolCall {
  const called = isFields(call) ? call.function : undefined;
  if (!isFields(call) || !isFields(called) || typeof called.name !== 'string')
    throw bad('A tool call of the answer has no name');
  const id = idOf(call.id, used);
  used.add(id);
  return { id, name: storableText(called.name, maxNameChars), arguments: readArguments(called.arguments) };
}

/** The id of a call. Servers leave it out or repeat it: ours has nine letters and digits, as one of them demands. */
function idOf(given: unknown, used: ReadonlySet<string>): string {
  const isUsable = typeof given === 'string' && given.trim() !== '' && given === storableText(given, maxNameChars);
  if (isUsable && !used.has(given)) return given;
  let count = used.size;
  const own = () => `call${String(count).padStart(5, '0')}`;
  while (used.has(own())) count += 1;
  return own();
}

// A text, as it should be; or an object, or nothing where the tool takes none.
function readArguments(given: unknown): ToolCall['arguments'] {
  if (typeof given === 'string') return readText(given);
  const problem = findUnsafeValue(given);
  if (problem) throw bad(`The arguments of a tool call: ${problem.message}`);
  return isFields(given) ? given : readText(JSON.stringify(given ?? {}));
}

function readText(text: string): ToolCall['arguments'] {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value) && findUnsafeValue(value) === null) return value;
  } catch {
    // Models write what is no JSON.
  }
  return storableText(text, text.length);
}

// Servers that do not count say nothing.
function readUsage(usage: unknown): ChatAnswer['usage'] {
  const { prompt_tokens: prompt, completion_tokens: completion } = isFields(usage) ? usage : {};
  return { prompt_tokens: countOf(prompt), completion_tokens: countOf(completion) };
}

function countOf(value: unknown): number {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
  return isCount ? Math.min(value as number, 2 ** 31 - 1) : 0;
}

function nameOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? storableText(value, maxNameChars) : otherwise;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(message: string): ModelError {
  return new ModelError('bad_answer', message);
}
