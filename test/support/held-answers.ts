import type { Route } from 'playwright-core';

/** Answers that the service has given, and that are on their way for as long as the test wants: handlers for `page.route`. */
export class HeldAnswers {
  #releases: (() => void)[] = [];

  /** How many are on their way. */
  get count(): number {
    return this.#releases.length;
  }

  readonly hold = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#releases.push(resolve);
    await promise;
    // The page may have given it up.
    await route.fulfill({ response }).catch(() => undefined);
  };

  /** Lets arrive what is on its way. */
  release(): void {
    const releases = this.#releases;
    this.#releases = [];
    for (const release of releases) release();
  }
}
