// Runs inside the isolate before the bot is loaded (see bootstrap.ts). Methods are taken from their prototypes on purpose:
// they are called with Reflect.apply.
/* oxlint-disable typescript/unbound-method */

const { apply } = Reflect;
const SafeError = Error;
const textIndexOf = String.prototype.indexOf;
const textSlice = String.prototype.slice;

const botFile = 'bot.js:';
const first = { type: '', place: '' };

/** How an action ends the bot's part in a conversation; null for other actions. The ends exclude each other. */
export function endingOf(type: unknown): string | null {
  if (type === 'handoff' || type === 'open') return 'handoff';
  return type === 'resolve' || type === 'snooze' ? type : null;
}

/** Returns why an action excludes an earlier one of the run, with the places of both calls; null when it does not. */
export function findConflict(type: string): string | null {
  const ending = endingOf(type);
  if (ending === null) return null;
  const place = placeOfCall();
  if (first.type === '') {
    first.type = type;
    first.place = place;
  }
  if (endingOf(first.type) === ending) return null;
  const both = `ctx.${first.type}${first.place} and ctx.${type}${place} exclude each other`;
  return `${both}: a run can hand off, resolve or snooze, one of these`;
}

/** The place in the bot's code that is being executed; empty if the bot has turned stacks off. */
function placeOfCall(): string {
  const stack: unknown = new SafeError().stack;
  const begin = typeof stack === 'string' ? apply(textIndexOf, stack, [botFile]) : -1;
  if (typeof stack !== 'string' || begin === -1) return '';
  let end = begin + botFile.length;
  while (isOfPlace(stack[end])) end += 1;
  return ` (${apply(textSlice, stack, [begin, end])})`;
}

function isOfPlace(letter = ''): boolean {
  return letter === ':' || (letter >= '0' && letter <= '9');
}
