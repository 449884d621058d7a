import { CommanderError, type Command } from 'commander';
import { createProgram, printFailure } from '../../src/cli/program.ts';

/** Exit code, standard output and standard error of a command. */
export interface Ended {
  /** Null if a signal ended it. */
  code: number | null;
  output: string;
  errors: string;
}

export interface CommandPlace {
  env: Readonly<Record<string, string>>;
  /** The working directory. */
  cwd: string;
}

const streams = ['stdout', 'stderr'] as const;
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs `switchboard …` in this process, with this environment and no other, away from any terminal. Commands of a test
 * process run one after the other, because environment, working directory and exit code belong to the process.
 */
export function runCommand(args: readonly string[], place: CommandPlace): Promise<Ended> {
  const ended = previous.then(() => runAlone(args, place));
  previous = ended.catch(() => undefined);
  return ended;
}

async function runAlone(args: readonly string[], { env, cwd }: CommandPlace): Promise<Ended> {
  const before = { env: { ...process.env }, cwd: process.cwd(), exitCode: process.exitCode };
  const written = { stdout: '', stderr: '' };
  const restores = streams.map((name) => capture(name, (chunk) => (written[name] += chunk)));
  restores.push(setTerminal(process.stdin, false));
  replaceEnvironment(env);
  process.chdir(cwd);
  process.exitCode = undefined;
  try {
    const code = (await parse(args)) ?? readExitCode();
    return { code, output: written.stdout, errors: written.stderr };
  } finally {
    process.exitCode = before.exitCode;
    process.chdir(before.cwd);
    replaceEnvironment(before.env);
    for (const restore of restores) restore();
  }
}

/** Returns the exit code of a command that did not run to its end, otherwise null. */
async function parse(args: readonly string[]): Promise<number | null> {
  const program = createProgram();
  stayInProcess(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return null;
  } catch (error) {
    // Commander has printed the help or the mistake itself.
    if (error instanceof CommanderError) return error.exitCode;
    printFailure(error);
    return 1;
  }
}

function readExitCode(): number {
  return Number(process.exitCode ?? 0);
}

function stayInProcess(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) stayInProcess(child);
}

function replaceEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

/** Sends what is written to the stream to `take`; returns the function that ends that. */
function capture(name: (typeof streams)[number], take: (chunk: string) => void): () => void {
  const stream = process[name];
  const write: unknown = Reflect.get(stream, 'write');
  const restoreTerminal = setTerminal(stream, false);
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    take(Buffer.from(chunk as string).toString());
    const done = rest.findLast((value) => typeof value === 'function') as (() => void) | undefined;
    if (done) process.nextTick(done);
    return true;
  };
  return () => {
    Reflect.set(stream, 'write', write);
    restoreTerminal();
  };
}

function setTerminal(stream: { isTTY?: boolean }, isTTY: boolean): () => void {
  const before = stream.isTTY;
  stream.isTTY = isTTY;
  return () => {
    stream.isTTY = before as boolean;
  };
}
