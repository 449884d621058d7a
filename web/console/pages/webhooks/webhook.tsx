import { useState } from 'preact/hooks';
import { Facts } from '../../kit/facts.tsx';
import { nameOfFormat } from '../../kit/format-field.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { RecordDialog } from '../../kit/record-form.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import { BulkButtons, BulkProgress } from './bulk-action.tsx';
import { DeliveryLog, useDeliveries } from './delivery-log.tsx';
import { ways } from './credentials.tsx';
import { filterInWords } from './event-filter.tsx';
import { HealthFacts } from './health.tsx';
import { RecoveryProgress } from './recovery.tsx';
import { SharedLinks } from './share.tsx';
import { SigningSecrets } from './signing-secrets.tsx';
import { nameOf, Standing } from './states.tsx';
import { TestForm } from './test-form.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { webhookForm } from './webhook-form.tsx';
import './webhooks.css';

const healthMs = 10_000;
// Only new webhooks have a secret to show.
const form = webhookForm(() => undefined);

/** Page of a webhook: its state, actions, health and deliveries. */
export function WebhookPage({ parameters, query }: ViewProps) {
  const id = Number(parameters['id']);
  const webhook = useLoad((signal) => call('GET webhooks/:id', { id, signal }), [id]);
  const health = useLoad((signal) => call('GET webhooks/:id/health', { id, signal }), [id]);
  const secrets = useLoad((signal) => call('GET webhooks/:id/secrets', { id, signal }), [id]);
  const shares = useLoad((signal) => call('GET webhooks/:id/shares', { id, signal }), [id]);
  const deliveries = useDeliveries(
    query,
    (wanted, signal) => call('GET webhooks/:id/deliveries', { id, query: wanted, ...(signal ? { signal } : {}) }),
    [id],
  );
  const [isEdited, setEdited] = useState(false);
  useRepeat(health.value !== null, health.reload, healthMs);
  const again = async (): Promise<void> => {
    await Promise.all([webhook.reload(), health.reload(), secrets.reload(), shares.reload(), deliveries.reload()]);
  };
  const recovery = Number(query.get('recovery'));
  const bulk = Number(query.get('bulk'));
  return (
    <Page
      title={webhook.value ? nameOf(webhook.value) : 'Webhook'}
      actions={
        webhook.value && (
          <button type="button" onClick={() => setEdited(true)}>
            Edit
          </button>
        )
      }
    >
      <Show of={webhook}>
        {(value) => (
          <>
            <Facts
              facts={[
                ['URL', <code key="url">{value.url}</code>],
                ['State', <Standing key="state" webhook={value} />],
                ['Events', value.subscriptions.join(', ')],
                [
                  'Inbox',
                  value.inbox_id === null ? (
                    'All'
                  ) : (
                    <a href={`/console/settings/inboxes/${value.inbox_id}`}>Inbox {value.inbox_id}</a>
                  ),
                ],
                ['Filter', filterInWords(value.filter)],
                ['Headers', value.headers.map(({ name }) => name).join(', ') || 'None'],
                ['Authentication', value.auth_type === null ? 'None' : ways[value.auth_type]],
                ['Rate limit', value.max_per_second === null ? 'None' : `${value.max_per_second} per second`],
                ['Format', nameOfFormat(value.format)],
                ['Updated', <Time key="changed" at={value.updated_at} />],
              ]}
            />
            <WebhookActions webhook={value} changed={again} />
            <TestForm webhook={value} sent={again} />
            {recovery > 0 && <RecoveryProgress key={recovery} webhookId={id} id={recovery} moved={again} />}
            <h2>Health</h2>
            <HealthFacts of={health} />
            <h2>Signing secrets</h2>
            <SigningSecrets webhookId={id} secrets={secrets} />
            <h2>Developer links</h2>
            <SharedLinks webhookId={id} shares={shares} />
            <h2>Deliveries</h2>
            <DeliveryLog
              query={query}
              deliveries={deliveries}
              actions={
                <>
                  <BulkButtons webhookId={id} query={query} begun={() => void again()} />
                  {bulk > 0 && <BulkProgress key={bulk} webhookId={id} id={bulk} moved={again} />}
                </>
              }
            />
            {isEdited && (
              <RecordDialog
                form={form}
                record={value}
                close={() => setEdited(false)}
                saved={() => {
                  setEdited(false);
                  void again();
                }}
              />
            )}
          </>
        )}
      </Show>
    </Page>
  );
}
