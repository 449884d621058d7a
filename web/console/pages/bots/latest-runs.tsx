import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import type { Bot } from './bot-list.ts';
import { RunTable } from './run-table.tsx';

const shown = 5;

/** What a bot did last, and the way to all of it. */
export function LatestRuns({ bot: { id, name } }: { bot: Bot }) {
  const runs = useLoad((signal) => call('GET agent_bots/:id/runs', { id, signal }), [id]);
  useReloadOn(() => true, runs.reload);
  return (
    <section>
      <h2>Latest runs</h2>
      <Show of={runs}>
        {({ payload }) => (
          <RunTable
            runs={payload.slice(0, shown)}
            names={new Map([[id, name]])}
            empty={
              <p>
                It has not run yet. Choose it in an <a href="/console/settings/inboxes">inbox</a>, and write there as a
                customer.
              </p>
            }
          />
        )}
      </Show>
      <p>
        <a href={`/console/runs?agent_bot_id=${id}`}>All its runs</a>
      </p>
    </section>
  );
}
