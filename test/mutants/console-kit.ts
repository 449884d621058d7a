import type { Mutant } from './mutant.ts';

const loading = 'test/browser/loading.test.ts';

export const consoleKit: readonly Mutant[] = [
  {
    file: 'web/shared/call.ts',
    text: '    if (reply === undefined) throw unreadable();\n',
    replacement: '',
    test: loading,
    only: 'cut off',
    harm: 'A page breaks when an answer was cut off, and nobody is told.',
  },
  {
    file: 'web/console/kit/load.tsx',
    text: '      if (running.current) void reload();\n',
    replacement: '',
    test: loading,
    only: 'gives way',
    harm: 'A change seems to be undone as soon as an answer arrives that is older.',
  },
  {
    file: 'web/console/kit/more.tsx',
    text: '    wanted.parts += 1;\n',
    replacement: '',
    test: loading,
    only: 'Show more',
    harm: 'Who goes on in a list is thrown back to its beginning.',
  },
];
