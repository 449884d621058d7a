/**
 * Work that waits for the commit of the outermost transaction. Work added in a savepoint that is rolled back is forgotten.
 */
export class AfterCommit {
  readonly #works: (() => void)[] = [];

  /** Starts `work` after the commit; never inside the transaction, and never after a rollback. */
  add(work: () => void): void {
    this.#works.push(work);
  }

  /** Marks the present state; the returned function forgets what was added since, for a rolled-back savepoint. */
  mark(): () => void {
    const { length } = this.#works;
    return () => {
      this.#works.length = length;
    };
  }

  /** Starts the work, in order. An error is passed to `failed`: the transaction is committed, and the rest is started too. */
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
