import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import { aiPlugin, bodyOf, draftOf, isOffered } from './bot-draft.ts';
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
            It answers as soon as it is chosen in an <a href="/console/settings/inboxes">inbox</a>.
          </p>
          <p>
            <a href={`/console/bots/${bot.id}`}>To the bot</a>
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
  const [choice, setChoice] = useState(choices[0]?.[0] ?? 'webhook');
  const [draft, setDraft] = useState(draftOf(null));
  const plugin = plugins.find(({ id }) => choice === `plugin ${id}`) ?? null;
  const isAi = plugin?.id === aiPlugin;
  async function send(): Promise<void> {
    const body = bodyOf(draft, plugin);
    if (!plugin) return made(await call('POST agent_bots', { body: { ...body, kind: 'webhook' } }));
    const kind = isAi ? { kind: 'ai' as const } : { kind: 'plugin' as const, plugin_id: plugin.id };
    made(await call('POST agent_bots', { body: { ...body, ...kind } }));
  }
  return (
    <Form submit="Create" send={send}>
      {(problemOf) => (
        <>
          <ChoiceField
            label="Kind"
            hint={plugin?.description ?? 'A server of yours gets the events, and answers through the API.'}
            value={choice}
            onChange={(next) => {
              setChoice(next);
              // Settings of one plugin mean nothing to another.
              setDraft({ ...draft, config: {}, secrets: {} });
            }}
            options={choices}
            problem={problemOf('plugin_id') ?? problemOf('kind')}
          />
          <BotFields
            key={choice}
            draft={draft}
            set={(changes) => setDraft((present) => ({ ...present, ...changes }))}
            problemOf={problemOf}
            plugin={plugin}
            stored={[]}
          />
        </>
      )}
    </Form>
  );
}

function choicesOf(plugins: readonly AccountPlugin[]): (readonly [string, string])[] {
  const ai = plugins.filter(({ id }) => id === aiPlugin);
  return [
    ...ai.map(({ id }) => [`plugin ${id}`, 'AI: answers from the knowledge base'] as const),
    ['webhook', 'Webhook: a server of yours answers'],
    ...plugins.filter(isOffered).map(({ id, name }) => [`plugin ${id}`, `Plugin: ${name}`] as const),
  ];
}
