import type { Bench, Figure, Named } from '../bench.ts';

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

const columns = ['path', 'ours', 'limit in the same run', 'ratio', 'peers', 'round trips', 'statements'] as const;

/** The figures as a table in Markdown; with those of an earlier run, a column tells what each was then. */
export function tableOf(figures: readonly Figure[], before: readonly Figure[] | null): string {
  const heads = before ? ['path', 'before', ...columns.slice(1)] : [...columns];
  const rows = figures.map((figure) => cells(figure, before));
  return [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function cells(figure: Figure, before: readonly Figure[] | null): string[] {
  const { path, rows, unit, ours, limit, peers = [], cost } = figure;
  const then = before?.find((one) => one.path === path && one.rows === rows);
  const ratio = ratioOf(figure);
  const name = rows === undefined ? path : `${path}, ${show(rows)} rows`;
  const earlier = before ? [then ? withUnit(then.ours, unit) : '–'] : [];
  return [
    name,
    ...earlier,
    withUnit(ours, unit),
    limit ? named(limit, unit) : '–',
    ratio === null ? '–' : show(ratio, ratio < 0.1 ? 4 : 2),
    peers.map((peer) => named(peer, unit)).join('; ') || '–',
    cost ? show(cost.trips, 2) : '–',
    cost ? show(cost.statements, 2) : '–',
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
