import './bots.css';
import { useState } from 'preact/hooks';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Pages, pageOf } from '../../kit/pages.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isPlatformAdministrator } from '../../session.ts';
import type { AccountPlugin } from './bot-list.ts';
import { InstallPlugin } from './install-plugin.tsx';
import { InstalledPlugins } from './installed-plugins.tsx';
import { SettingList } from './setting-list.tsx';

/** The plugins that the account's bots can run; platform administrators install and judge them here. */
export function PluginsPage({ query }: ViewProps) {
  const page = pageOf(query);
  const isPlatform = isPlatformAdministrator();
  const plugins = useLoad((signal) => call('GET plugins', { query: { page }, signal }), [page]);
  const [changes, setChanges] = useState(0);
  const changed = (): void => {
    setChanges((count) => count + 1);
    void plugins.reload();
  };
  return (
    <Page title="Plugins">
      <p>
        Plugins are bot code that runs in a sandbox with the listed permissions only. To write one, see{' '}
        <code>docs/plugins.md</code>.
      </p>
      {isPlatform && (
        <section>
          <h2>Installed plugins</h2>
          <InstallPlugin installed={changed} />
          <InstalledPlugins changes={changes} changed={changed} />
        </section>
      )}
      <section>
        <h2>Available to this account</h2>
        <Show of={plugins}>
          {({ payload, meta }) => (
            <>
              {payload.length === 0 && <Nothing isPlatform={isPlatform} />}
              {payload.map((plugin) => (
                <PluginPanel key={`${plugin.id} ${plugin.kind}`} plugin={plugin} />
              ))}
              <Pages meta={meta} />
            </>
          )}
        </Show>
      </section>
    </Page>
  );
}

function Nothing({ isPlatform }: { isPlatform: boolean }) {
  return (
    <p class="empty">
      No plugins available. {isPlatform ? 'Install one above.' : 'Platform administrators install them.'}
    </p>
  );
}

function PluginPanel({ plugin }: { plugin: AccountPlugin }) {
  const { id, name, version, kind, description, permissions, secrets } = plugin;
  return (
    <article class="panel" aria-label={name}>
      <h3>
        {name} <small class="badge">{version}</small> {kind !== 'bot' && <small class="badge">{kind}</small>}
      </h3>
      <p>
        <code>{id}</code> {description}
      </p>
      <Permissions sentences={permissions} />
      <SettingList schema={plugin.config_schema} />
      {secrets.length > 0 && <p>Secrets: {secrets.map((one) => one.name).join(', ')}</p>}
      <p>
        <a href="/console/bots">Create a bot</a>
      </p>
    </article>
  );
}

/** Permissions of a plugin as sentences. */
export function Permissions({ sentences }: { sentences: readonly string[] }) {
  if (sentences.length === 0) return <p>No permissions.</p>;
  return (
    <>
      <p>Permissions:</p>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </>
  );
}
