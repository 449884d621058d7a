import type { Mutant } from './mutant.ts';

export const testing: readonly Mutant[] = [
  {
    file: 'src/testing/player.ts',
    text: 'const superseded = isSuperseded(stage.conversation, run);',
    replacement: 'const superseded = false;',
    test: 'test/testing/simulate.test.ts',
    only: 'takes over while a host is asked',
    harm: 'A test of a bot passes although the bot talks over a person in the service.',
  },
  {
    file: 'src/cli/plugin/compare-uses.ts',
    text: '!granted.some((grant) => isSame(grant, use))',
    replacement: '!granted.some((grant) => grant.permission === use.permission)',
    test: 'test/boot/author-commands.test.ts',
    only: 'with line and remedy',
    harm: 'The check passes a bot that may reply and hands over without asking.',
  },
  {
    file: 'src/testing/stage/transaction.ts',
    text: 'this.#said.push(message);',
    replacement: '',
    test: 'test/testing/simulate.test.ts',
    only: 'with one note',
    harm: 'A test of a bot sees a note that the service does not write.',
  },
];
