import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { ChoiceField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { call } from '../../session.ts';
import { deliveryAddress } from '../../shared-webhook.ts';
import { errorInWords, isUnderWay, webhookEvents, type Webhook } from './states.tsx';

type Tested = Pick<Webhook, 'id' | 'subscriptions'>;

/** Sends the webhook a sample of an event, and shows what its receiver answers. */
export function TestForm({ webhook, sent }: { webhook: Tested; sent: () => Promise<void> }) {
  const [event, setEvent] = useState(webhook.subscriptions[0] ?? webhookEvents[0] ?? '');
  const [delivery, setDelivery] = useState<number | null>(null);
  return (
    <>
      <h2>Send a test</h2>
      <div class="filters">
        <ChoiceField
          label="Test event"
          value={event}
          onChange={setEvent}
          options={webhookEvents.map((name) => [name, name] as const)}
        />
        <Action
          act={async () => {
            setDelivery((await call('POST webhooks/:id/test', { id: webhook.id, body: { event } })).id);
            await sent();
          }}
        >
          {' '}
          Send test{' '}
        </Action>
      </div>
      {delivery !== null && <Outcome key={delivery} id={delivery} />}
    </>
  );
}

const lookMs = 500;

function Outcome({ id }: { id: number }) {
  const delivery = useLoad((signal) => call('GET deliveries/:id', { id, signal }), [id]);
  useRepeat(delivery.value === null || isUnderWay(delivery.value), delivery.reload, lookMs);
  return (
    <Show of={delivery}>
      {({ state, last_status: status, last_error: error, attempts }) => {
        const took = attempts.at(-1)?.times.total;
        return (
          <p class={`note ${state === 'delivered' || state === 'pending' ? '' : 'error'}`} role="status">
            {state === 'pending' && 'Sending…'}
            {state === 'delivered' && `Delivered: response ${status} in ${took ?? 0} ms.`}
            {state !== 'pending' && state !== 'delivered' && `Test failed: ${errorInWords(error ?? state)}.`}{' '}
            <a href={deliveryAddress(id)}>Delivery {id}</a>
          </p>
        );
      }}
    </Show>
  );
}
