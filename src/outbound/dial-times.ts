/** Milliseconds that the phases of a new connection took; null for a phase that it did not have or did not reach. */
export interface DialTimes {
  readonly dns: number | null;
  readonly connect: number | null;
  readonly tls: number | null;
}

/** The times of a request on a connection that was open already. */
export const noDial: DialTimes = { dns: null, connect: null, tls: null };

// Keyed by the socket until its first request, and by the error of a connection that could not be opened.
const kept = new WeakMap<object, DialTimes>();

/** The times of the connection, for the first request that asks: later ones find it open. */
export function takeDialTimes(socketOrError: object): DialTimes {
  const times = kept.get(socketOrError) ?? noDial;
  kept.delete(socketOrError);
  return times;
}

/** Measures the phases of one connection as it is opened. */
export class Dial {
  #dns: number | null = null;
  #connect: number | null = null;
  #phaseFrom = performance.now();

  /** The name is resolved, or it cannot be. */
  resolved(): void {
    this.#dns = this.#endPhase();
  }

  connected(): void {
    this.#connect = this.#endPhase();
  }

  /** Keeps the times with the open socket. */
  opened(socket: object, { isSecure }: { isSecure: boolean }): void {
    kept.set(socket, { dns: this.#dns, connect: this.#connect, tls: isSecure ? this.#endPhase() : null });
  }

  /** Keeps the times with the error; the phase in which it happened has none. */
  failed(error: object): void {
    kept.set(error, { dns: this.#dns, connect: this.#connect, tls: null });
  }

  #endPhase(): number {
    const now = performance.now();
    const took = now - this.#phaseFrom;
    this.#phaseFrom = now;
    return Math.round(took);
  }
}
