import { Show, useLoad } from '../../kit/load.tsx';
import { Table } from '../../kit/table.tsx';
import { call } from '../../session.ts';
import { nameOf, State } from './states.tsx';

/** The webhooks of the account with their deliveries of an event, or why they have none. */
export function EventReceivers({ eventId }: { eventId: number }) {
  const receivers = useLoad((signal) => call('GET events/:id/deliveries', { id: eventId, signal }), [eventId]);
  return (
    <details>
      <summary>Webhooks that got this event</summary>
      <Show of={receivers}>
        {({ payload }) => (
          <Table
            caption="Webhooks that got this event"
            rows={payload}
            keyOf={({ webhook_id: id }) => id}
            empty={<p>No webhooks.</p>}
            columns={[
              {
                title: 'Webhook',
                kind: 'text',
                cell: ({ webhook_id: id, name }) => <a href={`/console/webhooks/${id}`}>{nameOf({ id, name })}</a>,
              },
              {
                title: 'Delivery',
                kind: 'text',
                cell: ({ deliveries, not_sent: reason }) => {
                  const last = deliveries.at(-1);
                  if (!last) return `Not sent: ${reason === null ? '' : reasons[reason]}`;
                  return (
                    <>
                      <a href={`/console/deliveries/${last.id}`}>Delivery {last.id}</a> <State state={last.state} />
                    </>
                  );
                },
              },
            ]}
          />
        )}
      </Show>
    </details>
  );
}

const reasons = {
  inactive: 'disabled',
  subscriptions: 'not subscribed',
  inbox: 'other inbox',
  filter: 'filter',
  changed: 'created or changed after the event',
} as const;
