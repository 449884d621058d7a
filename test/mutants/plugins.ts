import type { Mutant } from './mutant.ts';

const http = 'test/api/platform/plugins.test.ts';
const archives = 'test/packages/archives.test.ts';

export const plugins: readonly Mutant[] = [
  {
    file: 'src/domain/plugins/versions.ts',
    text: 'return widens.length > 0 || (',
    replacement: 'return widens.length > 99 || (',
    test: http,
    harm: 'An update takes rights that nobody has granted.',
  },
  {
    file: 'src/domain/plugins/versions.ts',
    text: '(await findMisfits(executor, next)).length > 0',
    replacement: '(await findMisfits(executor, next)).length > 99',
    test: http,
    only: 'waits, and tells which bots',
    harm: 'An update silences every bot whose settings it refuses.',
  },
  {
    file: 'src/domain/plugins/versions.ts',
    text: 'config_fits = id <> ALL ($5)',
    replacement: 'config_fits = id <> ALL ($5) OR true',
    test: http,
    only: 'can be approved all the same',
    harm: 'A bot whose settings its plugin refuses fails at every customer, and nothing says why.',
  },
  {
    file: 'src/domain/plugins/changes.ts',
    text: 'SET pending_hash = NULL, updated_at = $2 WHERE id = $1',
    replacement: 'SET active_hash = pending_hash, updated_at = $2 WHERE id = $1',
    test: http,
    only: 'one that waits can be withdrawn',
    harm: 'A version that was rejected runs.',
  },
  {
    file: 'src/domain/plugins/changes.ts',
    text: 'pending.version === version && pending.hash === hash',
    replacement: 'pending.version === version || pending.hash === hash',
    test: http,
    harm: 'An administrator approves another code than the one that was looked at.',
  },
  {
    file: 'src/domain/plugins/install.ts',
    text: 'if (!installed || installed.files_hash === filesHash)',
    replacement: 'if (!installed || installed.files_hash !== null)',
    test: http,
    harm: 'Other code is taken for an installed version, and nobody is told that it does not run.',
  },
  {
    file: 'src/domain/plugins/install.ts',
    text: "present?.source === 'folder' && present.isPresent",
    replacement: "present?.source === 'folder' && !present.isPresent",
    test: http,
    harm: 'An uploaded plugin takes over the bots of a folder.',
  },
  {
    file: 'src/packages/archive.ts',
    text: 'if (problem !== undefined) throw new PluginError([problem]);',
    replacement: 'if (problem === null) throw new PluginError([problem]);',
    test: http,
    only: 'what cannot be used is refused',
    harm: 'A version that does not load replaces one that answers.',
  },
  {
    file: 'src/packages/unpack.ts',
    text: "part !== '' && part !== '.' && part !== '..'",
    replacement: "part !== '' && part !== '.'",
    test: archives,
    only: 'a path with ..',
    harm: 'A file of an archive is taken for one of another place.',
  },
  {
    file: 'src/domain/upkeep/bundles.ts',
    text: 'AND NOT EXISTS (SELECT FROM bot_runs r WHERE r.bundle_hash = b.hash)',
    replacement: '',
    test: 'test/boot/plugin-folders.test.ts',
    only: 'kept while runs refer to it',
    harm: 'A run cannot be replayed any more once its plugin has a new version.',
  },
  {
    file: 'src/packages/grants.ts',
    text: "held.startsWith('*.') && wanted.endsWith(held.slice(1))",
    replacement: "held.startsWith('*.') && wanted.endsWith(held.slice(2))",
    test: 'test/packages/grants.test.ts',
    harm: "A version reaches a stranger's host without approval, whose name ends like a granted one.",
  },
];
