import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import type { Bot } from './bot-list.ts';
import { RunTable } from './run-table.tsx';

const shown = 5;

/** Latest runs of a bot, with a link to all of them. */
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
                No runs yet. Select the bot in an <a href="/console/settings/inboxes">inbox</a>, then write a message
                there.
              </p>
            }
          />
        )}
      </Show>
      <p>
        <a href={`/console/runs?agent_bot_id=${id}`}>All runs</a>
      </p>
    </section>
  );
}
