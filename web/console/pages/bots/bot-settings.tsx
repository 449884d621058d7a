import { useDraft } from '../../kit/draft.ts';
import { Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import { bodyOf, draftOf, secretFields, type BotDraft } from './bot-draft.ts';
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
            <p class="note">Settings are unavailable until the plugin runs again.</p>
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
  return (await loadPlugins(signal)).find((plugin) => plugin.id === id && plugin.kind === 'bot');
}

function SettingsForm({ bot, plugin, changed }: Props & { plugin: AccountPlugin | null }) {
  const kept = useDraft<BotDraft>(`bot ${bot.id}`, draftOf(bot), secretFields([plugin]));
  const { value: draft } = kept;
  async function send(): Promise<void> {
    const saved = await call('PATCH agent_bots/:id', { id: bot.id, body: bodyOf(draft, plugin) });
    kept.saved(draft);
    changed(saved);
    toast('Saved.');
  }
  return (
    <Form submit="Save" send={send} draft={kept}>
      {(problemOf) => (
        <BotFields draft={draft} set={kept.set} problemOf={problemOf} plugin={plugin} stored={bot.secret_names} />
      )}
    </Form>
  );
}
