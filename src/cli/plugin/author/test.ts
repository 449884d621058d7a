import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import packageJson from '../../../../package.json' with { type: 'json' };
import { OperatorError } from '../../../lib/operator-error.ts';

export interface TestOptions {
  json?: boolean;
}

// In a clone, `switchboard/testing` is source; in the package that `npm pack` makes, it is JavaScript.
const isSource = extname(import.meta.filename) === '.ts';
const flags = [
  '--disable-sigusr1',
  '--no-node-snapshot',
  '--disable-warning=ExperimentalWarning',
  ...(isSource ? ['--conditions=switchboard-source'] : []),
];

/**
 * The command `plugin test`: runs the tests of a package with Node's own runner, or with the author's mocha where a test
 * does not import `node:test`. The exit code is that of the runner. Throws OperatorError when there are no tests.
 */
export async function runPluginTests(directory: string, { json = false }: TestOptions = {}): Promise<void> {
  const path = resolve(directory);
  const found = globSync(['*.test.{ts,js}', 'test/**/*.test.{ts,js}'], { cwd: path }).sort();
  const files = found.map((file) => join(path, file));
  if (files.length === 0) throw new OperatorError(`There are no tests in ${directory}: they are test/NAME.test.ts`);
  refuseMissing(directory, files);
  const forNode = files.filter((file) => /['"]node:test['"]/.test(readFileSync(file, 'utf8')));
  const forMocha = files.filter((file) => !forNode.includes(file));
  const codes = [
    await run(forNode, ['--test', `--test-reporter=${json ? 'tap' : 'spec'}`], json),
    await run(forMocha, forMocha.length === 0 ? [] : [mochaOf(path), '--exit'], json),
  ];
  const ok = codes.every((code) => code === 0);
  if (json) console.log(JSON.stringify({ ok, files: found }, null, 2));
  if (!ok) process.exitCode = 1;
}

/** Runs test files to their end; the exit code. With `quiet`, their output goes to stderr. */
async function run(files: readonly string[], args: readonly string[], quiet: boolean): Promise<number> {
  if (files.length === 0) return 0;
  const stdio = ['inherit', quiet ? process.stderr : 'inherit', 'inherit'] as const;
  const child = spawn(process.execPath, [...flags, ...args, ...files], { stdio: [...stdio] });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** Throws OperatorError if tests import the simulation where the package that holds it is not installed. */
function refuseMissing(directory: string, files: readonly string[]): void {
  const needs = files.some((file) => /['"]switchboard\/testing['"]/.test(readFileSync(file, 'utf8')));
  if (!needs || isResolved(resolve(directory))) return;
  throw new OperatorError(
    `The tests import "switchboard/testing", and the package is not installed beside ${directory}: npm install --save-dev switchboard@npm:${packageJson.publishAs}, or PATH/switchboard-${packageJson.version}.tgz, the archive that npm pack makes of Switchboard.`,
  );
}

/** Whether a test below the folder finds the package: installed in a folder above, or around it. */
function isResolved(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules/switchboard/package.json')) || isOurs(at)) return true;
    if (at === dirname(at)) return false;
  }
}

function isOurs(folder: string): boolean {
  const file = join(folder, 'package.json');
  return existsSync(file) && /"name":\s*"switchboard"/.test(readFileSync(file, 'utf8'));
}

function mochaOf(path: string): string {
  try {
    const manifest = createRequire(join(path, 'plugin.json')).resolve('mocha/package.json');
    return join(dirname(manifest), 'bin/mocha.js');
  } catch {
    throw new OperatorError(`The tests import no "node:test", and mocha is not installed beside ${path}`);
  }
}
