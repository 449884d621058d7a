import { useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { call } from '../../session.ts';
import { sharedWebhook } from '../../shared-webhook.ts';
import { DeliveryLog, useDeliveries } from './delivery-log.tsx';
import { HealthFacts } from './health.tsx';
import { TestForm } from './test-form.tsx';
import './webhooks.css';

const againMs = 5_000;

/** A webhook as the developer of its receiver sees it: tests, health and deliveries. */
export function SharedWebhookPage({ query }: { query: URLSearchParams }) {
  const id = sharedWebhook?.webhook ?? 0;
  const health = useLoad((signal) => call('GET webhooks/:id/health', { id, signal }), [id]);
  const deliveries = useDeliveries(
    query,
    (wanted, signal) => call('GET webhooks/:id/deliveries', { id, query: wanted, ...(signal ? { signal } : {}) }),
    [id],
  );
  const again = async (): Promise<void> => {
    await Promise.all([health.reload(), deliveries.reload()]);
  };
  // There is no stream of events for a link.
  useRepeat(health.value !== null, again, againMs);
  return (
    <Page title={`Webhook ${id}`}>
      <p>
        Deliveries to your endpoint. You can resend a delivery or send a test. Payloads may contain personal data of
        customers.
      </p>
      <TestForm webhook={{ id, subscriptions: [] }} sent={again} />
      <h2>Health</h2>
      {health.value?.paused && <p class="note">Paused by an administrator. Deliveries wait until it is resumed.</p>}
      <HealthFacts of={health} />
      <h2>Deliveries</h2>
      <DeliveryLog query={query} deliveries={deliveries} />
    </Page>
  );
}
