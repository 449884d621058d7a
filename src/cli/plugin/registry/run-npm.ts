import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { OperatorError } from '../../../lib/operator-error.ts';

const run = promisify(execFile);
const timeoutMs = 120_000;
const maxOutputBytes = 16 * 1024 * 1024;

/** A call of npm. The working directory decides which project's `.npmrc` counts beside that of the user. */
export interface NpmCall {
  args: readonly string[];
  cwd: string;
  /** The beginning of the sentence about a failure: what was refused. */
  refused: string;
  /** Bytes of each file that npm may write at most; no limit by default. */
  maxFileBytes?: number;
}

/** Runs npm to its end, without any script of a package; returns what it printed. Throws OperatorError with npm's reason. */
export async function runNpm({ args, cwd, refused, maxFileBytes }: NpmCall): Promise<string> {
  const command = ['npm', ...args, '--ignore-scripts', '--loglevel=error'];
  const limit = `ulimit -f ${Math.ceil((maxFileBytes ?? 0) / blockBytes)} && exec "$@"`;
  const [program = '', ...given] = maxFileBytes === undefined ? command : ['/bin/sh', '-c', limit, 'sh', ...command];
  try {
    return (await run(program, given, { cwd, timeout: timeoutMs, maxBuffer: maxOutputBytes })).stdout;
  } catch (error) {
    const { code, killed, stderr = '', message } = error as Failure;
    if (code === 'ENOENT' || code === commandNotFound)
      throw new OperatorError(
        'npm is needed for this: install it, or make an archive with npm pack elsewhere and install that.',
        { cause: error },
      );
    const reason = killed ? `npm took longer than ${timeoutMs / 1000} s` : reasonIn(stderr) || message;
    throw new OperatorError(`${refused}: ${reason}`, { cause: error });
  }
}

type Failure = Error & { code?: string | number; killed?: boolean; stderr?: string };

/** The unit of `ulimit -f`. */
const blockBytes = 512;
const commandNotFound = 127;

/** The sentences in what npm wrote, without its codes and the path of its log. */
function reasonIn(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (?:error|ERR!) ?/, '').trim());
  const telling = lines.filter(
    (line) =>
      line !== '' && !/^(?:code|errno|syscall|path) |A complete log|^A detailed|^Note that you can also/.test(line),
  );
  return telling.join(' ');
}
