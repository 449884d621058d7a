import { Show, useLoad } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { loadBots } from './bot-list.ts';
import { Health } from './bot-words.tsx';
import type { Installed } from './installed-plugins.tsx';

/** The bots of the account that run a plugin, with the reason of a quarantine. */
export function BotsOfPlugin({ plugin: { id, hash, enabled } }: { plugin: Installed }) {
  const bots = useLoad(
    async (signal) => (await loadBots(signal)).filter((bot) => bot.plugin_id === id),
    // Another version, or none, is another health.
    [id, hash, enabled],
  );
  return (
    <section>
      <h2>Bots in this account</h2>
      <Show of={bots}>
        {(list) => (
          <Table
            caption="Bots of the plugin"
            rows={list}
            keyOf={(bot) => bot.id}
            empty={
              <p>
                No bots use this plugin. Create one in <a href="/console/bots">Bots</a>.
              </p>
            }
            columns={[
              { title: 'Name', kind: 'text', cell: (bot) => <a href={`/console/bots/${bot.id}`}>{bot.name}</a> },
              { title: 'Health', kind: 'fit', cell: (bot) => <Health bot={bot} /> },
              { title: 'Quarantine reason', kind: 'text', cell: ({ quarantine }) => quarantine?.reason ?? '–' },
              { title: 'Last error', kind: 'text', cell: ({ health }) => health.last_error ?? '–' },
            ]}
          />
        )}
      </Show>
    </section>
  );
}
