// Runs inside the isolate before the bot is loaded (see bootstrap.ts).
import { fromBase64, textDecoder, textEncoder, toBase64 } from './encoding.ts';
import { uuidsFrom } from './uuid.ts';

const { create, defineProperty, freeze } = Object;

/** Values that globals depend on. */
interface GlobalData {
  seed: number;
  now: number;
  eventId: unknown;
  /** Calls the service, for functions of `switchboard/bot` that get no `ctx`. */
  callHost: unknown;
}

/**
 * Defines the globals that bots know from browsers and Node, but for those of child/library-globals.ts. Most bots use none:
 * each is made when it is read first.
 */
export function defineGlobals({ seed, now, eventId, callHost }: GlobalData): void {
  const uuids = () => uuidsFrom(seed, now, typeof eventId === 'number' ? eventId : 0);
  defineLate('TextEncoder', textEncoder);
  defineLate('TextDecoder', textDecoder);
  define('atob', fromBase64);
  define('btoa', toBase64);
  defineLate('crypto', () => freeze({ ['randomUUID']: uuids() }));
  define(Symbol.for('switchboard.call'), callHost);
}

function define(name: string | symbol, value: unknown): void {
  const descriptor = create(null) as PropertyDescriptor;
  descriptor.value = value;
  descriptor.writable = true;
  descriptor.configurable = true;
  defineProperty(globalThis, name, descriptor);
}

function defineLate(name: string, make: () => unknown): void {
  const descriptor = create(null) as PropertyDescriptor;
  descriptor.get = () => {
    const value = make();
    define(name, value);
    return value;
  };
  descriptor.set = (value: unknown) => define(name, value);
  descriptor.configurable = true;
  defineProperty(globalThis, name, descriptor);
}
