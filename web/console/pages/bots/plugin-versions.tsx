import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { call } from '../../session.ts';
import { allPages } from './bot-list.ts';
import type { Installed } from './installed-plugins.tsx';

type Version = Reply<'GET /platform/api/v1/plugins/:plugin/versions'>['payload'][number];

interface Props {
  plugin: Installed;
  changed: (plugin: Installed) => void;
}

/** The installed versions of a plugin, and the way back to one that ran before. */
export function PluginVersions({ plugin, changed }: Props) {
  const { id, hash, pending } = plugin;
  const versions = useLoad(
    (signal) =>
      allPages((page) =>
        call('GET /platform/api/v1/plugins/:plugin/versions', { plugin: id, query: { page }, signal }),
      ),
    [id, hash, pending?.hash],
  );
  const isFolder = plugin.source === 'folder';
  return (
    <section>
      <h2>Versions</h2>
      {isFolder && <p>Loaded from a folder. Change the folder to run another version.</p>}
      <Show of={versions}>
        {(list) => (
          <Table
            caption="Versions, newest first"
            rows={list}
            keyOf={(version) => version.hash}
            empty={<p>No versions installed. Install one in Plugins.</p>}
            columns={[
              { title: 'Version', kind: 'text', cell: ({ version }) => version },
              { title: 'State', cell: stateOf },
              { title: 'Last run', kind: 'fit', cell: ({ activated_at: at }) => <Time at={at} /> },
              { title: 'Installed', kind: 'fit', isExtra: true, cell: ({ created_at: at }) => <Time at={at} /> },
              { title: 'Signed by', kind: 'text', cell: ({ signed_by: key }) => key ?? '–' },
              { title: 'Permissions', kind: 'text', cell: ({ permissions }) => <Rights sentences={permissions} /> },
              {
                title: 'Actions',
                kind: 'fit',
                cell: (version) =>
                  !isFolder && !version.active && !version.pending ? (
                    <Run plugin={plugin} version={version} changed={changed} />
                  ) : null,
              },
            ]}
          />
        )}
      </Show>
    </section>
  );
}

function stateOf({ active, pending }: Version) {
  if (active) return <span class="badge good">Running</span>;
  return pending ? <span class="badge wait">Pending approval</span> : '–';
}

function Rights({ sentences }: { sentences: readonly string[] }) {
  return (
    <details>
      <summary>
        {' '}
        {sentences.length} {sentences.length === 1 ? 'permission' : 'permissions'}{' '}
      </summary>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </details>
  );
}

function Run({ plugin: { id, name }, version, changed }: Props & { version: Version }) {
  const number = version.version;
  const ranBefore = version.activated_at !== null;
  return (
    <Action
      label={`${ranBefore ? 'Roll back to' : 'Run'} ${number}`}
      question={`All bots of ${name} will run version ${number}. Approval is required first if it requests new permissions.`}
      done={`Version ${number} selected.`}
      act={async () =>
        changed(await call('PATCH /platform/api/v1/plugins/:plugin', { plugin: id, body: { version: number } }))
      }
    >
      {ranBefore ? 'Roll back' : 'Run'}
    </Action>
  );
}
