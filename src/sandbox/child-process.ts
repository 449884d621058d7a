import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { systemRandom } from '../lib/ports.ts';
import { chooseUserId, limitedCommand } from './child-limits.ts';

/** A forked child that speaks over its stdin and stdout. */
export type SandboxProcess = ChildProcessByStdio<Writable, Readable, null>;

// The permission model compares real paths, so everything is named by its real path.
const folder = realpathSync(import.meta.dirname);
const projectRoot = join(folder, '..', '..');
const codeFiles = [
  'child/serve-runs.ts',
  'child/give-up-rights.ts',
  'child/isolate.ts',
  'isolate/bootstrap.ts',
  'isolate/harden.ts',
  'isolate/view.ts',
  'wire.ts',
  'run.ts',
];
// node-gyp-build looks for this file to tell the C library.
const alpineMark = '/etc/alpine-release';
const childHeapMb = 64;

/** Every path that reading this package takes: its folder as found, as it really is, and links on the way. */
export function packagePaths(name: string, from: string): string[] {
  const found = packageFolder(name, from);
  const modules = dirname(found);
  // Node forgets a path that it is given after a longer one which begins with it.
  return [...(isLink(modules) ? [modules] : []), found, realpathSync(found)];
}

let readablePaths: readonly string[] | undefined;

/**
 * The command of a child that can read its own code and nothing else, start no process or thread, opens no debugger, and
 * once it is ready cannot read files, load native code or be root any more. Its resident memory is to be kept below
 * `maxRssMb` by the parent. Throws, at the first call only, when isolated-vm is not installed.
 */
export function sandboxCommand(maxRssMb: number, nodeFlags: readonly string[] = []): [string, string[]] {
  readablePaths ??= findReadablePaths();
  const flags = [
    '--permission',
    '--allow-addons',
    ...readablePaths.map((path) => `--allow-fs-read=${path}`),
    '--disable-sigusr1',
    '--no-node-snapshot',
    `--max-old-space-size=${childHeapMb}`,
    '--no-warnings',
    ...nodeFlags,
  ];
  const account = chooseUserId(systemRandom);
  return limitedCommand([process.execPath, ...flags, join(folder, 'child/serve-runs.ts'), String(account)], maxRssMb);
}

/** Starts a child of the pool: the command above, speaking over its stdin and stdout. */
export function startSandboxProcess(maxRssMb: number): SandboxProcess {
  const [program, args] = sandboxCommand(maxRssMb);
  return spawn(program, args, { cwd: folder, env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
}

/** Resident memory of a process in MiB; null where the operating system does not say (/proc is missing) or it is gone. */
export function residentMb(pid: number): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}

const rootPath = fileURLToPath(new URL('../..', import.meta.url));

/** The text without paths of this installation, cut to `maxChars`. */
export function hidePaths(text: string, maxChars: number): string {
  const hidden = text.replaceAll(`${projectRoot}/`, '').replaceAll(rootPath, '');
  return hidden.slice(0, maxChars).toWellFormed();
}

function packageFolder(name: string, from: string): string {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (lstatSync(candidate, { throwIfNoEntry: false })) return candidate;
  }
  throw new Error(`${name} is not installed`);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function findReadablePaths(): string[] {
  const addon = packagePaths('isolated-vm', folder);
  const loader = packagePaths('node-gyp-build', addon.at(-1) ?? folder);
  const own = [...codeFiles.map((file) => join(folder, file)), join(projectRoot, 'package.json')];
  return [...new Set([...own, ...addon, ...loader, alpineMark])];
}
