import { findingsOf } from './findings.ts';
import type { Outcome } from './run.ts';

const head = [
  'fault',
  'what',
  'events',
  'delivered',
  'lost',
  'ghosts',
  'order',
  'repeated: explained',
  'unexplained',
  'ledger',
  'verdict',
];

/** The outcomes as a table in Markdown, with a line of sums, and behind it what was found. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const sum = (count: (outcome: Outcome) => number): string =>
    format(outcomes.reduce((all, one) => all + count(one), 0));
  const rows = outcomes.map((outcome) => cellsOf(outcome));
  const sums = [
    'all lines',
    '',
    ...counts.map((count) => sum(count)),
    outcomes.every(({ row }) => row.isClean) ? 'clean' : 'FAILS',
  ];
  const lines = [head, head.map(() => '---'), ...rows, sums].map((cells) => `| ${cells.join(' | ')} |`);
  return [...lines, ...outcomes.flatMap(findingsOf)].join('\n');
}

const counts: readonly ((outcome: Outcome) => number)[] = [
  ({ row }) => row.events,
  ({ row }) => row.delivered,
  ({ row }) => row.lost.length,
  ({ row }) => row.ghosts.length,
  ({ row }) => row.order.length,
  ({ row }) => row.explained,
  ({ row }) => row.unexplained.length,
  ({ row }) => row.ledger.length,
];

function cellsOf(outcome: Outcome): string[] {
  return [
    outcome.id,
    outcome.what,
    ...counts.map((count) => format(count(outcome))),
    outcome.row.isClean ? 'clean' : 'FAILS',
  ];
}

function format(count: number): string {
  return count.toLocaleString('en');
}
