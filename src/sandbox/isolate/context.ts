// Runs inside the isolate before the bot is loaded (see bootstrap.ts).
import { deepFreeze, viewOf } from './view.ts';
import type { Fields } from './view.ts';

const { freeze } = Object;
const { isArray } = Array;
const SafeDate = Date;
const SafeTypeError = TypeError;

/** What `ctx` is made of. */
export interface ContextData {
  event: Fields;
  handler: string;
  config: Fields;
  seed: number;
  now: number;
  run: string;
}

/** What members of `ctx` do. */
interface ContextPorts {
  queueAction: (type: string, fields: object) => void;
  writeLog: (level: string, message: unknown, fields: unknown) => void;
  callHost: (name: unknown, input?: unknown) => Promise<unknown>;
}

/** The argument of the bot's handlers, frozen. */
export function createContext(data: ContextData, { queueAction, writeLog, callHost }: ContextPorts): Fields {
  const label = {
    add: (...titles: unknown[]) => queueAction('label', { add: titles }),
    remove: (...titles: unknown[]) => queueAction('label', { remove: titles }),
  };
  const log = {
    info: (message: unknown, fields?: unknown) => writeLog('info', message, fields),
    warn: (message: unknown, fields?: unknown) => writeLog('warn', message, fields),
    error: (message: unknown, fields?: unknown) => writeLog('error', message, fields),
  };
  return freeze({
    ...deepFreeze(viewOf(data.event, data.handler)),
    config: deepFreeze(data.config),
    now: freeze(new SafeDate(data.now)),
    run: freeze({ id: data.run, seed: data.seed }),
    reply: (value: unknown) => queueAction('reply', fieldsOf(value, 'content', 'ctx.reply')),
    note: (value: unknown) => queueAction('note', fieldsOf(value, 'content', 'ctx.note')),
    handoff: (value: unknown) => queueAction('handoff', fieldsOf(value, 'reason', 'ctx.handoff')),
    label: freeze(label),
    log: freeze(log),
    call: callHost,
  });
}

function fieldsOf(value: unknown, textField: string, member: string): object {
  if (typeof value === 'string') return { [textField]: value };
  if (typeof value === 'object' && value !== null && !isArray(value)) return value;
  throw new SafeTypeError(`${member} takes a text or an object, not ${value === null ? 'null' : typeof value}`);
}
