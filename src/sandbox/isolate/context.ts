// Runs inside the isolate before the bot is loaded (see bootstrap.ts).
import { deepFreeze, viewOf } from './view.ts';
import type { Fields } from './view.ts';

// Methods are taken from their prototypes on purpose: they are called with Reflect.apply.
/* oxlint-disable typescript/unbound-method */

const { create, defineProperty, freeze, hasOwn } = Object;
const { isArray } = Array;
const { apply } = Reflect;
const { ceil, floor } = Math;
const { isFinite } = Number;
const { parse } = JSON;
const { getTime } = Date.prototype;
const SafeDate = Date;
const SafeError = Error;
const SafeString = String;
const SafeTypeError = TypeError;

/** Data that `ctx` is made of. */
export interface ContextData {
  event: Fields;
  handler: string;
  config: Fields;
  seed: number;
  now: number;
  run: string;
  /** Absent without the permission. */
  history?: unknown;
  /** The contact fields that the manifest does not ask for. */
  withheld?: readonly string[];
}

/** Functions behind the members of `ctx`. */
interface ContextPorts {
  queueAction: (type: string, fields: object) => void;
  writeLog: (level: string, message: unknown, fields: unknown) => void;
  callHost: (name: unknown, input?: unknown) => Promise<unknown>;
}

/** The argument of the bot's handlers, frozen. */
export function createContext(data: ContextData, ports: ContextPorts): Fields {
  const { writeLog, callHost } = ports;
  const log = {
    info: (message: unknown, fields?: unknown) => writeLog('info', message, fields),
    warn: (message: unknown, fields?: unknown) => writeLog('warn', message, fields),
    error: (message: unknown, fields?: unknown) => writeLog('error', message, fields),
  };
  const view = viewOf(data.event, data.handler);
  if (view.contact) explainMissing(view.contact as Fields, data.withheld ?? []);
  const ctx = {
    ...deepFreeze(view),
    config: deepFreeze(data.config),
    now: freeze(new SafeDate(data.now)),
    run: freeze({ id: data.run, seed: data.seed }),
    ...actionsOf(data.now, ports),
    ...doorsOf(callHost),
    log: freeze(log),
    call: callHost,
  };
  const line = '"permissions": { "history": 20 }';
  if (data.history === undefined) throwOnRead(ctx, 'history', `ctx.history: plugin.json does not ask for it: ${line}`);
  else defineValue(ctx, 'history', deepFreeze(data.history));
  return freeze(ctx);
}

// Silence about a missing field would look as if the customer had none.
function explainMissing(contact: Fields, withheld: readonly string[]): void {
  for (let index = 0; index < withheld.length; index += 1) {
    const field = withheld[index] as string;
    const line = `"permissions": { "contact": ["${field}"] }`;
    throwOnRead(contact, field, `ctx.contact.${field}: plugin.json does not ask for it: ${line}`);
  }
}

function throwOnRead(target: object, name: string, sentence: string): void {
  const descriptor = create(null) as PropertyDescriptor;
  descriptor.get = () => {
    throw new SafeTypeError(sentence);
  };
  defineProperty(target, name, descriptor);
}

function defineValue(target: object, name: string, value: unknown): void {
  const descriptor = create(null) as PropertyDescriptor;
  descriptor.value = value;
  descriptor.enumerable = true;
  defineProperty(target, name, descriptor);
}

function actionsOf(now: number, ports: ContextPorts): Fields {
  const { queueAction } = ports;
  const label = {
    add: (...titles: unknown[]) => queueAction('label', { add: titles }),
    remove: (...titles: unknown[]) => queueAction('label', { remove: titles }),
  };
  return {
    reply: (value: unknown, options?: unknown) => queueAction('reply', replyOf(value, options)),
    note: (value: unknown, options?: unknown) => queueAction('note', noteOf(value, options)),
    handoff: (value: unknown) => queueAction('handoff', fieldsOf(value, 'reason', 'ctx.handoff')),
    resolve: () => queueAction('resolve', {}),
    open: () => queueAction('open', {}),
    snooze: (at: unknown) => queueAction('snooze', { until: secondsOf(at, now, 'ctx.snooze') }),
    assign: (value: unknown) => queueAction('assign', objectOf(value, 'ctx.assign')),
    label: freeze(label),
    priority: (priority: unknown) => queueAction('priority', { priority }),
    attributes: (value: unknown) => queueAction('attributes', { attributes: objectOf(value, 'ctx.attributes') }),
    mute: () => queueAction('mute', {}),
    sla: (policy: unknown) => queueAction('sla', { sla_policy_id: policy }),
    bot: (id: unknown) => queueAction('bot', { agent_bot_id: id }),
    channel: channelOf(ports),
    schedule: (at: unknown, name: unknown, given?: unknown) =>
      queueAction('schedule', {
        at: secondsOf(at, now, 'ctx.schedule'),
        name,
        data: given === undefined ? null : given,
      }),
  };
}

// `defineChannel` turns what `send` and `check` answer, or throw, into calls of `end`.
function channelOf({ queueAction }: ContextPorts): Fields {
  return freeze({
    incoming: (message: unknown) => queueAction('incoming', incomingOf(objectOf(message, 'ctx.channel.incoming'))),
    status: (change: unknown) => queueAction('status', objectOf(change, 'ctx.channel.status')),
    refused: (reason: unknown) => errorOf('refused', reason, {}),
    later: (reason: unknown, options: unknown = {}) =>
      errorOf('later', reason, objectOf(options, 'ctx.channel.later') as Fields),
    end: (type: unknown, fields: unknown) => {
      if (type !== 'sent' && type !== 'refused' && type !== 'later' && type !== 'webhook')
        throw new SafeTypeError('ctx.channel.end');
      queueAction(type, objectOf(fields, 'ctx.channel.end'));
    },
  });
}

function incomingOf(message: object): object {
  const { at, content, ...rest } = message as Fields;
  const moment = at === undefined ? undefined : typeof at === 'number' ? floor(at) : floor(timeOf(at) / 1000);
  return { ...rest, content: content === undefined ? '' : content, ...(moment === undefined ? {} : { at: moment }) };
}

function errorOf(type: string, reason: unknown, fields: Fields): Error {
  const error = new SafeError(SafeString(reason));
  defineValue(error, 'ending', freeze({ ...fields, reason: SafeString(reason), type }));
  return error;
}

function doorsOf(callHost: ContextPorts['callHost']): Fields {
  const storageOf = (scope: string) => ({
    get: (key: unknown) => callHost('storage.get', { scope, key }),
    set: (key: unknown, value: unknown, options?: unknown) =>
      callHost('storage.set', { scope, key, value: value === undefined ? null : value, ttl: ttlOf(options) }),
    delete: (key: unknown) => callHost('storage.delete', { scope, key }),
    incr: (key: unknown, by: unknown = 1) => callHost('storage.incr', { scope, key, by }),
  });
  const storage = {
    ...storageOf('conversation'),
    conversation: freeze(storageOf('conversation')),
    contact: freeze(storageOf('contact')),
    installation: freeze(storageOf('installation')),
  };
  const fetch = async (url: unknown, options: unknown = {}): Promise<unknown> => {
    const input = { url: typeof url === 'string' ? url : SafeString(url), ...objectOf(options, 'ctx.fetch') };
    const answer = (await callHost('fetch', input)) as Fields;
    const text = answer.text as string;
    return freeze({ ...answer, headers: freeze(answer.headers), json: (): unknown => parse(text) });
  };
  return {
    storage: freeze(storage),
    fetch,
    mail: freeze({ send: (mail: unknown) => callHost('mail.send', mail) }),
    llm: freeze({
      chat: (request: unknown) => callHost('llm.chat', request),
      status: () => callHost('llm.status'),
    }),
    kb: freeze({
      search: (query: unknown, options?: unknown) => callHost('kb.search', { query, ...(options as Fields) }),
      languages: () => callHost('kb.languages'),
    }),
    tools: freeze({
      call: (name: unknown, given: unknown) => callHost('tools.call', { name, arguments: given }),
    }),
    contacts: freeze({
      find: (marks: unknown) => callHost('contacts.find', marks),
      findOrCreate: (contact: unknown) => callHost('contacts.findOrCreate', contact),
    }),
    conversations: freeze({
      open: (place: unknown) => callHost('conversations.open', place),
      find: (place: unknown) => callHost('conversations.find', place),
    }),
    current: () => callHost('current'),
    settled: () => callHost('settled'),
    replies: () => callHost('replies'),
    forward: (options?: unknown) => callHost('forward', options),
  };
}

function ttlOf(options: unknown): unknown {
  return typeof options === 'object' && options !== null ? ((options as Fields).ttl ?? null) : null;
}

/** Unix seconds of a Date or of `{inSeconds}` from now; the run's clock stands still. */
function secondsOf(at: unknown, now: number, member: string): number {
  const given = typeof at === 'object' && at !== null && hasOwn(at, 'inSeconds') ? (at as Fields).inSeconds : null;
  const ms = given === null ? timeOf(at) : typeof given === 'number' ? now + given * 1000 : NaN;
  if (!isFinite(ms)) throw new SafeTypeError(`${member} takes a Date or { inSeconds: 60 }`);
  return ceil(ms / 1000);
}

function timeOf(date: unknown): number {
  try {
    return apply(getTime, date, []);
  } catch {
    return NaN;
  }
}

function objectOf(value: unknown, member: string): object {
  if (typeof value === 'object' && value !== null && !isArray(value)) return value;
  throw new SafeTypeError(`${member} takes an object`);
}

// Choices and cards become the fields that messages have.
function replyOf(value: unknown, options: unknown): object {
  const given = fieldsOf(value, 'content', 'ctx.reply');
  const all: Fields = options === undefined ? { ...given } : { ...given, ...objectOf(options, 'ctx.reply') };
  const { input_select: choices, cards, ...fields } = all;
  if (choices !== undefined && cards !== undefined) throw new SafeTypeError('ctx.reply takes input_select or cards');
  const text = fields.content === undefined && fields.attachments !== undefined ? { content: '' } : {};
  const shown = choices === undefined ? cards : choices;
  if (shown === undefined) return { ...fields, ...text };
  return {
    ...fields,
    ...text,
    content_type: choices === undefined ? 'cards' : 'input_select',
    content_attributes: { ...(fields.content_attributes as object), ...objectOf(shown, 'ctx.reply') },
  };
}

function noteOf(value: unknown, options: unknown): object {
  const given = fieldsOf(value, 'content', 'ctx.note');
  return options === undefined ? given : { ...given, ...objectOf(options, 'ctx.note') };
}

function fieldsOf(value: unknown, textField: string, member: string): object {
  if (typeof value === 'string') return { [textField]: value };
  if (typeof value === 'object' && value !== null && !isArray(value)) return value;
  throw new SafeTypeError(`${member} takes a text or an object, not ${value === null ? 'null' : typeof value}`);
}
