import { tableOf } from '../terminal/print.ts';
import type { Shape } from '../../schemas.ts';
import { timeOf } from '../plugin/runs/runs-of-plugin.ts';
import type { Expectation } from './cases.ts';

type Change = Shape<'resources/bot-evals-kept'>['changes'][number];

/** Result of a question, and what the bot said. */
export interface EvalResult {
  question: string;
  expect: Expectation;
  passed: boolean;
  /** Deeds of the bot, in words. */
  got: string;
  replies: string[];
  handed_off: boolean;
  handoff_reason: string | null;
  /** Tools that its model asked for. */
  tools: Shape<'resources/bot-trial'>['tools'];
}

/** The results of all questions, and how they differ from those of the last run. */
export interface EvalReport {
  bot: { id: number; name: string };
  passed: number;
  count: number;
  /** From 0 to 1. */
  share: number;
  min: number;
  ok: boolean;
  /** Unix seconds; null for a first run. */
  last_run_at: number | null;
  changes: Change[];
  results: EvalResult[];
}

const cellChars = 60;
const marks: Readonly<Record<Change['kind'], string>> = { fixed: '+', broken: '-', changed: '~', new: '*', gone: ' ' };

/** The report in lines, for people. */
export function tellEvals({ bot, passed, count, share, min, last_run_at: at, changes, results }: EvalReport): string[] {
  const rows = results.map((result, index) => [
    String(index + 1),
    result.passed ? 'passed' : 'FAILED',
    cell(JSON.stringify(result.expect)),
    cell(result.got),
    cell(result.question),
  ]);
  const since = at === null ? ['This was the first run.'] : tellChanges(at, changes);
  const sum = `${bot.name}: ${passed} of ${count} passed (${percent(share)}); ${percent(min)} are needed.`;
  return [...tableOf(['#', 'RESULT', 'EXPECTED', 'GOT', 'QUESTION'], rows), '', ...since, sum];
}

function tellChanges(at: number, changes: readonly Change[]): string[] {
  if (changes.length === 0) return [`Nothing has changed since the last run, ${timeOf(at)} (UTC).`];
  return [
    `Since the last run, ${timeOf(at)} (UTC):`,
    ...changes.map(({ question, kind, before, now }) => {
      const result = [before, now].filter((text) => text !== null).map(cell);
      return `  ${marks[kind]} ${kind}: ${cell(question)}: ${result.join(' -> ')}`;
    }),
  ];
}

function cell(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > cellChars ? `${line.slice(0, cellChars - 1).toWellFormed()}…` : line;
}

function percent(share: number): string {
  return `${Math.floor(share * 1000) / 10} %`;
}
