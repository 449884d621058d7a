import { listOf, tableOf } from '../print.ts';

/** What is counted. */
const counted = [
  'inboxes',
  'agents',
  'teams',
  'labels',
  'contacts',
  // Contacts whom their list does not show, but conversations name.
  'visitors',
  // About contacts.
  'notes',
  'conversations',
  'messages',
  'files',
] as const;
export type Counted = (typeof counted)[number];

/** What became of the records of a kind. */
export interface Count {
  /** How many there are there, as their server counts; null where it does not tell. */
  theirs: number | null;
  created: number;
  updated: number;
  /** As they were, or found here. */
  unchanged: number;
  left_out: number;
}

/** What an import did, or with `dry_run` what there is. */
export interface Report {
  source: string;
  account_id: number;
  dry_run: boolean;
  counts: Record<Counted, Count>;
  /** What was left out, or could not be copied as it is; the first of them. */
  remarks: { what: string; why: string }[];
  remarks_total: number;
  /** What is to be done next. */
  hints: string[];
}

const keptRemarks = 500;

/** Collects what an import did. */
export class Reporter {
  readonly report: Report;

  constructor(source: string, accountId: number, isDryRun: boolean) {
    const none = (): Count => ({ theirs: null, created: 0, updated: 0, unchanged: 0, left_out: 0 });
    const counts = Object.fromEntries(counted.map((kind) => [kind, none()])) as Report['counts'];
    this.report = {
      source,
      account_id: accountId,
      dry_run: isDryRun,
      counts,
      remarks: [],
      remarks_total: 0,
      hints: [],
    };
  }

  /** Counts records of a kind. */
  count(kind: Counted, outcome: Exclude<keyof Count, 'theirs'>, records = 1): void {
    this.report.counts[kind][outcome] += records;
  }

  theirs(kind: Counted, records: number | null): void {
    this.report.counts[kind].theirs = records;
  }

  /** Says that something is not as it was. */
  remark(what: string, why: string): void {
    this.report.remarks_total += 1;
    if (this.report.remarks.length < keptRemarks) this.report.remarks.push({ what, why });
  }

  leaveOut(kind: Counted, what: string, why: string): void {
    this.count(kind, 'left_out');
    this.remark(what, `left out: ${why}`);
  }

  hint(text: string): void {
    this.report.hints.push(text);
  }

  get hasLeftOut(): boolean {
    return counted.some((kind) => this.report.counts[kind].left_out > 0);
  }
}

const shownRemarks = 50;

/** A report for people. */
export function linesOf({ source, account_id: id, dry_run: isDry, counts, remarks, ...rest }: Report): string[] {
  const rows = counted.map((kind) => {
    const { theirs, created, updated, unchanged, left_out: leftOut } = counts[kind];
    return [kind, theirs ?? '-', created, updated, unchanged, leftOut].map(String);
  });
  const header = ['', 'theirs', 'created', 'changed', 'unchanged', 'left out'];
  const more = rest.remarks_total - Math.min(shownRemarks, remarks.length);
  const said = remarks.slice(0, shownRemarks).map(({ what, why }) => `${what}: ${why}`);
  return [
    isDry ? `What is at ${source}; nothing was copied:` : `From ${source} into account ${id}:`,
    ...tableOf(header, rows),
    ...listOf('Not as it was:', more > 0 ? [...said, `and ${more} more; --json has the first ${keptRemarks}`] : said),
    ...listOf('What is next:', rest.hints),
  ];
}
