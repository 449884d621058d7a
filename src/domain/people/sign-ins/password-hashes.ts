import { scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { busy } from '../../../errors.ts';
import type { Random } from '../../../lib/ports.ts';

interface Cost {
  /** Logarithm of the number of blocks. */
  ln: number;
  r: number;
  p: number;
}

/** 32 MB and about a quarter of a second. */
const cost: Cost = { ln: 15, r: 8, p: 3 };
const saltBytes = 16;
const keyBytes = 32;
const bytesPerUnit = 128;
const stored = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/;

/** Bounds of the computing for passwords in a process. */
interface PasswordBounds {
  /** Computations at the same time, fewer than Node has threads. */
  inFlight: number;
  /** Callers that wait for one; more are refused. */
  queue: number;
}

/** Hashes passwords by scrypt and compares them, a few at a time in Node's threads. */
export class PasswordHashes {
  readonly #random: Random;
  readonly #queue: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #nobodys: string;

  constructor(random: Random, { inFlight, queue }: PasswordBounds) {
    this.#random = random;
    this.#free = inFlight;
    this.#queue = queue;
    this.#nobodys = write(cost, random.bytes(saltBytes), random.bytes(keyBytes));
  }

  /** Returns the text to store for a password. Errors: 503 while too many wait. */
  async hash(password: string): Promise<string> {
    const salt = this.#random.bytes(saltBytes);
    return write(cost, salt, await this.#bounded(() => derive(password, salt, cost)));
  }

  /** Whether the password is the stored one. Computes as much where there is none. Errors: 503 while too many wait. */
  async matches(hash: string | null, password: string): Promise<boolean> {
    const { salt, key, ...own } = read(hash ?? this.#nobodys);
    const isSame = timingSafeEqual(key, await this.#bounded(() => derive(password, salt, own)));
    return isSame && hash !== null;
  }

  async #bounded<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else if (this.#waiting.length >= this.#queue) throw busy();
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}

function derive(password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** ln;
  const options: ScryptOptions = { N, r, p, maxmem: 2 * bytesPerUnit * N * r };
  // The same characters may be typed as different code points.
  const text = password.normalize('NFKC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, keyBytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

function write({ ln, r, p }: Cost, salt: Buffer, key: Buffer): string {
  return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

function read(hash: string): Cost & { salt: Buffer; key: Buffer } {
  const [, ln, r, p, salt = '', key = ''] = stored.exec(hash) ?? [];
  if (key === '') throw new Error('A stored password hash cannot be read');
  const bytes = { salt: Buffer.from(salt, 'base64url'), key: Buffer.from(key, 'base64url') };
  return { ln: Number(ln), r: Number(r), p: Number(p), ...bytes };
}
