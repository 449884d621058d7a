/** A recurring look at something: one at a time, whatever it takes. */
export class Looks {
  readonly #failed: (error: unknown) => void;
  #going: Promise<void> | null = null;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Looks, unless the last look is still going on. */
  run(look: () => Promise<void>): void {
    this.#going ??= look()
      .catch(this.#failed)
      .finally(() => (this.#going = null));
  }

  /** Resolves when no look is going on. */
  get ended(): Promise<void> {
    return this.#going ?? Promise.resolve();
  }
}
