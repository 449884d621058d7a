/** How a run ended, for comparison. */
export interface Ending {
  outcome: string;
  actions: readonly Record<string, unknown>[];
}

/** The lines that tell two endings apart: `-` only before, `+` only now; those in both have neither. None when they are alike. */
export function differenceOf(before: Ending, now: Ending): string[] {
  const [old, recent] = [before, now].map(({ actions }) => actions.map(describe)) as [string[], string[]];
  const isSame =
    before.outcome === now.outcome && old.length === recent.length && old.every((text, at) => text === recent[at]);
  if (isSame) return [];
  const outcome = before.outcome === now.outcome ? [] : [`- ${before.outcome}`, `+ ${now.outcome}`];
  const longest = Math.max(old.length, recent.length);
  const actions = Array.from({ length: longest }, (_, at) => linesOf(old[at], recent[at])).flat();
  return [...outcome, ...actions];
}

function linesOf(old: string | undefined, recent: string | undefined): string[] {
  if (old === recent) return old === undefined ? [] : [`  ${old}`];
  return [...(old === undefined ? [] : [`- ${old}`]), ...(recent === undefined ? [] : [`+ ${recent}`])];
}

function describe({ type, ...fields }: Record<string, unknown>): string {
  const texts = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return [String(type), ...texts].join(' ');
}
