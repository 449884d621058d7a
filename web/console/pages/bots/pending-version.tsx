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
      <h2>Version {version} pending approval</h2>
      <p>Version {plugin.version} keeps running until you approve.</p>
      {widens.length > 0 && (
        <>
          <p>New permissions requested:</p>
          <List name="New permissions" mark="+" sentences={widens} />
        </>
      )}
      {lost.length > 0 && (
        <>
          <p>Permissions removed:</p>
          <List name="Permissions removed" mark="−" sentences={lost} />
        </>
      )}
      <Refused refuses={refuses} />
      <p>
        Code hash: <code>{hash}</code>
      </p>
      <div class="actions">
        <Action
          kind="primary"
          label={`Approve version ${version}`}
          question={questionOf(name, pending)}
          done={`${name} now runs version ${version}.`}
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
          done={`Version ${version} rejected. It stays installed.`}
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

// Permissions of the running version that the pending one lacks. The service returns the opposite direction only.
function useLost(plugin: Installed, { hash }: Pending): string[] {
  const versions = useLoad(
    (signal) => call('GET /platform/api/v1/plugins/:plugin/versions', { plugin: plugin.id, signal }),
    [plugin.id, hash],
  );
  const next = versions.value?.payload.find((one) => one.hash === hash);
  return next ? plugin.permissions.filter((sentence) => !isKept(sentence, next.permissions)) : [];
}

// Sentences name the part where a package has several: a version without parts says the same without the name.
function isKept(sentence: string, next: readonly string[]): boolean {
  return next.some((other) => other === sentence || other.endsWith(`: ${sentence}`) || sentence.endsWith(`: ${other}`));
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
  if (count === 0) return <p>Compatible with the settings of all bots.</p>;
  return (
    <>
      <p class="note error">
        Incompatible with the settings of {count} {count === 1 ? 'bot' : 'bots'}. Affected bots stop answering until
        their settings are changed:
      </p>
      <ul aria-label="Incompatible bots">
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
  const silent = count === 0 ? '' : ` ${count} of them stop answering until their settings are changed.`;
  return `All bots of ${name} will run version ${version}.${silent}`;
}
