import { useState } from 'preact/hooks';
import { Comboboxes } from '../../kit/combobox.tsx';
import { useDraft } from '../../kit/draft.ts';
import { Form, TextField, type ProblemOf } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { SchemaFields } from '../../kit/schema-form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import { loadPlugins, type AccountPlugin, type Automation } from '../bots/bot-list.ts';
import { DryRun } from './dry-run.tsx';
import { JsonField } from './json-field.tsx';
import { configOf, draftsOf, type RuleDraft } from './rule-draft.ts';
import { RuleEditor } from './rule-editor.tsx';
import { loadRuleOptions, type RuleOptions } from './rule-options.ts';

interface Props {
  automation: Automation;
  changed: (automation: Automation) => void;
}

interface Draft {
  name: string;
  /** None for all. */
  inboxes: string[];
  config: Automation['config'];
}

/** The settings of an automation: rules have a builder, all others what the manifest describes. */
export function AutomationSettings({ automation, changed }: Props) {
  const loaded = useLoad(async (signal) => {
    const [options, plugins] = await Promise.all([loadRuleOptions(signal), loadPlugins(signal)]);
    return { options, plugin: plugins.find(({ id, kind }) => id === automation.plugin_id && kind === 'automation') };
  });
  return (
    <Show of={loaded}>
      {({ options, plugin }) =>
        plugin ? (
          <SettingsForm automation={automation} changed={changed} options={options} plugin={plugin} />
        ) : (
          <p class="note">Settings are unavailable until the plugin runs again.</p>
        )
      }
    </Show>
  );
}

function SettingsForm({
  automation,
  changed,
  options,
  plugin,
}: Props & { options: RuleOptions; plugin: AccountPlugin }) {
  const { id, name, inbox_ids: inboxIds, config } = automation;
  const stored: Draft = { name, inboxes: (inboxIds ?? []).map(String), config };
  const kept = useDraft<Draft>(`automation ${id}`, stored);
  const { value: draft } = kept;
  const [isInvalid, setInvalid] = useState(false);
  /** Returns the settings in the form. Throws while their text is no JSON: the last valid ones are not what the form shows. */
  function entered(): { inbox_ids: number[] | null; config: Automation['config'] } {
    if (isInvalid) throw new Error('The settings are invalid JSON. Correct them first.');
    return { inbox_ids: draft.inboxes.length === 0 ? null : draft.inboxes.map(Number), config: draft.config };
  }
  async function send(): Promise<void> {
    const body = { name: draft.name, ...entered() };
    const saved = await call('PATCH automations/:id', { id, body });
    kept.saved(draft);
    changed(saved);
    toast('Saved.');
  }
  return (
    <>
      <section>
        <h2>Settings</h2>
        <div class="panel">
          <Form submit="Save" send={send} draft={kept}>
            {(problemOf) => (
              <>
                <TextField
                  label="Name"
                  required
                  value={draft.name}
                  onChange={(next) => kept.set({ name: next })}
                  problem={problemOf('name')}
                />
                <Comboboxes
                  label="Inboxes"
                  hint={draft.inboxes.length === 0 ? 'All inboxes.' : undefined}
                  values={draft.inboxes}
                  onChange={(inboxes) => kept.set({ inboxes })}
                  options={options.inboxes}
                />
                <ConfigFields
                  config={draft.config}
                  set={(next) => {
                    setInvalid(next === null);
                    if (next) kept.set({ config: next });
                  }}
                  options={options}
                  plugin={plugin}
                  problemOf={problemOf}
                />
              </>
            )}
          </Form>
        </div>
      </section>
      <DryRun id={id} entered={entered} />
    </>
  );
}

interface ConfigProps {
  config: Automation['config'];
  /** Called with null while the text of the settings is no JSON. */
  set: (config: Automation['config'] | null) => void;
  options: RuleOptions;
  plugin: AccountPlugin;
  problemOf: ProblemOf;
}

function ConfigFields({ config, set, options, plugin, problemOf }: ConfigProps) {
  const [isJson, setJson] = useState(false);
  // The form shows the last valid settings, and so does the text when it is shown again.
  function toggle(): void {
    set(config);
    setJson(!isJson);
  }
  return (
    <>
      <div class="actions">
        <button type="button" aria-pressed={isJson} onClick={toggle}>
          {isJson ? 'Edit as form' : 'Edit as JSON'}
        </button>
      </div>
      {isJson ? (
        <JsonField label="Settings as JSON" value={config} onChange={set} />
      ) : plugin.id === 'rules' ? (
        <RuleEditor
          rules={draftsOf(config)}
          onChange={(rules: RuleDraft[]) => set(configOf(rules))}
          options={options}
          problemOf={problemOf}
        />
      ) : (
        <SchemaFields
          schema={plugin.config_schema}
          values={config}
          onChange={set}
          problemOf={problemOf}
          path="config/"
        />
      )}
    </>
  );
}
