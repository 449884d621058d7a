import { createRequire } from 'node:module';
import { pino, type Logger, type LoggerOptions } from 'pino';
import type { PinoPretty } from 'pino-pretty';

// Matches a control sequence of terminals in JSON text, where the ESC character is escaped.
const controlSequence = /\\u001b(?:\[[0-9;?]*[ -/]*[@-~])?/gi;

/**
 * The log of a process on standard output: readable lines on a terminal, else JSON, one object a line. Removes terminal
 * control sequences from logged texts.
 */
export function createLog(level: string, isTerminal: boolean = process.stdout.isTTY): Logger {
  const options: LoggerOptions = { level, hooks: { streamWrite: withoutControlSequences } };
  if (!isTerminal) return pino(options);
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty;
  const terminal = pretty({
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    // `error` is a text of ours: as the library's kind of error it would stand in a line of its own, below.
    errorLikeObjectKeys: ['err'],
    sync: true,
  });
  return pino(options, terminal);
}

// Logged texts may come from strangers, whose control sequences could change what the terminal shows.
function withoutControlSequences(line: string): string {
  return line.includes('\\u001b') ? line.replaceAll(controlSequence, '') : line;
}
