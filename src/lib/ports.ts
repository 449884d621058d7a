import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** The source of the current time; tests pass a fixed one. */
export interface Clock {
  now(): Date;
}

/** The source of random values; tests pass a seeded one. */
export interface Random {
  /** `n` unpredictable bytes. */
  bytes(n: number): Buffer;
  /** A number in [0, 1). */
  fraction(): number;
  /** A random UUID (version 4), lower case. */
  uuid(): string;
}

const fractionSteps = 2 ** 47;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => new Date(),
};

/** The operating system's cryptographic randomness. */
export const systemRandom: Random = {
  bytes: (n) => randomBytes(n),
  fraction: () => randomInt(fractionSteps) / fractionSteps,
  uuid: () => randomUUID(),
};
