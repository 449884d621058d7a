import { Action } from '../../kit/action.tsx';
import { useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import type { Installed } from './installed-plugins.tsx';

type Pending = NonNullable<Installed['pending']>;

interface Props {
  plugin: Installed;
  pending: Pending;
  changed: (plugin: Installed) => void;
}

/** The version that waits for approval, beside the one that runs: what it may do more, and whose settings it refuses. */
export function PendingVersion({ plugin, pending, changed }: Props) {
  const { id, name } = plugin;
  const { version, hash, widens, refuses } = pending;
  const lost = useLost(plugin, pending);
  return (
    <section class="panel" aria-label={`Version ${version}`}>
      <h2>Version {version} waits for approval</h2>
      <p>Version {plugin.version} runs until you decide.</p>
      {widens.length > 0 && (
        <>
          <p>Beyond the version that runs it could:</p>
          <List name="New permissions" mark="+" sentences={widens} />
        </>
      )}
      {lost.length > 0 && (
        <>
          <p>It could no longer:</p>
          <List name="Permissions that go" mark="−" sentences={lost} />
        </>
      )}
      <Refused refuses={refuses} />
      <p>
        Its code: <code>{hash}</code>
      </p>
      <div class="actions">
        <Action
          kind="primary"
          label={`Approve version ${version}`}
          question={questionOf(name, pending)}
          done={`${name} runs version ${version}.`}
          act={async () =>
            changed(
              await call('POST /platform/api/v1/plugins/:plugin/approve', { plugin: id, body: { version, hash } }),
            )
          }
        >
          Approve
        </Action>
        <Action
          label={`Reject version ${version}`}
          done={`Version ${version} waits no longer; it stays installed.`}
          act={async () =>
            changed(await call('POST /platform/api/v1/plugins/:plugin/reject', { plugin: id, body: { version, hash } }))
          }
        >
          Reject
        </Action>
      </div>
    </section>
  );
}

// What the version that runs may do and the one that waits may not: the service tells the other direction only.
function useLost(plugin: Installed, { hash }: Pending): string[] {
  const versions = useLoad(
    (signal) => call('GET /platform/api/v1/plugins/:plugin/versions', { plugin: plugin.id, signal }),
    [plugin.id, hash],
  );
  const next = versions.value?.payload.find((one) => one.hash === hash);
  return next ? plugin.permissions.filter((sentence) => !next.permissions.includes(sentence)) : [];
}

function List({ name, mark, sentences }: { name: string; mark: string; sentences: readonly string[] }) {
  return (
    <ul class="plain" aria-label={name}>
      {sentences.map((sentence) => (
        <li key={sentence}>
          {mark} {sentence}
        </li>
      ))}
    </ul>
  );
}

function Refused({ refuses: { count, bots } }: { refuses: Pending['refuses'] }) {
  if (count === 0) return <p>It accepts the settings of all bots.</p>;
  return (
    <>
      <p class="note error">
        It refuses the settings of {count} {count === 1 ? 'bot' : 'bots'}, which would not answer until they get others:
      </p>
      <ul aria-label="Bots whose settings it refuses">
        {bots.map(({ agent_bot_id: id, account_id: account, name, problems }) => (
          <li key={id}>
            {name} ({account === null ? 'system bot' : `account ${account}`}):{' '}
            {problems.map(({ path, message }) => `${path} ${message}`).join('; ')}
          </li>
        ))}
      </ul>
      {bots.length < count && <p>And {count - bots.length} more.</p>}
    </>
  );
}

function questionOf(name: string, { version, refuses: { count } }: Pending): string {
  const silent = count === 0 ? '' : ` ${count} of them get no answer until their settings are changed.`;
  return `From now on all bots of ${name} run version ${version}.${silent}`;
}
