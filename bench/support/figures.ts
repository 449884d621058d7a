import type { Bench, Cost, Figure, Named } from '../bench.ts';

/** The value below which the share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);

/** How much of the limit is reached, whether more is better (`/s`) or less. */
function ratioOf({ unit, ours, limit }: Figure): number | null {
  if (!limit) return null;
  return unit === '/s' ? ours / limit.value : limit.value / ours;
}

const columns = ['limit in the same run', 'ratio', 'peers', 'round trips', 'statements'] as const;

/**
 * The figures as tables in Markdown: those of any account, then those of accounts of several sizes, a column each, the limit
 * beside the largest. With those of an earlier run, a column tells what each was then.
 */
export function tablesOf(figures: readonly Figure[], before: readonly Figure[] | null): string {
  const [single, sized] = [
    figures.filter(({ rows, cells: further }) => rows === undefined && !further),
    figures.filter(({ rows }) => rows !== undefined),
  ];
  const tables = [];
  if (single.length > 0)
    tables.push(
      table(
        ['now'],
        single.map((figure) => [[figure], figure]),
        before,
      ),
    );
  const sizes = [...new Set(sized.map(({ rows = 0 }) => rows))].toSorted((one, other) => one - other);
  const paths = [...Map.groupBy(sized, ({ path }) => path).values()];
  const grown = paths.flatMap((ofPath): [(Figure | undefined)[], Figure][] => {
    const largest = ofPath.toSorted((one, other) => (other.rows ?? 0) - (one.rows ?? 0))[0];
    return largest ? [[sizes.map((rows) => ofPath.find((one) => one.rows === rows)), largest]] : [];
  });
  if (grown.length > 0)
    tables.push(
      table(
        sizes.map((rows) => `${show(rows)} rows`),
        grown,
        before,
      ),
    );
  return [...tables, ...tablesOfCells(figures)].join('\n\n');
}

function tablesOfCells(figures: readonly Figure[]): string[] {
  const rows = figures.flatMap(({ path, cells: further }) => (further ? [{ path, further }] : []));
  const tables = Map.groupBy(rows, ({ further }) => Object.keys(further).join(' | '));
  return [...tables].map(([heads, ofTable]) => {
    const lines = ofTable.map(({ path, further }) => [path, ...Object.values(further)].join(' | '));
    const rule = heads.split(' | ').map(() => ' | ---');
    return [`path | ${heads}`, `---${rule.join('')}`, ...lines].map((line) => `| ${line} |`).join('\n');
  });
}

type Line = [values: readonly (Figure | undefined)[], described: Figure];

function table(values: readonly string[], lines: readonly Line[], before: readonly Figure[] | null): string {
  const heads = ['path', ...(before ? ['before'] : []), ...values, ...columns];
  const rows = lines.map(([measured, figure]) => [
    figure.path,
    ...(before ? [earlier(figure, before)] : []),
    ...measured.map((one) => (one ? withUnit(one.ours, one.unit) : '–')),
    ...cells(figure, before ? figureBefore(figure, before) : undefined),
  ]);
  return [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

// Figures of a release before the bench are known for one size of the account alone.
function figureBefore({ path, rows }: Figure, before: readonly Figure[]): Figure | undefined {
  return before.find((one) => one.path === path && (one.rows === rows || one.rows === undefined));
}

function earlier(figure: Figure, before: readonly Figure[]): string {
  const then = figureBefore(figure, before);
  return then ? withUnit(then.ours, then.unit) : '–';
}

function cells(figure: Figure, then?: Figure): string[] {
  const { unit, limit, peers = [], cost } = figure;
  const ratio = ratioOf(figure);
  const change = (what: keyof Cost): string => {
    if (!cost) return '–';
    const now = show(cost[what], 2);
    return then?.cost ? `${show(then.cost[what], 2)} → ${now}` : now;
  };
  return [
    limit ? named(limit, unit) : '–',
    ratio === null ? '–' : show(ratio, ratio < 0.1 ? 4 : 2),
    peers.map((peer) => named(peer, unit)).join('; ') || '–',
    change('trips'),
    change('statements'),
  ];
}

function named({ name, value }: Named, unit: Figure['unit']): string {
  return `${name}: ${withUnit(value, unit)}`;
}

function withUnit(value: number, unit: Figure['unit']): string {
  const digits = unit === '/s' || value >= 100 ? 0 : 1;
  return unit === '/s' ? `${show(value)}/s` : `${show(value, value < 1 ? 2 : digits)} ${unit}`;
}

/** A number for people, without needless zeros. */
function show(value: number, digits = 0): string {
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/** Names of benches that were asked for and do not exist. */
export function unknownNames(wanted: readonly string[], benches: readonly Bench[]): string[] {
  return wanted.filter((name) => !benches.some((bench) => bench.name === name));
}
