import './webhooks.css';
import { useState } from 'preact/hooks';
import { CrudPage } from '../../kit/crud-page.tsx';
import { pageOf } from '../../kit/pages.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import { HealthLine } from './health.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { nameOf, Standing, type Webhook } from './states.tsx';
import { deletionQuestion, webhookForm } from './webhook-form.tsx';

/** The webhooks of the account with their health. */
export function WebhooksPage({ query }: ViewProps) {
  const page = pageOf(query);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <CrudPage
        title="Webhooks"
        caption="Webhooks"
        inputs={[page]}
        load={(signal) => call('GET webhooks', { query: { page }, signal })}
        form={webhookForm(setSecret)}
        empty={<EmptyState />}
        columns={[
          { title: 'Webhook', kind: 'text', cell: (webhook) => <Place webhook={webhook} /> },
          { title: 'State', kind: 'text', cell: (webhook) => <Standing webhook={webhook} /> },
          { title: 'Recent attempts', kind: 'text', cell: ({ id }) => <HealthLine id={id} /> },
          { title: 'Events', kind: 'text', isExtra: true, cell: ({ subscriptions }) => subscriptions.join(', ') },
        ]}
        remove={{
          question: deletionQuestion,
          done: (name) => `Webhook “${name}” deleted.`,
          act: ({ id }) => call('DELETE webhooks/:id', { id }),
        }}
      />
      {secret !== null && <SecretDialog secret={secret} close={() => setSecret(null)} />}
    </>
  );
}

function EmptyState() {
  return (
    <>
      <p>No webhooks yet. Create one to send signed events to your server.</p>
      <p>
        See the <a href="/console/catalogue">event catalogue</a>, or watch <a href="/console/live">live events</a>.
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
