import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program that takes longer hangs, on a busy machine too. */
const longestMs = 600_000;

export interface Ended {
  code: number | null;
  output: string;
  errors: string;
}

/** Runs a program in a folder to its end; what npm and this test suite set in the environment does not reach it. */
export function runIn(cwd: string, program: string, ...args: string[]): Ended {
  const clean = Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$/i.test(name));
  const env = { ...Object.fromEntries(clean), PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout: longestMs });
  return { code: status, output: stdout, errors: stderr };
}

/** Packs the project; the path of the tarball. */
export function packProject(folder: string): string {
  const { code, output, errors } = runIn(root, 'npm', 'pack', '--json', '--pack-destination', folder);
  if (code !== 0) throw new Error(`npm pack failed:\n${output}${errors}`);
  const [packed] = JSON.parse(output.slice(output.indexOf('[\n'))) as { filename: string }[];
  return join(folder, packed?.filename ?? '');
}

/** A folder of somebody who has installed the tarball; its dependencies are links to ours, as there is no network. */
export function installElsewhere(tarball: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-author-'));
  mkdirSync(folder, { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const ours = (name: string) => `file:${join(root, 'node_modules', name)}`;
  const overrides = Object.fromEntries(Object.keys(dependencies).map((name) => [name, ours(name)]));
  const project = {
    name: 'bots-of-mine',
    private: true,
    type: 'module',
    dependencies: { switchboard: `file:${tarball}` },
    devDependencies: { typescript: ours('typescript'), '@types/node': ours('@types/node') },
    overrides,
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  const { code, output, errors } = runIn(folder, 'npm', 'install', '--offline', '--omit=optional', '--ignore-scripts');
  if (code !== 0) throw new Error(`npm install failed:\n${output}${errors}`);
  return folder;
}
