import { printable } from '../../lib/text/printable.ts';

/** Prints an answer: as JSON with `--json`, otherwise as the lines from `toLines`. */
export function printAnswer<Answer>(
  answer: Answer,
  { json = false }: { json?: boolean },
  toLines: (answer: Answer) => readonly string[],
): void {
  if (json) console.log(JSON.stringify(answer, null, 2));
  else for (const line of toLines(answer)) console.log(printable(line));
}

/** Lines with the cells of the rows in columns, below a header. */
export function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    return cells.join('  ').trimEnd();
  });
}

/** The lines as a list, below a line that introduces them; nothing where there are none. */
export function listOf(introduction: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [introduction, ...lines.map((line) => `  - ${line}`)];
}
