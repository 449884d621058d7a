import { Action } from '../../kit/action.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { Time } from '../../kit/time.tsx';
import type { Reply } from '../../../shared/call.ts';
import type { ViewProps } from '../../page-row.ts';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { deliveryAddress, sharedWebhook, webhookAddress } from '../../shared-webhook.ts';
import { AttemptView } from './attempt.tsx';
import { EventReceivers } from './event-receivers.tsx';
import { Conversation, errorInWords, isUnderWay, Receiver, State } from './states.tsx';
import './webhooks.css';

type Detail = Reply<'GET deliveries/:id'>;

/** Page of a delivery with all attempts. */
export function DeliveryPage({ parameters }: ViewProps) {
  const id = Number(parameters['id']);
  const delivery = useLoad((signal) => call('GET deliveries/:id', { id, signal }), [id]);
  useRepeat(delivery.value !== null && isUnderWay(delivery.value), delivery.reload);
  return (
    <Page
      title={`Delivery ${parameters['id']}`}
      above={sharedWebhook && <a href={webhookAddress(sharedWebhook.webhook)}>Webhook {sharedWebhook.webhook}</a>}
      actions={
        delivery.value && (
          <Action
            done="Resent as a new delivery."
            act={async () => go(deliveryAddress((await call('POST deliveries/:id/resend', { id })).id))}
          >
            Resend
          </Action>
        )
      }
    >
      <Show of={delivery}>
        {(value) => (
          <>
            <DeliveryFacts of={value} />
            {sharedWebhook === null && <EventReceivers eventId={value.event_id} />}
            {value.attempts.length === 0 && <p class="empty">{withoutAttempts(value)}</p>}
            {value.attempts.toReversed().map((attempt, index) => (
              <AttemptView key={attempt.number} attempt={attempt} isLast={index === 0} />
            ))}
          </>
        )}
      </Show>
    </Page>
  );
}

const triggers = {
  live: 'Event',
  resend: 'Resend',
  recover: 'Recovery',
  test: 'Test',
} as const;

function DeliveryFacts({ of }: { of: Detail }) {
  const { state, conversation_id: conversation, next_attempt_at: next, last_error: error, attempts } = of;
  const isWaiting = state === 'pending' || state === 'failing';
  return (
    <Facts
      facts={[
        ['State', <State key="state" state={state} />],
        ['Event', of.event],
        ['Endpoint', <Receiver key="to" of={{ ...of, attempts: attempts.length }} />],
        [
          'Conversation',
          conversation === null ? null : (
            <Conversation key="conversation" id={conversation}>
              Conversation {conversation}
            </Conversation>
          ),
        ],
        ['Trigger', triggers[of.trigger]],
        ['Last error', error === null ? null : errorInWords(error)],
        ['Next attempt', isWaiting && next !== null ? <Time at={next} /> : null],
        ['Waits for', of.waits_for && <WaitsFor key="waits" of={of.waits_for} />],
        ['Cancelled by', of.cancelled_by && cancelledBy(of.cancelled_by)],
        ['webhook-id', <code key="webhook-id">{of.webhook_message_id}</code>],
        ['Created', <Time key="created" at={of.created_at} />],
      ]}
    />
  );
}

function withoutAttempts({ state, waits_for: wait }: Detail): string {
  if (state !== 'pending') return 'Ended without an attempt.';
  return wait ? 'No attempts yet.' : 'No attempts yet. The first is in progress.';
}

function WaitsFor({ of: { reason, delivery_id: id, until } }: { of: NonNullable<Detail['waits_for']> }) {
  return (
    <>
      {id === null ? waits[reason] : <a href={deliveryAddress(id)}>Delivery {id}</a>}
      {until !== null && (
        <>
          {' '}
          (<Time at={until} />)
        </>
      )}
    </>
  );
}

const waits = {
  outbound: 'Nothing is sent: the database is a copy, or outbound traffic is off',
  delivery: 'An earlier delivery',
  circuit: 'Open circuit: the endpoint is not responding',
  paused: 'Endpoint paused',
  rate: 'Rate limit of the webhook',
  recovery: 'A recovery that is still preparing',
  schedule: 'Retry schedule',
} as const;

function cancelledBy({ kind, name }: NonNullable<Detail['cancelled_by']>): string {
  if (kind === 'gone') return 'Endpoint: it answered 410 Gone';
  if (kind === 'five_days') return 'Service: every attempt failed for 5 days';
  const who = name ?? 'An administrator';
  return kind === 'webhook_deleted' ? `${who}, by deleting the webhook` : who;
}
