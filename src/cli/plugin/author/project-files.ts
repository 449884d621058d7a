import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import packageJson from '../../../../package.json' with { type: 'json' };

/** Returns the files, by their paths, that make a project of its own of the plugin in a folder outside this repository. */
export function projectFilesOf(path: string, id: string): Record<string, string> {
  return {
    'package.json': json(describe(path, id)),
    'tsconfig.json': json({ compilerOptions: { ...compilerOptions, types: [] }, exclude: ['test', 'node_modules'] }),
    'test/tsconfig.json': json({
      extends: '../tsconfig.json',
      compilerOptions: { types: ['node'] },
      include: ['**/*.ts'],
      exclude: [],
    }),
    '.github/workflows/test.yml': workflow,
  };
}

// As in the sandbox, where there is neither Node nor a DOM; tests run in Node.
const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
};

const workflow = `# GitHub reads this file at the root of a repository.
name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: 24
      - run: npm ci
      - run: npm run types
      - run: npm run check
      - run: npm test
`;

function describe(path: string, id: string): object {
  const { typescript, '@types/node': nodeTypes } = packageJson.devDependencies;
  return {
    name: id,
    version: '0.1.0',
    private: true,
    type: 'module',
    // Everything that the bot may import, below its folder too.
    files: ['**/*.ts', '**/*.js', '**/*.json', 'README.md', '!test', '!tsconfig.json', '!package-lock.json'],
    scripts: {
      types: 'tsc && tsc -p test',
      check: 'switchboard plugin check .',
      test: 'switchboard plugin test .',
      dev: 'switchboard plugin dev .',
    },
    devDependencies: {
      '@types/node': `^${nodeTypes}`,
      switchboard: specifierFor(path),
      typescript: `^${typescript}`,
    },
  };
}

interface Dependent {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Returns where npm gets `switchboard` from: from where the next project above got it, else by our version. */
function specifierFor(path: string): string {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    const file = join(at, 'package.json');
    if (!existsSync(file)) continue;
    const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as Dependent;
    const found = { ...dependencies, ...devDependencies }['switchboard'];
    if (found === undefined) continue;
    if (!found.startsWith('file:')) return found;
    return `file:${relative(path, resolve(at, found.slice('file:'.length)))}`;
  }
  // The name `switchboard` is that of another package in the registry.
  return `npm:${packageJson.publishAs}@^${packageJson.version}`;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
