import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { addressKey } from './rate-limit.ts';

export interface SendBounds {
  /** The longest time in which a client takes nothing of its answer, in milliseconds. */
  stallMs: number;
  /** Bytes of answers that wait in memory for their clients: in all, and for those of one address. */
  totalBytes: number;
  addressBytes: number;
}

/** The bounds of the service: an answer has a few megabytes at most, and is taken within seconds. */
export const sendBounds: SendBounds = {
  stallMs: 30_000,
  totalBytes: 128 * 1024 * 1024,
  addressBytes: 32 * 1024 * 1024,
};

const checkMs = 1_000;
/** An answer is not judged before: a burst of readers that are fast may exceed the bounds for that long. */
const graceMs = 1_000;
const pieceBytes = 64 * 1024;

/** An answer that is being sent. */
interface Sending {
  response: ServerResponse;
  socket: Socket;
  address: string;
  /** Memory that it holds; 0 for one that is read from elsewhere as it is sent. */
  bytes: number;
  sentBytes: number;
  since: number;
  /** When the client last took something. */
  takenAt: number;
}

/**
 * Cuts clients that do not read their answers, whose bytes wait in memory: each of which nothing is taken for `stallMs`, and
 * while the bytes exceed a bound those that take theirs most slowly.
 */
export class SlowReaders {
  readonly #bounds: SendBounds;
  readonly #sending = new Set<Sending>();
  #totalBytes = 0;
  readonly #addressBytes = new Map<string, number>();

  constructor(bounds: SendBounds) {
    this.#bounds = bounds;
  }

  /** Koa middleware that sends answers; the outermost. */
  get middleware(): Middleware {
    return async (ctx, next) => {
      await next();
      // Streams of events cut their own readers.
      if (ctx.type !== 'text/event-stream') this.#send(ctx);
    };
  }

  /** Looks after the answers of a server, until it is closed. */
  watch(server: Server): void {
    const checking = setInterval(() => this.#check(), checkMs).unref();
    server.once('close', () => clearInterval(checking));
  }

  #send(ctx: Context): void {
    const { req, res } = ctx;
    if (res.closed || req.socket.destroyed) return;
    const now = performance.now();
    const sending: Sending = {
      response: res,
      socket: req.socket,
      address: addressKey(ctx),
      bytes: 0,
      sentBytes: 0,
      since: now,
      takenAt: now,
    };
    prepare(ctx, sending);
    this.#hold(sending, 1);
    this.#sending.add(sending);
    res.on('drain', () => (sending.takenAt = performance.now()));
    res.once('close', () => this.#forget(sending));
    if (sending.bytes > 0) this.#makeRoom();
  }

  #forget(sending: Sending): void {
    if (this.#sending.delete(sending)) this.#hold(sending, -1);
  }

  #hold({ address, bytes }: Sending, sign: 1 | -1): void {
    if (bytes === 0) return;
    this.#totalBytes += sign * bytes;
    const held = (this.#addressBytes.get(address) ?? 0) + sign * bytes;
    if (held > 0) this.#addressBytes.set(address, held);
    else this.#addressBytes.delete(address);
  }

  // With all answers that wait on its connection.
  #cut({ socket }: Sending): void {
    for (const sending of this.#sending) if (sending.socket === socket) this.#forget(sending);
    socket.destroy();
  }

  #check(): void {
    const now = performance.now();
    for (const sending of this.#sending) {
      // A pipelined answer has no socket before those ahead of it are sent.
      if (sending.response.socket && now - sending.takenAt >= this.#bounds.stallMs) this.#cut(sending);
    }
    this.#makeRoom();
  }

  #makeRoom(): void {
    const { totalBytes, addressBytes } = this.#bounds;
    const crowded = [...this.#addressBytes].filter(([, bytes]) => bytes > addressBytes).map(([address]) => address);
    for (const address of crowded) {
      this.#cutSlowest(
        (sending) => sending.address === address,
        () => (this.#addressBytes.get(address) ?? 0) > addressBytes,
      );
    }
    if (this.#totalBytes > totalBytes)
      this.#cutSlowest(
        () => true,
        () => this.#totalBytes > totalBytes,
      );
  }

  #cutSlowest(concerns: (sending: Sending) => boolean, isTooMuch: () => boolean): void {
    const now = performance.now();
    const paceOf = ({ sentBytes, since }: Sending): number => sentBytes / (now - since);
    const holding = [...this.#sending].filter(({ bytes, since }) => bytes > 0 && now - since >= graceMs);
    for (const sending of holding.filter(concerns).sort((one, other) => paceOf(one) - paceOf(other))) {
      if (!isTooMuch()) return;
      if (this.#sending.has(sending)) this.#cut(sending);
    }
  }
}

// Divides a long body into pieces, and notes the memory that it holds. Files are in memory once for all clients, and a short
// text is soon gone, unless it waits for the answers before it.
function prepare(ctx: Context, sending: Sending): void {
  const body: unknown = ctx.body;
  const isText = typeof body === 'string';
  if (ctx.method === 'HEAD' || !(isText || Buffer.isBuffer(body))) return;
  const length = ctx.response.length ?? 0;
  if (isText && (length > pieceBytes || ctx.res.socket === null)) sending.bytes = length;
  if (length <= pieceBytes) return;
  // In pieces, so that it shows how much the client takes.
  const pieces = piecesOf(isText ? Buffer.from(body) : body, sending);
  ctx.body = Readable.from(pieces, { objectMode: false, highWaterMark: pieceBytes });
  ctx.length = length;
}

function* piecesOf(bytes: Buffer, sending: Sending): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    const piece = bytes.subarray(from, from + pieceBytes);
    sending.sentBytes += piece.length;
    yield piece;
  }
}
