import { printAnswer } from '../../terminal/print.ts';
import { serviceOf, type ServiceOptions } from '../../service.ts';
import { readLatestRuns, timeOf, type ListedRun, type RunSelection } from './runs-of-plugin.ts';

/** A line of the log, or the end of a run that failed. */
interface Line {
  account_id: number;
  run_id: number;
  conversation_id: number | null;
  created_at: number;
  level: string;
  message: string;
  fields?: Record<string, unknown>;
}

// These ended as the bot wanted, or as people did.
const good = new Set(['ok', 'no_handler', 'superseded']);

/** The command `plugin logs`: what a plugin wrote in its latest runs, and how these failed, oldest first. */
export async function printLogs(
  plugin: string,
  options: ServiceOptions & RunSelection & { limit: number },
): Promise<void> {
  const runs = await readLatestRuns(serviceOf(options), plugin, options);
  const payload = runs.toReversed().flatMap(linesOf);
  printAnswer({ payload }, options, () =>
    payload.length === 0 ? [`The plugin ${plugin} wrote nothing in these runs.`] : payload.map(tell),
  );
}

function linesOf(run: ListedRun): Line[] {
  const { account_id, id: run_id, conversation_id, created_at, logs, outcome, error } = run;
  const place = { account_id, run_id, conversation_id, created_at };
  const lines = logs.map((line) => ({ ...place, ...line }));
  if (good.has(outcome)) return lines;
  const message = `${outcome}${error === null ? '' : `: ${error.stack ?? error.message}`}`;
  return [...lines, { ...place, level: 'failed', message }];
}

function tell({ run_id: run, conversation_id: conversation, created_at: at, level, message, fields }: Line): string {
  const more = fields ? ` ${JSON.stringify(fields)}` : '';
  return `${timeOf(at)} run ${run} conversation ${conversation ?? '-'} ${level.toUpperCase()} ${message}${more}`;
}
