import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { useDraft } from '../../kit/draft.ts';
import { ChoiceField, Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import { aiPlugin, bodyOf, draftOf, isOffered, secretFields, type BotDraft } from './bot-draft.ts';
import { BotFields } from './bot-fields.tsx';
import { loadPlugins, type AccountPlugin } from './bot-list.ts';
import { OnceShown } from './once-shown.tsx';

type Made = Reply<'POST agent_bots'>;

/** Makes a bot, and shows what it proves itself with. */
export function NewBot({ close, made }: { close: () => void; made: () => void }) {
  const plugins = useLoad((signal) => loadPlugins(signal));
  const [bot, setBot] = useState<Made | null>(null);
  return (
    <Dialog title={bot ? `Bot ${bot.name}` : 'New bot'} onClose={close}>
      {bot ? (
        <>
          <OnceShown of={bot} />
          <p>
            To use it, select it in an <a href="/console/settings/inboxes">inbox</a>.
          </p>
          <p>
            <a href={`/console/bots/${bot.id}`}>Open bot</a>
          </p>
        </>
      ) : (
        <Show of={plugins}>
          {(list) => (
            <NewBotForm
              plugins={list}
              made={(answer) => {
                setBot(answer);
                made();
              }}
            />
          )}
        </Show>
      )}
    </Dialog>
  );
}

function NewBotForm({ plugins, made }: { plugins: readonly AccountPlugin[]; made: (bot: Made) => void }) {
  const choices = choicesOf(plugins);
  const kept = useDraft<BotDraft & { choice: string }>(
    'bot new',
    { ...draftOf(null), choice: choices[0]?.[0] ?? 'webhook' },
    secretFields(plugins),
  );
  const { choice, ...draft } = kept.value;
  const plugin = plugins.find(({ id, kind }) => kind === 'bot' && choice === `plugin ${id}`) ?? null;
  const isAi = plugin?.id === aiPlugin;
  async function send(): Promise<void> {
    const body = bodyOf(draft, plugin);
    const kind = isAi ? { kind: 'ai' as const } : { kind: 'plugin' as const, plugin_id: plugin?.id ?? '' };
    const bot = await call('POST agent_bots', { body: { ...body, ...(plugin ? kind : { kind: 'webhook' }) } });
    kept.discard();
    made(bot);
  }
  return (
    <Form submit="Create" send={send} draft={kept}>
      {(problemOf) => (
        <>
          <ChoiceField
            label="Kind"
            hint={plugin?.description ?? 'Your server receives events and answers through the API.'}
            value={choice}
            // Settings of one plugin mean nothing to another.
            onChange={(next) => kept.set({ choice: next, config: {}, secrets: {} })}
            options={choices}
            problem={problemOf('plugin_id') ?? problemOf('kind')}
          />
          <BotFields key={choice} draft={draft} set={kept.set} problemOf={problemOf} plugin={plugin} stored={[]} />
        </>
      )}
    </Form>
  );
}

function choicesOf(plugins: readonly AccountPlugin[]): (readonly [string, string])[] {
  const ai = plugins.filter(({ id }) => id === aiPlugin);
  return [
    ...ai.map(({ id }) => [`plugin ${id}`, 'AI: answers from the knowledge base'] as const),
    ['webhook', 'Webhook: your server answers'],
    ...plugins.filter(isOffered).map(({ id, name }) => [`plugin ${id}`, `Plugin: ${name}`] as const),
  ];
}
