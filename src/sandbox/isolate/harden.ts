// Runs inside the isolate, before the bot exists (see bootstrap.ts). Methods are taken from their prototypes on purpose:
// they are called with Reflect.apply.
/* oxlint-disable typescript/unbound-method */

const { defineProperty, getOwnPropertyDescriptor } = Object;
const { apply, construct } = Reflect;
const RealDate = Date;
const RealProxy = Proxy;
const dateToString = Date.prototype.toString;

/**
 * Takes away what no limit holds for and what differs from run to run: clocks stand at `now` (milliseconds), chance
 * follows `seed`.
 */
export function harden(now: number, seed: number): void {
  removeGlobals();
  forbidResizableBuffers();
  stopClock(now);
  seedRandom(seed);
  fix(Error, 'prepareStackTrace', undefined);
}

function removeGlobals(): void {
  // Memory and threads that no limit counts, clocks by another name, and a console that leads nowhere.
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'console']) {
    delete (globalThis as unknown as Record<string, unknown>)[name];
  }
}

/** V8 counts the memory of a resizable buffer only once it is used; without the option there is none. */
function forbidResizableBuffers(): void {
  const FixedBuffer = new RealProxy(ArrayBuffer, {
    construct: (target, given: unknown[], newTarget) => construct(target, [given[0]], newTarget) as object,
  });
  fix(ArrayBuffer.prototype, 'constructor', FixedBuffer);
  fix(globalThis, 'ArrayBuffer', FixedBuffer);
}

/** Puts a value where the bot can neither replace nor remove it. */
function fix(target: object, name: string, value: unknown): void {
  defineProperty(target, name, { value, writable: false, enumerable: false, configurable: false });
}

function stopClock(now: number): void {
  const StoppedDate = new RealProxy(RealDate, {
    construct: (target, given: unknown[], newTarget) =>
      construct(target, given.length === 0 ? [now] : given, newTarget) as object,
    apply: () => apply(dateToString, new RealDate(now), []),
  });
  fix(RealDate, 'now', () => now);
  fix(RealDate.prototype, 'constructor', StoppedDate);
  fix(globalThis, 'Date', StoppedDate);
  const formatter = Intl.DateTimeFormat.prototype;
  const getFormat = getOwnPropertyDescriptor(formatter, 'format')?.get as () => (date: unknown) => string;
  const { formatToParts } = formatter;
  defineProperty(formatter, 'format', {
    configurable: false,
    get(this: unknown) {
      const format = apply(getFormat, this, []);
      return (date?: unknown) => format(date === undefined ? now : date);
    },
  });
  fix(formatter, 'formatToParts', function partsAt(this: unknown, date?: unknown) {
    return apply(formatToParts, this as Intl.DateTimeFormat, [(date === undefined ? now : date) as number]);
  });
}

/** mulberry32: small, and the same on every machine. */
function seedRandom(seed: number): void {
  const { imul } = Math;
  let state = seed >>> 0;
  fix(Math, 'random', () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  });
}
