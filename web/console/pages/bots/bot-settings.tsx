import { useState } from 'preact/hooks';
import { Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import { bodyOf, draftOf, type BotDraft } from './bot-draft.ts';
import { BotFields } from './bot-fields.tsx';
import { loadPlugins, type AccountPlugin, type Bot } from './bot-list.ts';

interface Props {
  bot: Bot;
  changed: (bot: Bot) => void;
}

/** The settings of a bot: those of one of a plugin are drawn from what its manifest says. */
export function BotSettings({ bot, changed }: Props) {
  const plugin = useLoad(
    async (signal) => ({ found: bot.plugin_id === null ? null : await findPlugin(bot.plugin_id, signal) }),
    [bot.plugin_id],
  );
  return (
    <section>
      <h2>Settings</h2>
      <Show of={plugin}>
        {({ found }) =>
          found === undefined ? (
            <p class="note">Its settings can be changed as soon as its plugin can run again.</p>
          ) : (
            <div class="panel">
              <SettingsForm bot={bot} plugin={found} changed={changed} />
            </div>
          )
        }
      </Show>
    </section>
  );
}

async function findPlugin(id: string, signal: AbortSignal): Promise<AccountPlugin | undefined> {
  return (await loadPlugins(signal)).find((plugin) => plugin.id === id);
}

function SettingsForm({ bot, plugin, changed }: Props & { plugin: AccountPlugin | null }) {
  const [draft, setDraft] = useState<BotDraft>(() => draftOf(bot));
  async function send(): Promise<void> {
    const saved = await call('PATCH agent_bots/:id', { id: bot.id, body: bodyOf(draft, plugin) });
    // What was sent as a secret is not kept in the page; what was entered meanwhile is.
    setDraft((present) => {
      if (present === draft) return draftOf(saved);
      return present.secrets === draft.secrets ? { ...present, secrets: {} } : present;
    });
    changed(saved);
    toast('Saved.');
  }
  return (
    <Form submit="Save" send={send}>
      {(problemOf) => (
        <BotFields
          draft={draft}
          set={(changes) => setDraft((present) => ({ ...present, ...changes }))}
          problemOf={problemOf}
          plugin={plugin}
          stored={bot.secret_names}
        />
      )}
    </Form>
  );
}
