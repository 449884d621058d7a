import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The program that gives others a pseudo terminal. */
export const terminal = '/usr/bin/script';
/** How wide it is. */
export const columns = 80;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program at a pseudo terminal, and what it shows. */
export interface Shown {
  child: ChildProcess;
  output: () => string;
}

/** Starts a program of the project at a pseudo terminal, with nothing of this environment but the path. */
export function startAtTerminal(program: string, env: Record<string, string>): Shown {
  const child = spawn(terminal, ['-qec', `stty cols ${columns}; exec ${program}`, '/dev/null'], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'warn', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString().replaceAll('\r', '')));
  return { child, output: () => output };
}

/** What it has shown when the last of it has come. */
export async function shown({ child, output }: Shown, last: RegExp): Promise<string> {
  for (let look = 0; look < 4_000 && !last.test(output()) && child.exitCode === null; look += 1) await sleep(50);
  expect(output()).to.match(last);
  return output();
}

/** Ends it by Ctrl-C, as the terminal sends it to the service. */
export async function endAtTerminal({ child }: Shown): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin?.write('\u0003');
  await ended;
}
