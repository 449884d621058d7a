import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { call } from '../../session.ts';
import { allPages } from './bot-list.ts';

/** A plugin, as platform administrators see it. */
export type Installed = Reply<'GET /platform/api/v1/plugins/:plugin'>;

interface Props {
  /** Grows when something was changed beside this list. */
  changes: number;
  changed: () => void;
}

/** Every plugin of the platform, also those that no bot can run yet. */
export function InstalledPlugins({ changes, changed }: Props) {
  const plugins = useLoad(
    (signal) => allPages((page) => call('GET /platform/api/v1/plugins', { query: { page }, signal })),
    [changes],
  );
  return (
    <Show of={plugins}>
      {(list) => (
        <Table
          caption="Plugins of the platform"
          rows={list}
          keyOf={({ id }) => id}
          empty={<p>No plugins installed. Choose a package above.</p>}
          columns={[
            {
              title: 'Name',
              kind: 'text',
              cell: ({ id, name }) => <a href={`/console/plugins/${encodeURIComponent(id)}`}>{name}</a>,
            },
            { title: 'ID', kind: 'text', cell: ({ id }) => <code>{id}</code> },
            { title: 'Version', cell: ({ version }) => version },
            { title: 'State', kind: 'text', cell: (plugin) => <Standing plugin={plugin} /> },
            { title: 'Source', kind: 'text', isExtra: true, cell: ({ directory }) => directory ?? 'Upload' },
            { title: 'Actions', kind: 'fit', cell: (plugin) => <Switch plugin={plugin} changed={changed} /> },
          ]}
        />
      )}
    </Show>
  );
}

/** Whether a plugin runs, at a glance. */
export function Standing({ plugin: { enabled, pending } }: { plugin: Installed }) {
  return (
    <>
      <span class={`badge ${enabled ? 'good' : 'bad'}`}>{enabled ? 'Enabled' : 'Disabled'}</span>
      {pending && <span class="badge wait">{pending.version} pending approval</span>}
    </>
  );
}

/** Switches a plugin on and off. */
export function Switch({ plugin: { id, name, enabled }, changed }: { plugin: Installed; changed: () => void }) {
  if (!enabled) {
    return (
      <Action
        label={`Enable ${name}`}
        done={`${name} enabled.`}
        act={async () => {
          await call('POST /platform/api/v1/plugins/:plugin/enable', { plugin: id });
          changed();
        }}
      >
        Enable
      </Action>
    );
  }
  return (
    <Action
      label={`Disable ${name}`}
      question={`All bots of ${name} stop answering, in all accounts. Their conversations are handed off to agents.`}
      done={`${name} disabled.`}
      act={async () => {
        await call('POST /platform/api/v1/plugins/:plugin/disable', { plugin: id });
        changed();
      }}
    >
      Disable
    </Action>
  );
}
