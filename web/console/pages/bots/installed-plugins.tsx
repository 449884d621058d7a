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
          empty={<p>No plugin is installed. Choose a package above.</p>}
          columns={[
            {
              title: 'Name',
              cell: ({ id, name }) => <a href={`/console/plugins/${encodeURIComponent(id)}`}>{name}</a>,
            },
            { title: 'Id', cell: ({ id }) => <code>{id}</code> },
            { title: 'Version', cell: ({ version }) => version },
            { title: 'State', cell: (plugin) => <Standing plugin={plugin} /> },
            { title: 'From', cell: ({ directory }) => directory ?? 'an upload' },
            { title: 'Actions', cell: (plugin) => <Switch plugin={plugin} changed={changed} /> },
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
      {pending && <span class="badge wait">{pending.version} waits for approval</span>}
    </>
  );
}

/** Switches a plugin on and off. */
export function Switch({ plugin: { id, name, enabled }, changed }: { plugin: Installed; changed: () => void }) {
  if (!enabled) {
    return (
      <Action
        label={`Enable ${name}`}
        done={`The bots of ${name} answer again.`}
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
      question={`The bots of ${name} answer no more, in all accounts; people get their conversations.`}
      done={`${name} is disabled.`}
      act={async () => {
        await call('POST /platform/api/v1/plugins/:plugin/disable', { plugin: id });
        changed();
      }}
    >
      Disable
    </Action>
  );
}
