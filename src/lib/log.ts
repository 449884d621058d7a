import { pino, type Logger, type LoggerOptions } from 'pino';
import pretty from 'pino-pretty';

// Matches a terminal's control sequence as it stands in JSON text, where the escape character is spelled out.
const controlSequence = /\\u001b(?:\[[0-9;?]*[ -/]*[@-~])?/gi;

/**
 * The log of a process, on standard output: lines for people on a terminal, else JSON, one object a line. Both are free
 * of control sequences that came in with what is logged.
 */
export function createLog(level: string, isTerminal: boolean = process.stdout.isTTY): Logger {
  const options: LoggerOptions = { level, hooks: { streamWrite: withoutControlSequences } };
  if (!isTerminal) return pino(options);
  const terminal = pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', singleLine: true, sync: true });
  return pino(options, terminal);
}

// Strangers' texts may hold them: they would rewrite what a person reads on a terminal.
function withoutControlSequences(line: string): string {
  return line.includes('\\u001b') ? line.replaceAll(controlSequence, '') : line;
}
