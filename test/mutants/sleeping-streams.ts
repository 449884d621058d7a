import type { Mutant } from './mutant.ts';

const test = 'test/browser/asleep.test.ts';

export const sleepingStreams: readonly Mutant[] = [
  {
    file: 'web/shared/live.ts',
    text: 'if (Date.now() - this.#lastSign > patienceMs) this.#stream?.abort();',
    replacement: '',
    test,
    only: 'notices after a minute',
    harm: 'A computer that slept shows nothing new until somebody loads the page again.',
  },
  {
    file: 'web/shared/live.ts',
    text: 'after: this.#cursor ?? undefined',
    replacement: 'after: undefined',
    test,
    only: 'goes on at once',
    harm: 'What happened while a page was away is never shown.',
  },
];
