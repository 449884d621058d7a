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

  /** Notes what waits now; the answer forgets what was added since, for a part of the transaction that is undone. */
  mark(): () => void {
    const { length } = this.#works;
    return () => {
      this.#works.length = length;
    };
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
