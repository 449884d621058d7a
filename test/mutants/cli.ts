import type { Mutant } from './mutant.ts';

export const cli: readonly Mutant[] = [
  {
    file: 'src/cli/try-package.ts',
    text: 'ok &&= result.ok;',
    replacement: 'ok = result.ok;',
    test: 'test/runs/bots.test.ts',
    only: 'whichever it is',
    harm: 'The check passes a plugin whose last handler works and whose first does not.',
  },
  {
    file: 'src/cli/main.ts',
    text: '  process.exit(1);',
    replacement: '  process.exitCode = 1;',
    test: 'test/boot/remedies.test.ts',
    only: 'is one sentence with the remedy',
    harm: 'A command that fails hangs beside the database that it started.',
  },
  {
    file: 'src/cli/with-database.ts',
    text: '(besideService ? runningPostgresUrl(dataDir) : null)',
    replacement: 'null',
    test: 'test/boot/remedies.test.ts',
    only: 'a lost token',
    harm: 'A lost token cannot be replaced while the service runs.',
  },
  {
    file: 'src/cli/plugin/find-blind-spots.ts',
    text: 'if (isFollowed) continue;',
    replacement: 'if (isFollowed || !part) continue;',
    test: 'test/boot/author-commands.test.ts',
    only: 'check sees members by their names in brackets',
    harm: 'An author who hands `ctx` to a helper is told that all is granted, and the bot fails at its first customer.',
  },
  {
    file: 'src/cli/service.ts',
    text: 'return first !== null && first === second;',
    replacement: 'return first !== null && second !== null;',
    test: 'test/cli/plugin-commands.test.ts',
    only: 'to the address of that start alone',
    harm: "The platform administrator's token is sent to whatever address --url names.",
  },
];
