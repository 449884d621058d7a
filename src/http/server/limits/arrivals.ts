import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** How long requests may take to arrive. */
interface ArrivalBounds {
  /** A request as a whole, in milliseconds. */
  requestMs: number;
  /** For a request with an upload, in milliseconds. */
  uploadMs: number;
  /** Bytes of an upload that must arrive per second, on average over `requestMs`. */
  bytesPerSecond: number;
}

/** A request whose body is on its way. */
interface Arrival {
  socket: Socket;
  since: number;
  /** The present stretch of an upload: when it began, and with how many bytes of the connection; null for all others. */
  stretch: { since: number; bytes: number } | null;
}

/** Node's settings for requests that do not arrive; its defaults are minutes. */
export const headersMs = 10_000;
export const checkMs = 2_000;

/**
 * Cuts requests that do not arrive in time, with 408: each has `requestMs`, and an upload that was allowed as much as
 * `uploadMs`, as long as it goes on. Node has one bound for all requests only.
 */
export class Arrivals {
  readonly #bounds: ArrivalBounds;
  readonly #arriving = new Map<IncomingMessage, Arrival>();

  constructor(bounds: ArrivalBounds) {
    this.#bounds = bounds;
  }

  /** The longest time that any request may take, in milliseconds. */
  get longestMs(): number {
    return Math.max(this.#bounds.requestMs, this.#bounds.uploadMs);
  }

  /** Watches the requests of a server, until it is closed. */
  watch(server: Server, everyMs = checkMs): void {
    server.prependListener('request', (request: IncomingMessage) => {
      if (!hasBody(request)) return;
      this.#arriving.set(request, { socket: request.socket, since: performance.now(), stretch: null });
      request.once('close', () => this.#arriving.delete(request));
    });
    const checking = setInterval(() => this.#check(server), everyMs).unref();
    server.once('close', () => clearInterval(checking));
  }

  /** The request carries an upload of a caller who may send it: it may take longer from now on. */
  allowUpload(request: IncomingMessage): void {
    const arrival = this.#arriving.get(request);
    if (arrival) arrival.stretch ??= { since: performance.now(), bytes: arrival.socket.bytesRead };
  }

  #check(server: Server): void {
    const now = performance.now();
    for (const [request, arrival] of this.#arriving) {
      const isOver = request.complete || request.destroyed;
      if (!isOver && !this.#isLate(arrival, now)) continue;
      this.#arriving.delete(request);
      if (!isOver) server.emit('clientError', new Overdue(), arrival.socket);
    }
  }

  #isLate(arrival: Arrival, now: number): boolean {
    const { requestMs, uploadMs, bytesPerSecond } = this.#bounds;
    const { socket, since, stretch } = arrival;
    if (!stretch) return now - since >= requestMs;
    if (now - since >= uploadMs) return true;
    if (now - stretch.since < requestMs) return false;
    const isSlow = (socket.bytesRead - stretch.bytes) * 1000 < bytesPerSecond * (now - stretch.since);
    arrival.stretch = { since: now, bytes: socket.bytesRead };
    return isSlow;
  }
}

/** As Node's own, which client-errors.ts answers. */
class Overdue extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT';
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
