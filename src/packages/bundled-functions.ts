// Functions that bots import from `switchboard/bot`. They become part of a bot's bundle, so that its runs can be repeated as
// long as its code is kept. This file imports types only.
import type {
  BasicAuth,
  ChatMessage,
  Encoding,
  LanguageModel,
  RunToolsRequest,
  RunToolsResult,
  Secret,
  Tool,
  ToolCall,
} from './bot-doors.ts';

/**
 * Stands for the value of a secret that `permissions.secrets` names; only the service fills it in, and only towards the
 * hosts that the secret is bound to. `headers: { authorization: secret('SHOP_KEY', 'Bearer ') }`
 */
export function secret(name: string, prefix = ''): Secret {
  return Object.freeze({ $secret: name, prefix, toString: () => `[secret ${name}]` });
}

/**
 * The header of Basic authentication; only the service reads the secrets, as with `secret`.
 * `headers: { authorization: basicAuth(secret('SHOP_USER'), secret('SHOP_PASSWORD')) }`
 */
export function basicAuth(user: string | Secret, password: string | Secret): BasicAuth {
  return Object.freeze({ $basic: Object.freeze([user, password] as const) });
}

/**
 * The code (HMAC) of a text or of bytes, for signed requests: the service computes it, so that the secret never comes near the
 * bot. Rejects with the code `secret_missing` where the account has given no value. It is one of the calls of a run.
 * `await hmac('sha256', secret('SHOP_KEY'), body)`
 */
export function hmac(
  algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512',
  key: Secret | string | Uint8Array,
  data: string | Uint8Array,
  encoding: Encoding = 'hex',
): Promise<string> {
  return callService('crypto.hmac', { algorithm, key: sendable(key), data: sendable(data), encoding });
}

/** The digest (SHA-256) of a text or of bytes; one of the calls of a run. `await sha256(body, 'base64')` */
export function sha256(data: string | Uint8Array, encoding: Encoding = 'hex'): Promise<string> {
  return callService('crypto.sha256', { data: sendable(data), encoding });
}

/**
 * Asks the model, calls the tools that it asks for, and asks again with their answers until it answers with a text. Each call
 * gets an answer, even if its tool throws. Rejects as `ctx.llm.chat` does, and with the code `too_many_rounds` when the model
 * asks for calls in all `maxRounds` rounds (default 5); the calls of the last one are not made.
 * `const { content } = await runTools(ctx, { messages, tools: { order: { parameters, run: ({ number }) => findOrder(number) } } })`
 */
export async function runTools(
  ctx: { readonly llm: Pick<LanguageModel, 'chat'> },
  { messages, tools, maxRounds = 5, tool_choice: choice, ...request }: RunToolsRequest,
): Promise<RunToolsResult> {
  const offered = Object.entries(tools).map(([name, { description = '', parameters }]) => {
    return { name, description, parameters };
  });
  const said: ChatMessage[] = [...messages];
  for (let round = 1; round <= maxRounds; round += 1) {
    // A model that had to ask for a call in every round would never end.
    const chosen = round === 1 && choice !== undefined ? { tool_choice: choice } : {};
    const answer = await ctx.llm.chat(fitted({ ...request, ...chosen, tools: offered, messages: said }));
    const { content, tool_calls: calls } = answer;
    said.push({ role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) });
    if (calls.length === 0) return { content, messages: said, rounds: round };
    if (round < maxRounds) said.push(...(await Promise.all(calls.map((call) => answerTo(call, tools)))));
  }
  const message = `The model asked for tools in each of ${maxRounds} rounds`;
  throw Object.assign(new Error(message), { code: 'too_many_rounds' });
}

async function callService(name: string, input: object): Promise<string> {
  const call = (globalThis as { [Key in symbol]?: unknown })[Symbol.for('switchboard.call')];
  if (typeof call === 'function') return (call as (name: string, input: object) => Promise<string>)(name, input);
  const message = `Only a running bot can call the service: play it with \`simulate\``;
  throw Object.assign(new Error(message), { code: 'unavailable' });
}

// Bytes have no JSON form.
function sendable<Value>(value: Value | Uint8Array): Value | { $base64: string } {
  if (!(value instanceof Uint8Array)) return value;
  let text = '';
  for (const byte of value) text += String.fromCharCode(byte);
  return { $base64: btoa(text) };
}

/** Characters of a tool's answer; the service takes 65,536 of a whole request as JSON. */
const maxAnswerChars = 16_000;
const maxRequestChars = 60_000;
/** Answers of tools are not cut below this for the sake of a request's length. */
const leastAnswerChars = 500;
const maxErrorChars = 500;

async function answerTo(
  { id, name, arguments: given }: ToolCall,
  tools: Readonly<Record<string, Tool>>,
): Promise<ChatMessage> {
  return { role: 'tool', tool_call_id: id, content: cut(await contentFor(name, given, tools), maxAnswerChars) };
}

async function contentFor(
  name: string,
  given: ToolCall['arguments'],
  tools: Readonly<Record<string, Tool>>,
): Promise<string> {
  try {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (!tool) return failure(`There is no tool ${JSON.stringify(name)}`);
    if (typeof given === 'string') return failure('The arguments are no JSON object');
    const result = await tool.run(given);
    return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');
  } catch (error) {
    return failure(messageOf(error));
  }
}

function failure(message: string): string {
  return JSON.stringify({ error: cut(message, maxErrorChars) });
}

// Something that throws when it is made a text was thrown.
function messageOf(error: unknown): string {
  try {
    const thrown: unknown = error instanceof Error ? error.message : error;
    return String(thrown);
  } catch {
    return 'The tool failed';
  }
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
}

/** The request with its longest answers of tools cut to the half until the service takes it. */
function fitted<Request extends { messages: ChatMessage[] }>(request: Request): Request {
  const { messages } = request;
  while (JSON.stringify(request).length > maxRequestChars) {
    const answers = messages.filter(({ role }) => role === 'tool');
    const [longest] = answers.sort((one, other) => other.content.length - one.content.length);
    if (!longest || longest.content.length <= leastAnswerChars) break;
    const shorter = { ...longest, content: cut(longest.content, Math.ceil(longest.content.length / 2)) };
    messages[messages.indexOf(longest)] = shorter;
  }
  return request;
}
