const numbers = new Intl.NumberFormat('en');

/** Returns a number with its noun, such as `1 row` and `12,345 rows`. */
export function counted(number: number, noun: string): string {
  return `${numbers.format(number)} ${noun}${number === 1 ? '' : 's'}`;
}
