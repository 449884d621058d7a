import { storableText } from '../lib/text/storable.ts';
import { ModelError, type ChatAnswer, type ToolCall } from './chat.ts';

type Fields = Record<string, unknown>;

const maxNameChars = 100;
const maxCalls = 20;

/**
 * Checks the shape of what a model server answered, which its client does not: a page of HTML with status 200 comes through
 * as a text. Throws a ModelError.
 */
export function readAnswer(given: unknown, asked: string): ChatAnswer {
  if (!isFields(given)) throw bad('The answer is no JSON object, such as one of chat completions');
  const [choice] = Array.isArray(given.choices) ? (given.choices as unknown[]) : [];
  const message = isFields(choice) ? choice.message : undefined;
  if (!isFields(choice) || !isFields(message)) throw bad('The answer has no choice with a message');
  return {
    content: readContent(message),
    tool_calls: readCalls(message),
    finish_reason: nameOf(choice.finish_reason, 'stop'),
    model: nameOf(given.model, asked),
    usage: readUsage(given.usage),
  };
}

function readContent({ content = null }: Fields): string {
  if (content === null) return '';
  if (typeof content !== 'string') throw bad('The content of the answer is no text');
  return storableText(content, content.length);
}

function readCalls({ tool_calls: calls = null }: Fields): ToolCall[] {
  if (calls === null) return [];
  if (!Array.isArray(calls)) throw bad('The tool calls of the answer are no list');
  return calls.slice(0, maxCalls).map(readCall);
}

function readCall(call: unknown): ToolCall {
  const called = isFields(call) ? call.function : undefined;
  if (!isFields(called) || typeof called.name !== 'string' || typeof called.arguments !== 'string')
    throw bad('A tool call of the answer has no name or no arguments');
  const { name, arguments: text } = called as { name: string; arguments: string };
  return { name: storableText(name, maxNameChars), arguments: storableText(text, text.length) };
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
