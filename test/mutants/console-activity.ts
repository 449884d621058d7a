import type { Mutant } from './mutant.ts';

const live = 'test/browser/live.test.ts';

/** What the console shows of events as they happen. */
export const consoleActivity: readonly Mutant[] = [
  {
    file: 'web/console/pages/activity/live.tsx',
    text: '    if (!isWanted(event)) return;\n',
    replacement: '',
    test: live,
    only: 'leaves out what is not wanted',
    harm: 'Events that nobody wants push out those that somebody waits for.',
  },
  {
    file: 'web/console/pages/activity/tail.ts',
    text: 'const newest = events.toReversed();',
    replacement: 'const newest = [...events];',
    test: live,
    only: 'no more than its bounds',
    harm: 'Events of one moment are shown in the wrong order.',
  },
  {
    file: 'web/console/pages/activity/tail.ts',
    text: 'waiting: all.slice(0, mostWaiting)',
    replacement: 'waiting: all',
    test: live,
    only: 'no more than its bounds',
    harm: 'A page that is paused over night takes all memory of the browser.',
  },
  {
    file: 'web/console/pages/activity/tail.ts',
    text: 'shown: [...(waiting ?? []), ...shown].slice(0, mostShown), waiting: null, dropped: 0',
    replacement: 'shown, waiting: null, dropped: 0',
    test: live,
    only: 'keeps what comes during a pause',
    harm: 'What happened during a pause is lost.',
  },
];
