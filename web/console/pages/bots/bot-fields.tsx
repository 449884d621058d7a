import { CheckField, TextField, type ProblemOf } from '../../kit/form.tsx';
import { FormatField } from '../../kit/format-field.tsx';
import { SchemaFields, type Setting } from '../../kit/schema-form.tsx';
import { aiPlugin, type BotDraft } from './bot-draft.ts';
import type { AccountPlugin } from './bot-list.ts';
import { botEvents } from './bot-words.tsx';

interface Props {
  draft: BotDraft;
  set: (changes: Partial<BotDraft>) => void;
  problemOf: ProblemOf;
  /** Plugin of the bot; null for a bot on a server of the account. */
  plugin: AccountPlugin | null;
  /** Secrets that the bot has. */
  stored: readonly string[];
}

/** The fields of a bot: those that all have, then those of its kind. */
export function BotFields(props: Props) {
  const { draft, set, problemOf, plugin } = props;
  return (
    <>
      <TextField
        label="Name"
        hint="Shown to customers."
        required
        value={draft.name}
        onChange={(name) => set({ name })}
        problem={problemOf('name')}
      />
      <TextField
        label="Description"
        value={draft.description}
        onChange={(description) => set({ description })}
        problem={problemOf('description')}
      />
      {plugin ? <PluginFields {...props} plugin={plugin} /> : <ServerFields {...props} />}
    </>
  );
}

function AddressFields({ draft, set, problemOf, required }: Props & { required: boolean }) {
  return (
    <>
      <TextField
        label="Server URL"
        type="url"
        hint="Receives signed events. HTTPS only."
        required={required}
        value={draft.outgoingUrl}
        onChange={(outgoingUrl) => set({ outgoingUrl })}
        problem={problemOf('outgoing_url')}
      />
      <FormatField value={draft.format} onChange={(format) => set({ format })} problem={problemOf('format')} />
    </>
  );
}

function ServerFields(props: Props) {
  const { draft, set, problemOf } = props;
  const problem = problemOf('events');
  const toggle = (event: string, isWanted: boolean): void =>
    set({ events: isWanted ? [...draft.events, event] : draft.events.filter((one) => one !== event) });
  return (
    <>
      <AddressFields {...props} required />
      <fieldset>
        <legend>Subscribed events</legend>
        {botEvents.map(([event, text]) => (
          <CheckField
            key={event}
            label={text}
            checked={draft.events.includes(event)}
            onChange={(isWanted) => toggle(event, isWanted)}
          />
        ))}
        {problem && <small class="problem">{problem}</small>}
      </fieldset>
      <CheckField
        label="Include outgoing messages, also its own"
        checked={draft.hearOwn}
        onChange={(hearOwn) => set({ hearOwn })}
      />
    </>
  );
}

function PluginFields(props: Props & { plugin: AccountPlugin }) {
  const { draft, set, problemOf, plugin, stored } = props;
  return (
    <>
      {plugin.id === aiPlugin && <ModelHint />}
      <fieldset>
        <legend>Settings</legend>
        <SchemaFields
          schema={plugin.config_schema}
          values={draft.config}
          onChange={(config) => set({ config })}
          problemOf={problemOf}
          stored={stored}
          path="config/"
        />
      </fieldset>
      <Secrets {...props} />
      {plugin.forwards && <AddressFields {...props} required={false} />}
      {plugin.asks_models && (
        <TextField
          label="Daily token budget"
          hint="Leave empty for no limit. When it is used up, conversations are handed off to agents."
          type="number"
          value={draft.tokensPerDay}
          onChange={(tokensPerDay) => set({ tokensPerDay })}
          problem={problemOf('tokens_per_day')}
        />
      )}
    </>
  );
}

/** Secrets that the headers of tools name, as {{NAME}}; which hosts get them the tools say. */
function secretsOfTools(tools: unknown): { name: string; hosts: readonly string[] }[] {
  const marks = (JSON.stringify(tools) ?? '').matchAll(/\{\{([A-Za-z][A-Za-z0-9_]{0,63})\}\}/g);
  return [...new Set([...marks].map(([, name = '']) => name))].map((name) => ({ name, hosts: [] }));
}

function ModelHint() {
  return (
    <p class="faint">
      The model server is set in <a href="/console/settings/account">Account</a>. An embedding model there makes the
      answers better.
    </p>
  );
}

// A secret of the same name as a setting is entered there.
function Secrets({ draft, set, problemOf, plugin, stored }: Props & { plugin: AccountPlugin }) {
  const { properties = {} } = plugin.config_schema as Setting;
  const named = plugin.secrets.filter(({ name }) => !Object.hasOwn(properties, name));
  const own = [...named, ...secretsOfTools(draft.config['tools'])];
  if (own.length === 0) return null;
  const change = (name: string, value: string | null | undefined): void => {
    const { [name]: _, ...others } = draft.secrets;
    set({ secrets: value === undefined ? others : { ...others, [name]: value } });
  };
  return (
    <fieldset>
      <legend>Secrets</legend>
      {own.map(({ name, hosts }) => {
        const isStored = stored.includes(name);
        const isForgotten = draft.secrets[name] === null;
        return (
          <div key={name}>
            <TextField
              label={name}
              type="password"
              hint={`Sent only to ${hosts.join(', ') || 'the hosts of its tools'}. The bot cannot read it.${isStored ? ' A value is stored. Enter a new one to replace it.' : ''}`}
              value={draft.secrets[name] ?? ''}
              onChange={(value) => change(name, value === '' ? undefined : value)}
              problem={problemOf(`secrets/${name}`)}
            />
            {isStored && (
              <CheckField
                label={`Delete stored ${name}`}
                checked={isForgotten}
                onChange={(isWanted) => change(name, isWanted ? null : undefined)}
              />
            )}
          </div>
        );
      })}
    </fieldset>
  );
}
