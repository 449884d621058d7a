import { listOf, tableOf } from '../terminal/print.ts';

/** Counted kinds of records. */
const counted = [
  'inboxes',
  'agents',
  'teams',
  'labels',
  'attribute_definitions',
  'canned_responses',
  'webhooks',
  'automation_rules',
  'macros',
  'contacts',
  // Contacts whom Chatwoot's list does not show, but conversations name.
  'visitors',
  // Notes about contacts.
  'notes',
  'conversations',
  'messages',
  'files',
] as const;
export type Counted = (typeof counted)[number];

/** Outcomes of the records of a kind. */
export interface Count {
  /** Number of records in Chatwoot; null if Chatwoot does not return it. */
  theirs: number | null;
  created: number;
  updated: number;
  /** Unchanged copies, and records that were found here. */
  unchanged: number;
  left_out: number;
}

/** Result of an import, or with `dry_run` the records that it would copy. */
export interface Report {
  source: string;
  account_id: number;
  dry_run: boolean;
  counts: Record<Counted, Count>;
  /** Kinds that are not copied, and the number of each in Chatwoot. */
  not_copied: Record<string, number>;
  /** Records that were left out or changed on the way; the first of them. */
  remarks: { what: string; why: string }[];
  remarks_total: number;
  /** Reasons, the most frequent first, each with the number of its records and the first of them. */
  reasons: { why: string; count: number; examples: string[] }[];
  /** Next steps for the operator. */
  hints: string[];
}

const [keptRemarks, keptReasons, keptExamples] = [500, 200, 3];
const otherReasons = 'other reasons';

/** Collects the results of an import. */
export class Reporter {
  readonly #found: Omit<Report, 'reasons'>;
  readonly #reasons = new Map<string, { count: number; examples: string[] }>();

  constructor(source: string, accountId: number, isDryRun: boolean) {
    const none = (): Count => ({ theirs: null, created: 0, updated: 0, unchanged: 0, left_out: 0 });
    const counts = Object.fromEntries(counted.map((kind) => [kind, none()])) as Report['counts'];
    this.#found = {
      source,
      account_id: accountId,
      dry_run: isDryRun,
      counts,
      not_copied: {},
      remarks: [],
      remarks_total: 0,
      hints: [],
    };
  }

  get report(): Report {
    const reasons = Array.from(this.#reasons, ([why, found]) => ({ why, ...found }));
    return { ...this.#found, reasons: reasons.toSorted((one, other) => other.count - one.count) };
  }

  /** Counts records of a kind. */
  count(kind: Counted, outcome: Exclude<keyof Count, 'theirs'>, records = 1): void {
    this.#found.counts[kind][outcome] += records;
  }

  theirs(kind: Counted, records: number | null): void {
    this.#found.counts[kind].theirs = records;
  }

  /** Notes that a record was left out or changed on the way. */
  remark(what: string, why: string): void {
    this.#found.remarks_total += 1;
    if (this.#found.remarks.length < keptRemarks) this.#found.remarks.push({ what, why });
    const reason = this.#reasons.has(why) || this.#reasons.size < keptReasons ? why : otherReasons;
    const { count, examples } = this.#reasons.get(reason) ?? { count: 0, examples: [] };
    if (examples.length < keptExamples) examples.push(what);
    this.#reasons.set(reason, { count: count + 1, examples });
  }

  notCopied(kind: string, records: number): void {
    this.#found.not_copied[kind] = records;
  }

  leaveOut(kind: Counted, what: string, why: string): void {
    this.count(kind, 'left_out');
    this.remark(what, `left out: ${why}`);
  }

  hint(text: string): void {
    this.#found.hints.push(text);
  }

  get hasLeftOut(): boolean {
    return counted.some((kind) => this.#found.counts[kind].left_out > 0);
  }
}

const shownReasons = 50;

/** A report for people. */
export function linesOf({ source, account_id: id, dry_run: isDry, counts, reasons, ...rest }: Report): string[] {
  const rows = counted.map((kind) => {
    const { theirs, created, updated, unchanged, left_out: leftOut } = counts[kind];
    return [wordsOf(kind), theirs ?? '-', created, updated, unchanged, leftOut].map(String);
  });
  const header = ['', 'theirs', 'created', 'changed', 'unchanged', 'left out'];
  const said = reasons.slice(0, shownReasons).map(lineOf);
  const more = reasons.length > said.length ? [`and ${reasons.length - said.length} more reasons: see --json`] : [];
  const others = Object.entries(rest.not_copied).map(([kind, count]) => `${wordsOf(kind)}: ${count}`);
  return [
    isDry ? `What is at ${source}; nothing was copied:` : `From ${source} into account ${id}:`,
    ...tableOf(header, rows),
    ...listOf('Not copied, set these up here by hand (docs/migrating.md):', others),
    ...listOf('Not as it was:', [...said, ...more]),
    ...listOf('What is next:', rest.hints),
  ];
}

function wordsOf(kind: string): string {
  return kind.replaceAll('_', ' ');
}

function lineOf({ why, count, examples }: Report['reasons'][number]): string {
  const more = count - examples.length;
  return `${examples.join(', ')}${more > 0 ? ` and ${more} more` : ''}: ${why}`;
}
