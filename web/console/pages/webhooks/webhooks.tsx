import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { pageOf, Pages } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import { HealthLine } from './health.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { nameOf, Standing, type Webhook } from './states.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import './webhooks.css';

/** The webhooks of the account: whom events are told, and how that goes. */
export function WebhooksPage({ query }: ViewProps) {
  const page = pageOf(query);
  const webhooks = useLoad((signal) => call('GET webhooks', { query: { page }, signal }), [page]);
  const [edited, setEdited] = useState<Webhook | 'new' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Page
      title="Webhooks"
      actions={
        <button type="button" class="primary" onClick={() => setEdited('new')}>
          New webhook
        </button>
      }
    >
      <Show of={webhooks}>
        {({ payload, meta }) => (
          <>
            <Table
              caption="Webhooks"
              rows={payload}
              keyOf={({ id }) => id}
              empty={<EmptyState />}
              columns={[
                { title: 'Webhook', cell: (webhook) => <Place webhook={webhook} /> },
                { title: 'State', cell: (webhook) => <Standing webhook={webhook} /> },
                { title: 'Lately', cell: ({ id }) => <HealthLine id={id} /> },
                { title: 'Events', cell: ({ subscriptions }) => subscriptions.join(', ') },
                {
                  title: 'Actions',
                  cell: (webhook) => (
                    <RowActions webhook={webhook} edit={() => setEdited(webhook)} changed={webhooks.reload} />
                  ),
                },
              ]}
            />
            <Pages meta={meta} />
          </>
        )}
      </Show>
      {edited && (
        <WebhookDialog
          webhook={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
          saved={(made) => {
            setEdited(null);
            setSecret(made);
            void webhooks.reload();
          }}
        />
      )}
      {secret !== null && <SecretDialog secret={secret} close={() => setSecret(null)} />}
    </Page>
  );
}

function EmptyState() {
  return (
    <>
      <p>
        Nobody is told yet what happens here. Make a webhook with “New webhook”: a server of yours then gets events as
        signed posts.
      </p>
      <p>
        Which events there are is in the <a href="/console/catalogue">event catalogue</a>; without a server, follow them{' '}
        <a href="/console/live">live</a>.
      </p>
    </>
  );
}

function Place({ webhook }: { webhook: Webhook }) {
  return (
    <>
      <a href={`/console/webhooks/${webhook.id}`}>{nameOf(webhook)}</a>
      <br />
      <code>{webhook.url}</code>
    </>
  );
}

function RowActions({ webhook, edit, changed }: { webhook: Webhook; edit: () => void; changed: () => Promise<void> }) {
  const name = nameOf(webhook);
  return (
    <div class="actions">
      <button type="button" aria-label={`Edit ${name}`} onClick={edit}>
        Edit
      </button>
      <Action
        kind="danger"
        label={`Delete ${name}`}
        question={`Deleting “${name}” cancels what waits for it. What was delivered stays in the log.`}
        done={`“${name}” is deleted.`}
        act={async () => {
          await call('DELETE webhooks/:id', { id: webhook.id });
          await changed();
        }}
      >
        Delete
      </Action>
    </div>
  );
}
