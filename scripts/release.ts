// `npm run release -- --dry-run` and `npm run release`: publishes the package of `npm pack` in the npm registry under the name of
// `publishAs` in package.json, with the page for authors as its README. Options go to `npm publish`.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'switchboard-release-'));
const staged = join(folder, 'package');

/** Runs a program to its end; ends this one if it fails. What it prints goes where `stdio` says, errors always here. */
function run(program: string, args: readonly string[], stdout: 'inherit' | 'ignore'): void {
  const { status } = spawnSync(program, args, { cwd: root, stdio: ['inherit', stdout, 'inherit'] });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed`);
}

/** Gives the staged package its public name; what is for this repository alone goes. */
function describe(): void {
  const path = join(staged, 'package.json');
  const fields = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  for (const name of ['private', 'scripts', 'devDependencies', 'allowScripts']) delete fields[name];
  writeFileSync(path, `${JSON.stringify({ ...fields, name: fields['publishAs'] }, null, 2)}\n`);
  copyFileSync(join(root, 'docs/registry.md'), join(staged, 'README.md'));
}

try {
  run('npm', ['pack', '--silent', '--pack-destination', folder], 'ignore');
  const [archive = ''] = readdirSync(folder);
  run('tar', ['-xzf', join(folder, archive), '-C', folder], 'ignore');
  describe();
  run('npm', ['publish', staged, ...process.argv.slice(2)], 'inherit');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
