import type { Subject } from '../events/catalog.ts';
import type { Message } from '../records/messages/message.ts';
import { plainTextOf } from '../records/messages/rich-content.ts';
import { printable } from '../lib/text/printable.ts';
import type { SimulatedRun } from './api.ts';
import type { Happening } from './stage/stage.ts';

const longestShown = 300;
const authors = {
  contact: 'customer',
  agent_bot: 'bot',
  automation: 'automation',
  user: 'human',
  system: 'service',
} as const;

/** The line for something that happened; null for what needs none. */
export function lineOf(happening: Happening): string | null {
  if (happening.kind === 'message') return lineOfMessage(happening.message);
  if (happening.kind === 'called') return null;
  const { name, subject } = happening;
  const changes = describeChanges(subject);
  return changes === '' ? null : `* ${name}: ${changes}`;
}

/** The lines for a run: its log, and how it failed if it did. */
export function linesOfRun({ event, outcome, error, logs, calls }: SimulatedRun): string[] {
  const asked = calls.map(({ name, input, output, error: refused }) => {
    const answer = refused ? `${refused.code}: ${refused.message}` : cut(JSON.stringify(output ?? null));
    return `  ${name} ${cut(JSON.stringify(input))} → ${answer}`;
  });
  const told = logs.map(({ level, message, fields }) => {
    const extra = fields === undefined ? '' : ` ${JSON.stringify(fields)}`;
    return `  log ${level}: ${printable(message)}${printable(extra)}`;
  });
  const lines = [...asked.map(printable), ...told];
  if (outcome === 'ok' || outcome === 'no_handler') return lines;
  return [...lines, `! ${event}: ${outcome}${error === null ? '' : `: ${inLines(error)}`}`];
}

function lineOfMessage(message: Message): string {
  const { sender, private: isNote, attachments } = message;
  const author = authors[sender.kind];
  const files = attachments.map(({ name }) => ` [${printable(name)}]`).join('');
  return `${isNote ? `${author} (note)` : author}: ${inLines(plainTextOf(message))}${files}`;
}

function describeChanges({ changed = {} }: Subject): string {
  return Object.entries(changed)
    .map(([name, { previous, current }]) => `${name} ${shown(previous)} → ${shown(current)}`)
    .join(', ');
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

// Lines of a text stay lines.
function inLines(text: string): string {
  return text.split('\n').map(printable).join('\n      ');
}

function cut(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
