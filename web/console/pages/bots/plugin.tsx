import './bots.css';
import type { ComponentChildren } from 'preact';
import { Action } from '../../kit/action.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { Standing, Switch, type Installed } from './installed-plugins.tsx';
import { PendingVersion } from './pending-version.tsx';
import { BotsOfPlugin } from './plugin-bots.tsx';
import { PluginVersions } from './plugin-versions.tsx';
import { Permissions } from './plugins.tsx';

/** A plugin of the platform: what it may do, which version waits and why, and the way back to another one. */
export function PluginPage({ parameters }: ViewProps) {
  const plugin = parameters['plugin'] ?? '';
  const loaded = useLoad((signal) => call('GET /platform/api/v1/plugins/:plugin', { plugin, signal }), [plugin]);
  return (
    <Page title={loaded.value?.name ?? 'Plugin'}>
      <Show of={loaded}>
        {(value) => (
          <>
            <Facts facts={factsOf(value)} />
            {value.pending && <PendingVersion plugin={value} pending={value.pending} changed={loaded.set} />}
            <div class="actions">
              <Switch plugin={value} changed={() => void loaded.reload()} />
              <Action
                kind="danger"
                question={`${value.name} is uninstalled for all accounts. Bots that use it must be deleted first.`}
                done={`${value.name} uninstalled.`}
                act={async () => {
                  await call('DELETE /platform/api/v1/plugins/:plugin', { plugin });
                  go('/console/plugins');
                }}
              >
                Uninstall
              </Action>
            </div>
            <h2>Permissions</h2>
            <Permissions sentences={value.permissions} />
            <PluginVersions plugin={value} changed={loaded.set} />
            <BotsOfPlugin plugin={value} />
          </>
        )}
      </Show>
    </Page>
  );
}

function factsOf(plugin: Installed): (readonly [string, ComponentChildren])[] {
  return [
    ['ID', <code key="id">{plugin.id}</code>],
    ['Description', plugin.description || null],
    ['Version', plugin.version],
    ['State', <Standing key="state" plugin={plugin} />],
    ['Code hash', <code key="hash">{plugin.hash}</code>],
    ['Source', plugin.directory === null ? 'Upload' : `Folder ${plugin.directory}`],
    ['Updated', <Time key="changed" at={plugin.updated_at} />],
  ];
}
