/**
 * Work that waits for the commit of a whole transaction, its savepoints included. What was said in a part that is undone
 * is forgotten with that part.
 */
export class AfterCommit {
  readonly #works: (() => void)[] = [];

  /** Begins `work` once everything is committed; never inside the transaction, and not at all when that is undone. */
  add(work: () => void): void {
    this.#works.push(work);
  }

  /** How much work waits; `forgetSince` takes it back to this. */
  get size(): number {
    return this.#works.length;
  }

  /** Forgets what was added since the size was this: the part of the transaction that said it was undone. */
  forgetSince(size: number): void {
    this.#works.length = size;
  }

  /** Begins the work, in order. A failure is told to `failed`: what was committed stays so, and the rest is begun too. */
  begin(failed: (error: unknown) => void): void {
    for (const work of this.#works) {
      try {
        work();
      } catch (error) {
        failed(error);
      }
    }
  }
}
