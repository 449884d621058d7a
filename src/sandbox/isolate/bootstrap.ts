// The files of this folder, stripped of types, run inside every isolate before the bot does. The bot can change every
// object that it can reach. Therefore every built-in that is needed later is captured here, before the bot is loaded;
// lists are kept as texts, because assigning to an index may call a setter that the bot put on Array.prototype; and
// JSON is concatenated, because the bot may define a toJSON on Object.prototype.

// Methods are taken from their prototypes on purpose: they are called with Reflect.apply.
/* oxlint-disable typescript/unbound-method */

import { harden } from './harden.ts';
import { createContext } from './context.ts';
import { findConflict } from './endings.ts';
import { defineGlobals } from './globals.ts';
import type { ContextData } from './context.ts';
import type { Fields } from './view.ts';
import type { RunOutcome } from '../run.ts';

interface Start extends ContextData {
  seed: number;
  bounds: Bounds;
  /** See Bundle. */
  part?: string;
}

interface Bounds {
  actions: number;
  replies: number;
  calls: number;
  outputChars: number;
  callInputChars: number;
  logLines: number;
  logChars: number;
  logLineChars: number;
  errorChars: number;
  handlers: number;
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

interface Answer {
  id: number;
  value?: unknown;
  error?: { code: string; message: string };
}

const { parse, stringify } = JSON;
const { create, defineProperty, hasOwn, keys } = Object;
const { apply } = Reflect;
const { isArray } = Array;
const SafeError = Error;
const SafePromise = Promise;
const SafeString = String;
const SafeSyntaxError = SyntaxError;
const SafeTypeError = TypeError;
const symbolToString = Symbol.prototype.toString;
const textSlice = String.prototype.slice;
const textToWellFormed = String.prototype.toWellFormed;
// Under another name, eval is indirect: it runs its text as a global script that sees none of this file's variables,
// and there is no wrapper function whose braces the bot could close.
const { eval: evaluateScript } = globalThis;

const progress = { isDone: false, outcome: 'ok' as RunOutcome, error: '', handlers: '' };
const actions = { text: '', count: 0, replies: 0 };
const logs = { count: 0, chars: 0 };
const calls = { text: '', count: 0, open: 0 };
const waiting = create(null) as Record<number, Waiting>;
let bounds: Bounds;
let tell: (line: string) => void;
// Resolves the wait for the calls that are under way when the handler ends.
let whenAnswered: (() => void) | null = null;

/**
 * Loads the bot and calls its handler; `input` is the JSON of a Start. `collect` returns the result; `tellLine` gets each
 * line of the log at once, for runs that are killed.
 */
export function start(code: string, input: string, tellLine: (line: string) => void): void {
  const request = parse(input) as Start;
  ({ bounds } = request);
  tell = tellLine;
  const { now, seed, event } = request;
  harden(now, seed);
  defineGlobals({ now, seed, eventId: event.id, callHost });
  void runHandler(request, code);
}

/** Resolves or rejects the pending host calls; `answersText` is the JSON of a list of answers. */
export function resume(answersText: string): void {
  const answers = parse(answersText) as Answer[];
  for (let index = 0; index < answers.length; index += 1) {
    const answer = answers[index] as Answer;
    const { id } = answer;
    const call = waiting[id];
    if (!call) continue;
    delete waiting[id];
    calls.open -= 1;
    if (!hasOwn(answer, 'error') || answer.error === undefined) call.resolve(answer.value);
    else call.reject(errorWithCode(answer.error));
  }
  if (calls.open === 0 && whenAnswered !== null) whenAnswered();
}

/** The run's state after a slice, when no microtask is left to run: the JSON of a Step (wire.ts). */
export function collect(): string {
  if (!progress.isDone && calls.open > 0) {
    const requests = calls.text;
    calls.text = '';
    return `{"state":"waiting","requests":[${requests}]}`;
  }
  // The handler threw, and `onError` waits for something that cannot happen.
  if (!progress.isDone && progress.error !== '') finish('threw', progress.error);
  if (!progress.isDone) return '{"state":"never_settled"}';
  const kept = progress.outcome === 'ok' ? actions.text : '';
  const error = progress.error === '' ? '' : `,"error":${stringify(cut(progress.error, bounds.errorChars))}`;
  const handlers = progress.outcome === 'no_handler' ? `,"handlers":[${progress.handlers}]` : '';
  return `{"state":"done","outcome":"${progress.outcome}","actions":[${kept}]${error}${handlers}}`;
}

async function runHandler(request: Start, code: string): Promise<void> {
  const ctx = createContext(request, { queueAction, writeLog, callHost });
  const bot = loadBot(code, request.part);
  if (bot === null) return;
  const on = bot.on as Fields;
  try {
    const handler = hasOwn(on, request.handler) ? on[request.handler] : undefined;
    if (typeof handler !== 'function') {
      progress.handlers = listHandlers(on);
      finish('no_handler', `The bot has no handler for ${request.handler}`);
      return;
    }
    await apply(handler as (ctx: unknown) => unknown, on, [ctx]);
    // A call that the handler did not wait for is part of the run too.
    while (calls.open > 0) await answersOfAll();
    finish('ok', '');
  } catch (error) {
    if (!progress.isDone) await endWithError(bot, ctx, error);
  }
}

function answersOfAll(): Promise<void> {
  return new SafePromise((resolve) => {
    whenAnswered = resolve;
  });
}

/** Lets the bot log why it failed; it can do nothing else any more. */
async function endWithError(bot: Fields, ctx: Fields, error: unknown): Promise<void> {
  progress.error = describe(error);
  try {
    if (typeof bot.onError === 'function')
      await apply(bot.onError as (...given: unknown[]) => unknown, bot, [ctx, error]);
  } catch (second) {
    writeLog('error', 'onError threw', describe(second));
  }
  finish('threw', progress.error);
}

function queueAction(type: string, fields: object): void {
  checkUnderWay(`ctx.${type}`);
  const conflict = findConflict(type);
  if (conflict !== null) refuse('invalid_actions', conflict);
  const text = stringify({ ...fields, type });
  if (text === undefined) throw new SafeTypeError(`ctx.${type}: this value has no JSON form`);
  actions.count += 1;
  if (type === 'reply') actions.replies += 1;
  if (actions.count > bounds.actions) refuse('too_many_actions', `A run may return ${bounds.actions} actions`);
  if (actions.replies > bounds.replies) refuse('too_many_actions', `A run may reply ${bounds.replies} times`);
  if (actions.text.length + text.length > bounds.outputChars) {
    refuse('output_too_large', `The actions of a run may have ${bounds.outputChars} characters in all`);
  }
  actions.text += actions.text === '' ? text : `,${text}`;
}

function checkUnderWay(member: string): void {
  if (progress.isDone) throw new SafeError('This run is over');
  if (progress.error !== '') throw new SafeError(`${member}: onError may log and nothing else`);
}

/** Ends the run and throws: the bot can catch the error, but the outcome is final. */
function refuse(outcome: RunOutcome, message: string): never {
  finish(outcome, message);
  throw new SafeError(message);
}

function finish(outcome: RunOutcome, error: string): void {
  if (progress.isDone) return;
  progress.isDone = true;
  progress.outcome = outcome;
  progress.error = error;
}

function writeLog(level: string, message: unknown, fields: unknown): void {
  if (progress.isDone || logs.count > bounds.logLines) return;
  const inside = lineOf(message, fields);
  logs.count += 1;
  logs.chars += inside.length;
  const isFull = logs.count > bounds.logLines || logs.chars > bounds.logChars;
  if (isFull) logs.count = bounds.logLines + 1;
  tell(isFull ? '{"level":"warn","message":"… the rest of the log is left out"}' : `{"level":"${level}",${inside}}`);
}

/** The inside of a line as JSON; fields that are no object, or too long, become a part of the message. */
function lineOf(message: unknown, fields: unknown): string {
  const words = typeof message === 'string' ? message : describe(message);
  const given = fields === undefined ? '' : (stringify(fields) ?? '');
  const areFields = !isArray(fields) && given[0] === '{' && given.length <= bounds.logLineChars;
  const rest = given === '' || areFields ? '' : ` ${given}`;
  return `"message":${stringify(cut(words + rest, bounds.logLineChars))}${areFields ? `,"fields":${given}` : ''}`;
}

function cut(text: string, length: number): string {
  return apply(textToWellFormed, apply(textSlice, text, [0, length]), []);
}

/** A text for a thrown value. May run getters of the bot, so it must only be called under a time limit. */
function describe(thrown: unknown): string {
  try {
    if (typeof thrown === 'symbol') return cut(apply(symbolToString, thrown, []), bounds.errorChars);
    if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) {
      return cut(SafeString(thrown), bounds.errorChars);
    }
    const { stack, message } = thrown as Fields;
    if (typeof stack === 'string' && stack !== '') return cut(stack, bounds.errorChars);
    if (typeof message === 'string' && message !== '') return cut(message, bounds.errorChars);
    return cut(stringify(thrown) ?? 'a function', bounds.errorChars);
  } catch {
    return 'something that cannot be described';
  }
}

function callHost(name: unknown, input: unknown): Promise<unknown> {
  if (typeof name !== 'string') throw new SafeTypeError('ctx.call: the name is a text');
  if (!progress.isDone) checkUnderWay('ctx.call');
  const inputText = stringify(input) ?? 'null';
  if (name.length + inputText.length > bounds.callInputChars) {
    throw new SafeError(`ctx.call: the input may have ${bounds.callInputChars} characters as JSON`);
  }
  calls.count += 1;
  if (calls.count > bounds.calls) finish('too_many_calls', `A run may call the service ${bounds.calls} times`);
  // A promise that never resolves: an error could be caught and the call repeated in an endless loop.
  if (progress.isDone) return new SafePromise(() => undefined);
  const id = calls.count;
  const text = `{"id":${id},"name":${stringify(name)},"input":${inputText}}`;
  calls.text += calls.text === '' ? text : `,${text}`;
  calls.open += 1;
  return new SafePromise((resolve, reject) => {
    waiting[id] = { resolve, reject };
  });
}

/** The bot, whose `on` holds its handlers by event name; null when it cannot be loaded, with the outcome set. */
function loadBot(code: string, part: string | undefined): Fields | null {
  try {
    const value = evaluateScript(`"use strict";${code}\n//# sourceURL=bot.js`) as Fields | undefined;
    const loaded = part === undefined ? value : value && (value[part] as () => Fields)();
    const bot = loaded?.default;
    const { on, onError } = (bot ?? {}) as Fields;
    if (typeof on === 'object' && on !== null) return { on: on, onError };
    finish('load_failed', 'The main file has no `export default defineBot({ on: { … } })`');
  } catch (error) {
    const isSyntax = error instanceof SafeSyntaxError;
    finish('load_failed', `${isSyntax ? 'The code is not valid: ' : 'Loading the bot threw: '}${describe(error)}`);
  }
  return null;
}

function listHandlers(on: Fields): string {
  const names = keys(on);
  let text = '';
  for (let index = 0; index < names.length && index < bounds.handlers; index += 1) {
    const name = names[index];
    if (name !== undefined && typeof on[name] === 'function')
      text += `${text === '' ? '' : ','}${stringify(cut(name, 255))}`;
  }
  return text;
}

function errorWithCode({ code, message }: { code: string; message: string }): Error {
  const descriptor = create(null) as PropertyDescriptor;
  descriptor.value = code;
  descriptor.enumerable = true;
  return defineProperty(new SafeError(message), 'code', descriptor);
}
