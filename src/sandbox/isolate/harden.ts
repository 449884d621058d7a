// Runs inside the isolate before the bot is loaded (see bootstrap.ts). Methods are taken from their prototypes on
// purpose: they are called with Reflect.apply.
/* oxlint-disable typescript/unbound-method */

const { defineProperty, getOwnPropertyDescriptor } = Object;
const { apply, construct } = Reflect;
const RealDate = Date;
const RealProxy = Proxy;
const dateToString = Date.prototype.toString;

/** Memory and threads that no limit counts, ways to measure time or garbage collection, and a console without output. */
const removed = [
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'WeakRef',
  'FinalizationRegistry',
  'console',
  // Node 26 has it: another way to the machine's clock.
  'Temporal',
];

/**
 * Makes the isolate deterministic and bounded: removes globals that escape the limits, stops all clocks at `now`
 * (milliseconds) and seeds the random numbers.
 */
export function harden(now: number, seed: number): void {
  removeGlobals();
  forbidResizableBuffers();
  stopClock(now);
  seedRandom(seed);
  fix(Error, 'prepareStackTrace', undefined);
}

function removeGlobals(): void {
  for (const name of removed) Reflect.deleteProperty(globalThis, name);
}

/**
 * V8 counts a resizable buffer against the memory limit only when it is written to; this drops the option
 * `maxByteLength`.
 */
function forbidResizableBuffers(): void {
  const FixedBuffer = new RealProxy(ArrayBuffer, {
    construct: (target, given: unknown[], newTarget) => construct(target, [given[0]], newTarget) as object,
  });
  fix(ArrayBuffer.prototype, 'constructor', FixedBuffer);
  fix(globalThis, 'ArrayBuffer', FixedBuffer);
}

/** Defines a property that the bot can neither replace nor delete. */
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

/** Replaces `Math.random` with mulberry32, which gives the same numbers on every machine. */
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
