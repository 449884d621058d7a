import { fork, type ChildProcess } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundlerFlags } from '../../src/packages/read/bundler-flags.ts';
import type { Answer, PackageReader } from '../../src/packages/read/read-in-process.ts';
import { closeAtEnd } from './leaks.ts';

export type ReadRequest = { id: number; directory: string } | { id: number; archive: string; limits: object };
/** `answer` is null if the reader could not read the package. */
export type ReadReply = { id: number; answer: Answer | null };

const program = fileURLToPath(new URL('package-reader-process.ts', import.meta.url));
const flags = ['--disable-sigusr1', '--disable-warning=ExperimentalWarning', ...bundlerFlags];

let shared: { child: ChildProcess; waiting: Map<number, (reply: ReadReply) => void> } | null = null;
let lastId = 0;

/**
 * Reads packages with the code of the service, but all of a test process in one process: each process of a package takes
 * more than a second of computing until it has loaded its bundler. Tests about the process itself do not use it.
 */
export const sharedReader: PackageReader = {
  folder: async (directory) => (await ask({ directory: await realpath(directory) })).reading,
  archive: (bytes, limits) => ask({ archive: bytes.toString('base64'), limits }),
};

async function ask(what: { directory: string } | { archive: string; limits: object }): Promise<Answer> {
  const { child, waiting } = (shared ??= start());
  const id = (lastId += 1);
  const { promise, resolve } = Promise.withResolvers<ReadReply>();
  waiting.set(id, resolve);
  child.send({ id, ...what } satisfies ReadRequest);
  const { answer } = await promise;
  if (!answer) throw new Error('The shared reader of packages ended');
  return answer;
}

function start(): NonNullable<typeof shared> {
  const child = fork(program, { execArgv: flags, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const waiting = new Map<number, (reply: ReadReply) => void>();
  child.on('message', (reply: ReadReply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  child.once('exit', () => {
    shared = null;
    for (const [id, resolve] of waiting) resolve({ id, answer: null });
  });
  return { child, waiting };
}

closeAtEnd(async () => {
  const ending = shared?.child;
  if (!ending) return;
  const ended = new Promise((resolve) => void ending.once('exit', resolve));
  ending.disconnect();
  await ended;
});
