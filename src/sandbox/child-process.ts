import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { systemRandom } from '../lib/ports.ts';
import { childCode } from './stripped-code.ts';
import { chooseUserId, limitedCommand } from './child-limits.ts';

/** A child process with pipes to its stdin and stdout. */
export type SandboxProcess = ChildProcessByStdio<Writable, Readable, null>;

// Node's permission model compares real paths.
const folder = realpathSync(import.meta.dirname);
const projectRoot = join(folder, '..', '..');
// The program first.
const codeFiles = [
  'child/serve-runs',
  'child/give-up-rights',
  'child/isolate',
  'child/isolate-code',
  'child/library-globals',
  'child/spare-isolates',
  'isolate/bootstrap',
  'isolate/context',
  'isolate/encoding',
  'isolate/endings',
  'isolate/globals',
  'isolate/harden',
  'isolate/uuid',
  'isolate/view',
  'wire',
  'run',
];
// node-gyp-build checks whether this file exists to find out which C library there is.
const alpineMark = '/etc/alpine-release';
const childHeapMb = 64;

/**
 * Every path that Node reads when it loads an installed package: its folder, its real path, and a linked node_modules.
 */
export function packagePaths(name: string, from: string): string[] {
  const found = packageFolder(name, from);
  const modules = dirname(found);
  // The order matters: Node ignores an --allow-fs-read that is a prefix of an earlier, longer one.
  return [...(isLink(modules) ? [modules] : []), found, realpathSync(found)];
}

let code: { program: string; readablePaths: readonly string[] } | undefined;

/**
 * The command of a child that can read no file but its own code, cannot start processes or threads and opens no
 * debugger; before it reports ready it gives up reading files, loading native code and being root. The parent has to
 * watch that its resident memory stays below `maxRssMb`. Throws, at the first call only, when isolated-vm is not
 * installed.
 */
export function sandboxCommand(maxRssMb: number, nodeFlags: readonly string[] = []): [string, string[]] {
  const { program, readablePaths } = (code ??= findCode());
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
  const userId = chooseUserId(systemRandom);
  return limitedCommand([process.execPath, ...flags, program, String(userId)], maxRssMb);
}

/** Starts a child with the command of `sandboxCommand`, in an empty environment. */
export function startSandboxProcess(maxRssMb: number): SandboxProcess {
  const [program, args] = sandboxCommand(maxRssMb);
  return spawn(program, args, { cwd: folder, env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
}

/** Resident memory of a process in MiB; null when the process is gone or the system has no /proc. */
export function residentMb(pid: number): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}

const rootPath = fileURLToPath(new URL('../..', import.meta.url));

/** The text without the path of this installation, cut to `maxChars` characters. */
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

/** The folders of the libraries that isolates get, and of what these are made of: Node looks for it beside their real paths. */
function libraryFolders(): string[] {
  const realPath = (paths: readonly string[]): string => paths.at(-1) ?? folder;
  const url = packagePaths('whatwg-url', folder);
  const tr46 = packagePaths('tr46', realPath(url));
  const conversions = packagePaths('webidl-conversions', realPath(url));
  const punycode = packagePaths('punycode', realPath(tr46));
  return [...url, ...tr46, ...conversions, ...punycode, ...packagePaths('@ungap/structured-clone', folder)];
}

function findCode(): { program: string; readablePaths: string[] } {
  const addon = packagePaths('isolated-vm', folder);
  const loader = packagePaths('node-gyp-build', addon.at(-1) ?? folder);
  const libraries = libraryFolders();
  const own = childCode(folder, codeFiles);
  const readablePaths = [...own, join(projectRoot, 'package.json'), ...addon, ...loader, ...libraries, alpineMark];
  return { program: own[0] ?? '', readablePaths: [...new Set(readablePaths)] };
}
