import { useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import { DeliveryLog, useDeliveries } from './delivery-log.tsx';
import { nameOf } from './states.tsx';

/** The deliveries of the whole account: to webhooks and to bots. */
export function DeliveriesPage({ query }: ViewProps) {
  const deliveries = useDeliveries(query, (wanted, signal) =>
    call('GET deliveries', { query: wanted, ...(signal ? { signal } : {}) }),
  );
  // Webhooks behind the first page are shown by their numbers.
  const webhooks = useLoad((signal) => call('GET webhooks', { signal }));
  const receivers = new Map(webhooks.value?.payload.map((webhook) => [webhook.id, nameOf(webhook)]));
  return (
    <Page title="Deliveries">
      <p>Deliveries to all webhooks and bots.</p>
      <DeliveryLog query={query} deliveries={deliveries} receivers={receivers} />
    </Page>
  );
}
