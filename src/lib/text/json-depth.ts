import { maxJsonDepth } from './unsafe-value.ts';

/** Whether objects and lists are nested deeper than documents of the API may be. Safe for any parsed document. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const holders = level.filter((one): one is object => typeof one === 'object' && one !== null);
    if (holders.length > 0 && depth >= maxJsonDepth) return true;
    level = holders.flatMap((one) => Object.values(one) as unknown[]);
  }
  return false;
}
