import { prepareIsolate, type PreparedIsolate } from './isolate.ts';

/** A second one, for a run that follows another at once. */
const kept = 2;
/** After this time without a run the second one is prepared: the next run must not wait for it. */
const restMs = 4;

/**
 * Keeps isolates prepared while no run is under way, because preparing takes longer than most bots do. Each is for one run:
 * no isolate is used twice.
 */
export class SpareIsolates {
  readonly #onCatastrophe: (reason: string) => void;
  readonly #spares: PreparedIsolate[] = [];
  /** Gives up what was going to be prepared. */
  #giveUp = (): void => undefined;

  /** `onCatastrophe` is called with V8's reason when V8 itself failed in any of the isolates. */
  constructor(onCatastrophe: (reason: string) => void) {
    this.#onCatastrophe = onCatastrophe;
  }

  /** Prepares an isolate for a next run with this heap at once, and another one when no run comes for a moment. */
  prepare(heapMb: number): void {
    this.#giveUp();
    if (this.#spares.length >= kept) return;
    this.#spares.push(prepareIsolate(heapMb, this.#onCatastrophe));
    this.#prepareLater(heapMb);
  }

  /** Prepares as many as are missing soon, so that the parent gets the result of the last run first. */
  prepareSoon(heapMb: number): void {
    this.#giveUp();
    if (this.#spares.length > 0) return this.#prepareLater(heapMb);
    const soon = setImmediate(() => this.prepare(heapMb));
    this.#giveUp = () => clearImmediate(soon);
  }

  /** An isolate in which no bot has run. */
  take(heapMb: number): PreparedIsolate {
    this.#giveUp();
    const spare = this.#spares.pop();
    if (spare?.heapMb === heapMb) return spare;
    // The others have this limit no more than that one.
    for (const other of [spare, ...this.#spares.splice(0)]) other?.dispose();
    return prepareIsolate(heapMb, this.#onCatastrophe);
  }

  #prepareLater(heapMb: number): void {
    const later = setTimeout(() => this.prepare(heapMb), restMs);
    this.#giveUp = () => clearTimeout(later);
  }
}
