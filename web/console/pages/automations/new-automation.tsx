import { useState } from 'preact/hooks';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { loadPlugins, type AccountPlugin } from '../bots/bot-list.ts';

const rules = 'rules';

/** Makes an automation that is off, and opens its page. */
export function NewAutomation({ close }: { close: () => void }) {
  const plugins = useLoad((signal) => loadPlugins(signal));
  return (
    <Dialog title="New automation" onClose={close}>
      <Show of={plugins}>
        {(list) => <NewForm plugins={list.filter(({ kind }) => kind === 'automation')} close={close} />}
      </Show>
    </Dialog>
  );
}

function NewForm({ plugins, close }: { plugins: readonly AccountPlugin[]; close: () => void }) {
  const choices = [
    [rules, 'Rules: when, if, then'] as const,
    ...plugins.filter(({ id }) => id !== rules).map(({ id, name }) => [id, `Plugin: ${name}`] as const),
  ];
  const [name, setName] = useState('');
  const [plugin, setPlugin] = useState(rules);
  async function send(): Promise<void> {
    const config = plugin === rules ? { rules: [] } : {};
    const { id } = await call('POST automations', { body: { name, plugin_id: plugin, config, active: false } });
    close();
    go(`/console/automations/${id}`);
  }
  return (
    <Form submit="Create" send={send}>
      {(problemOf) => (
        <>
          <TextField label="Name" required value={name} onChange={setName} problem={problemOf('name')} />
          <ChoiceField
            label="Kind"
            value={plugin}
            onChange={setPlugin}
            options={choices}
            problem={problemOf('plugin_id')}
          />
        </>
      )}
    </Form>
  );
}
