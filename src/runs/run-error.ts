import type { BotRun } from '../domain/bots/run-records.ts';

const firstFrame = /\n {4}at /;

/** An error of a run for its record: the message, and the stack where the text has one. */
export function errorOfRun(text: string | undefined): BotRun['error'] {
  if (text === undefined) return null;
  const at = text.search(firstFrame);
  return at === -1 ? { message: text, stack: null } : { message: text.slice(0, at), stack: text };
}

/** Returns the first line of a channel's error: agents see no stack. */
export function reasonOf(error: string): string {
  const [line = ''] = error.split('\n');
  return line.replace(/^(Uncaught )?Error: /, '') || 'The channel failed';
}
