import { printAnswer, tableOf } from '../../terminal/print.ts';
import { serviceOf, type ServiceOptions } from '../../service.ts';
import { readLatestRuns, timeOf, type ListedRun, type RunSelection } from './runs-of-plugin.ts';

/** The command `plugin runs`: the latest runs of a plugin. */
export async function listRuns(
  plugin: string,
  options: ServiceOptions & RunSelection & { limit: number },
): Promise<void> {
  const payload = await readLatestRuns(serviceOf(options), plugin, options);
  printAnswer({ payload }, options, () =>
    payload.length === 0
      ? [`The plugin ${plugin} has no such runs.`]
      : tableOf(
          ['RUN', 'TIME (UTC)', 'CONVERSATION', 'EVENT', 'VERSION', 'OUTCOME', 'MS', 'ACTIONS'],
          payload.map(cellsOf),
        ),
  );
}

function cellsOf({ id, created_at: at, conversation_id: conversation, event, plugin, ...run }: ListedRun): string[] {
  const actions = run.actions.map(({ type }) => String(type)).join(', ');
  const place = [String(id), timeOf(at), String(conversation ?? '-'), event.name];
  return [...place, plugin.version ?? '-', run.outcome, String(run.wall_ms), actions];
}
