import { prepareIsolate, type PreparedIsolate } from './isolate.ts';

/**
 * Keeps one isolate prepared while no run is under way, because preparing takes longer than most bots do. It is for the next
 * run alone: no isolate is used twice.
 */
export class SpareIsolate {
  readonly #onCatastrophe: (reason: string) => void;
  #spare: PreparedIsolate | null = null;

  /** `onCatastrophe` is called with V8's reason when V8 itself failed in any of the isolates. */
  constructor(onCatastrophe: (reason: string) => void) {
    this.#onCatastrophe = onCatastrophe;
  }

  /** Prepares an isolate for a next run with this heap, unless one is there. */
  prepare(heapMb: number): void {
    this.#spare ??= prepareIsolate(heapMb, this.#onCatastrophe);
  }

  /** An isolate in which no bot has run. */
  take(heapMb: number): PreparedIsolate {
    const spare = this.#spare;
    this.#spare = null;
    if (spare?.heapMb === heapMb) return spare;
    spare?.dispose();
    return prepareIsolate(heapMb, this.#onCatastrophe);
  }
}
