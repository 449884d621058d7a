#!/usr/bin/env node
// The launcher: finds a Node that is new enough for the service and runs it. Plain JavaScript, so that an old Node can
// run the launcher.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const requiredMajor = 24;
// A clone has the source; the package that `npm pack` makes has the same as JavaScript.
const source = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const main = existsSync(source) ? source : fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
// With others, the command line says what is wrong, or helps.
const startOptions = ['--timing', '--watch-plugins'];
const bundledNodes = ['../node_modules/.bin/node', '../../.bin/node'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
// Without --disable-sigusr1, any process of the same system user could open Node's debugger.
const flags = ['--disable-sigusr1', '--disable-warning=ExperimentalWarning'];
// An older Node does not know --disable-sigusr1; a listener keeps the debugger closed too.
process.on('SIGUSR1', () => undefined);
// Compiled code, which a start finds again; where the folder cannot be written, Node goes without.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../prepared/compiled', import.meta.url));
const node = findNode();
if (node === null) {
  console.error(
    `Switchboard needs Node ${requiredMajor} or newer, and this is Node ${process.versions.node}: install it, or run npm ci, which brings one for Linux.`,
  );
  // npm ci calls `prepare`, whose work a start can do as well.
  process.exit(process.argv[2] === 'prepare' ? 0 : 1);
}
const [command, ...options] = process.argv.slice(2);
if (command === 'start' && options.every((option) => startOptions.includes(option)))
  process.stderr.write('Switchboard is starting …\n');
// Replaces this process, so that signals reach the service directly.
if (process.execve) process.execve(node, [node, ...argumentsFor(process.env.npm_command && process.ppid)], process.env);
runAsChild(node);

/**
 * npm and this launcher do not forward SIGKILL to the service, so it gets their process id and watches for their end.
 */
function argumentsFor(parent) {
  return [...flags, main, ...(parent ? [`--parent=${parent}`] : []), ...process.argv.slice(2)];
}

/** The path of a Node that is new enough; null if there is none. */
function findNode() {
  if (major(process.versions.node) >= requiredMajor) return process.execPath;
  return bundledNodes.find((path) => existsSync(path) && isNewEnough(path)) ?? null;
}

function isNewEnough(path) {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return Boolean(stdout) && major(stdout.slice(1)) >= requiredMajor;
}

function major(version) {
  return Number.parseInt(version, 10);
}

/** Runs the service as a child, forwards signals to it, and exits with its exit code. */
function runAsChild(program) {
  // A process group of its own: Ctrl-C would otherwise reach the service twice, and a second signal ends it at once.
  const child = spawn(program, argumentsFor(process.pid), { stdio: 'inherit', detached: true });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => {
    console.error(`Node cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
