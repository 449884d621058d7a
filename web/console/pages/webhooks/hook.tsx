import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { pageOf, Pages } from '../../kit/pages.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import { HookUrl, ownerOf } from './hooks.tsx';

type HookRequest = Reply<'GET hooks/:id/requests'>['payload'][number];

const everyMs = 5_000;

/** Page of a hook with its requests. */
export function HookPage({ parameters, query }: ViewProps) {
  const id = Number(parameters['id']);
  const page = pageOf(query);
  const [url, setUrl] = useState<string | null>(null);
  const hook = useLoad((signal) => call('GET hooks/:id', { id, signal }), [id]);
  const requests = useLoad((signal) => call('GET hooks/:id/requests', { id, query: { page }, signal }), [id, page]);
  // No event tells of a request.
  useRepeat(page === 1, requests.reload, everyMs);
  return (
    <Page
      title={hook.value?.name ?? 'Hook'}
      above={<a href="/console/hooks">Incoming</a>}
      actions={
        <Action
          question="The hook gets another URL. The present one serves for another 24 hours."
          act={async () => {
            setUrl((await call('POST hooks/:id/rotate', { id, body: {} })).url);
            await hook.reload();
          }}
        >
          Rotate URL
        </Action>
      }
    >
      <Show of={hook}>
        {(value) => (
          <Facts
            facts={[
              ['URL', <code key="url">{value.url}</code>],
              ['Handled by', <Owner key="owner" hook={value} />],
              ['Handler', <code key="handler">{value.handler}</code>],
              ['Last request', <Time key="last" at={value.last_received_at} />],
              ['Created', <Time key="created" at={value.created_at} />],
            ]}
          />
        )}
      </Show>
      <h2>Requests</h2>
      <Show of={requests}>
        {({ payload, meta }) => (
          <>
            <Table
              caption="Requests, newest first"
              rows={payload}
              keyOf={(request) => request.id}
              empty={<p>No requests yet. They appear here when the other system sends one.</p>}
              columns={[
                {
                  title: 'Request',
                  kind: 'fit',
                  cell: (request) => <a href={`/console/hooks/${id}/requests/${request.id}`}>Request {request.id}</a>,
                },
                { title: 'Outcome', kind: 'fit', cell: (request) => <Outcome of={request} /> },
                { title: 'State', kind: 'fit', cell: (request) => <RequestState of={request} /> },
                {
                  title: 'Reason',
                  kind: 'text',
                  cell: ({ reason }) => (reason === null ? '–' : reasonInWords(reason)),
                },
                { title: 'Bytes', kind: 'fit', isExtra: true, cell: ({ bytes }) => bytes },
                { title: 'Key', kind: 'text', isExtra: true, cell: ({ key }) => key ?? '–' },
                { title: 'Received', kind: 'fit', cell: ({ received_at: at }) => <Time at={at} /> },
              ]}
            />
            <Pages meta={meta} />
          </>
        )}
      </Show>
      {url !== null && <HookUrl url={url} close={() => setUrl(null)} />}
    </Page>
  );
}

function Owner({ hook }: { hook: Reply<'GET hooks/:id'> }) {
  const name = ownerOf(hook);
  if (hook.inbox_id !== null) return <a href={`/console/settings/inboxes/${hook.inbox_id}`}>{name}</a>;
  if (hook.automation_id !== null) return <a href={`/console/automations/${hook.automation_id}`}>{name}</a>;
  return <a href={`/console/bots/${hook.agent_bot_id}`}>{name}</a>;
}

/** Whether a request was accepted, as a badge. */
export function Outcome({ of: { outcome } }: { of: Pick<HookRequest, 'outcome'> }) {
  return <span class={outcome === 'refused' ? 'badge bad' : 'badge'}>{outcome}</span>;
}

/** State of an accepted request, as a badge. */
export function RequestState({ of: { state } }: { of: Pick<HookRequest, 'state'> }) {
  if (state === null) return <>–</>;
  const kinds = { waiting: 'badge', done: 'badge good', failed: 'badge bad' } as const;
  return <span class={kinds[state]}>{state}</span>;
}

const reasons: Readonly<Record<string, string>> = {
  bad_signature: 'The signature is not valid',
  missing_signature: 'The signature is missing',
  stale_timestamp: 'The signed time is too old, or ahead',
  missing_secret: 'The secret is missing',
  secret_unusable: 'The secret is empty or holds no key',
  secret_unreadable: 'The secret cannot be decrypted',
  no_handler: 'The plugin has no such hook, or is switched off',
  too_much_waits: 'Too many bytes were waiting',
  certificate_unavailable: 'The certificate of Amazon could not be read',
  not_confirmed: 'The subscription could not be confirmed',
  erased: 'Erased with its contact, conversation or message',
  invalid_json: 'Invalid JSON',
  body_too_large: 'The body is too large',
  unsupported_media_type: 'Unsupported media type',
};

/** Returns why a request was refused, or is empty, in words. */
export function reasonInWords(reason: string): string {
  return reasons[reason] ?? reason.replaceAll('_', ' ');
}
