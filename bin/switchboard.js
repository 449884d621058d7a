#!/usr/bin/env node
// Plain JavaScript, so that any Node can run it: it finds a Node that can run the service, and hands over to it.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const requiredMajor = 24;
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const bundledNode = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
// SIGUSR1 would open Node's debugger to every process of this account. isolated-vm cannot work from a start-up snapshot.
const flags = ['--disable-sigusr1', '--no-node-snapshot', '--disable-warning=ExperimentalWarning'];
// This process may be a Node that does not know that flag: a listener keeps its debugger closed as well.
process.on('SIGUSR1', () => undefined);
const node = findNode();
if (node === null) {
  console.error(
    `Switchboard needs Node ${requiredMajor} or newer, and this is Node ${process.versions.node}: install it, or run npm ci, which brings one for Linux.`,
  );
  process.exit(1);
}
// Taking this process's place leaves nobody in between who could miss a signal.
if (process.execve) process.execve(node, [node, ...argumentsFor(process.env.npm_command && process.ppid)], process.env);
runAsChild(node);

/** npm, and this process as a parent, may be killed without passing it on: the service then looks for their end itself. */
function argumentsFor(parent) {
  return [...flags, main, ...(parent ? [`--parent=${parent}`] : []), ...process.argv.slice(2)];
}

/** Path of a Node that is new enough, or null. */
function findNode() {
  if (major(process.versions.node) >= requiredMajor) return process.execPath;
  if (!existsSync(bundledNode)) return null;
  const { stdout } = spawnSync(bundledNode, ['--version'], { encoding: 'utf8' });
  return stdout && major(stdout.slice(1)) >= requiredMajor ? bundledNode : null;
}

function major(version) {
  return Number.parseInt(version, 10);
}

/** Runs the service as a child that gets every signal this process gets, and ends as the child ends. */
function runAsChild(program) {
  // A group of its own: Ctrl-C in a terminal would otherwise reach it twice, and twice means at once.
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
