import type { Query, Reply } from '../../../shared/call.ts';
import { downloadLines } from '../../kit/download.ts';
import { ChoiceField } from '../../kit/form.tsx';
import { Show } from '../../kit/load.tsx';
import { More, useParts, type Growing } from '../../kit/more.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';

type Entry = Reply<'GET audit_log'>['payload'][number];

/** Kinds of records that the log can be asked for, with their names in the console. */
const kinds: readonly (readonly [string, string])[] = [
  ['', 'All records'],
  ['account', 'Account'],
  ['agent', 'Agents'],
  ['agent_bot', 'Bots'],
  ['article', 'Articles'],
  ['automation', 'Automations'],
  ['contact', 'Contacts'],
  ['conversation', 'Conversations'],
  ['custom_attribute_definition', 'Custom attributes'],
  ['hook', 'Hooks'],
  ['inbox', 'Inboxes'],
  ['label', 'Labels'],
  ['sla_policy', 'SLA policies'],
  ['team', 'Teams'],
  ['user', 'Sign-ins and security'],
  ['webhook', 'Webhooks'],
];
/** Pages of the records that have one, by kind. */
const places: Readonly<Record<string, string>> = {
  agent_bot: '/console/bots',
  automation: '/console/automations',
  contact: '/console/contacts',
  inbox: '/console/settings/inboxes',
  webhook: '/console/webhooks',
};

/** The audit log of the account, newest first; for administrators. */
export function AuditLogPage({ query }: ViewProps) {
  const target = query.get('target') ?? '';
  const entries = useParts<Entry>(
    (cursor, signal) => call('GET audit_log', { query: asked(target, cursor), ...(signal && { signal }) }),
    [target],
  );
  return (
    <Page title="Audit log">
      <p>Changes by administrators, and sign-ins. Secrets are not recorded.</p>
      <search class="filters">
        <ChoiceField
          label="Record"
          value={target}
          options={kinds}
          onChange={(kind) => setQuery({ target: kind === '' ? null : kind })}
        />
      </search>
      <Entries of={entries} />
    </Page>
  );
}

function asked(target: string, cursor: string | undefined): Query<'GET audit_log'> {
  return { ...(target === '' ? {} : { target }), ...(cursor === undefined ? {} : { cursor }) };
}

function Entries({ of }: { of: Growing<Entry> }) {
  return (
    <Show of={of}>
      {({ payload }) => (
        <>
          <Table
            caption="Audit log, newest first"
            rows={payload}
            keyOf={({ id }) => id}
            empty={<p>Nothing has been changed here yet.</p>}
            columns={[
              { title: 'When', kind: 'fit', cell: ({ at }) => <Time at={at} /> },
              { title: 'Who', kind: 'text', cell: actorName },
              { title: 'Action', kind: 'text', cell: ({ action }) => inWords(action) },
              { title: 'Record', kind: 'fit', cell: ({ target }) => <Target of={target} /> },
              { title: 'Changes', kind: 'text', cell: ({ changes }) => <Changes of={changes} /> },
              { title: 'Address', kind: 'fit', isExtra: true, cell: ({ address }) => address ?? '–' },
            ]}
          />
          {payload.length > 0 && (
            <div class="actions">
              <More of={of} />
              <button type="button" onClick={() => download(payload)}>
                Download these entries
              </button>
            </div>
          )}
        </>
      )}
    </Show>
  );
}

function actorName({ actor: { type, name } }: Entry): string {
  if (type === 'operator') return 'Operator of the server';
  return name ?? 'Switchboard';
}

// `webhook.updated` reads as “Webhook updated”.
function inWords(action: string): string {
  const words = action.replaceAll(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Target({ of }: { of: Entry['target'] }) {
  if (of === null) return <>–</>;
  const name = `${kindInWords(of.type)} ${of.id}`;
  const place = places[of.type];
  return place === undefined ? <>{name}</> : <a href={`${place}/${of.id}`}>{name}</a>;
}

function kindInWords(type: string): string {
  return inWords(type).replace('Agent bot', 'Bot');
}

function Changes({ of }: { of: Entry['changes'] }) {
  const fields = Object.entries(of);
  if (fields.length === 0) return <>–</>;
  return (
    <details>
      <summary>{fields.map(([field]) => field).join(', ')}</summary>
      <dl>
        {fields.map(([field, [before, after]]) => (
          <div key={field}>
            <dt>{field}</dt>
            <dd>
              <del>{valueInWords(before)}</del> → <ins>{valueInWords(after)}</ins>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function valueInWords(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function download(entries: readonly Entry[]): void {
  downloadLines('audit-log.jsonl', entries.map((entry) => JSON.stringify(entry)).join('\n'));
}
