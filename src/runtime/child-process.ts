import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** A forked child that speaks over its stdin and stdout. */
export type SandboxProcess = ChildProcessByStdio<Writable, Readable, null>;

// The permission model compares real paths, so everything is named by its real path.
const folder = realpathSync(import.meta.dirname);
const projectRoot = join(folder, '..', '..');
const codeFiles = [
  'runner-child.ts',
  'sandbox.ts',
  'bootstrap.ts',
  'isolate-harden.ts',
  'isolate-view.ts',
  'wire.ts',
  'run-types.ts',
];
// node-gyp-build looks for this file to tell the C library.
const alpineMark = '/etc/alpine-release';
const childHeapMb = 64;

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function packageFolder(name: string, from: string): string {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (lstatSync(candidate, { throwIfNoEntry: false })) return candidate;
  }
  throw new Error(`${name} is not installed`);
}

/** Every path that reading this package takes: its folder as found, as it really is, and links on the way. */
function packagePaths(name: string, from: string): string[] {
  const found = packageFolder(name, from);
  const modules = dirname(found);
  return [found, realpathSync(found), ...(isLink(modules) ? [modules] : [])];
}

function findReadablePaths(): string[] {
  const addon = packagePaths('isolated-vm', folder);
  const loader = packagePaths('node-gyp-build', addon[1] ?? folder);
  const own = [...codeFiles.map((file) => join(folder, file)), join(projectRoot, 'package.json')];
  return [...new Set([...own, ...addon, ...loader, alpineMark])];
}

let readablePaths: readonly string[] | undefined;

/**
 * Starts a child that can read its own code and nothing else, start no process or thread, and knows no environment.
 * Throws, at the first call only, when isolated-vm is not installed.
 */
export function startSandboxProcess(): SandboxProcess {
  readablePaths ??= findReadablePaths();
  const flags = [
    '--permission',
    '--allow-addons',
    ...readablePaths.map((path) => `--allow-fs-read=${path}`),
    '--no-node-snapshot',
    `--max-old-space-size=${childHeapMb}`,
    '--no-warnings',
  ];
  // UTC is all it is told: a bot's dates must not depend on where the service runs.
  const env = { TZ: 'UTC' };
  return spawn(process.execPath, [...flags, join(folder, 'runner-child.ts')], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  });
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
