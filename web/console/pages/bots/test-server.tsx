import { useEffect, useRef, useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { ChoiceField } from '../../kit/form.tsx';
import { call } from '../../session.ts';
import { botEvents } from './bot-words.tsx';

type Delivery = Reply<'POST agent_bots/:id/test'>;
type Event = (typeof botEvents)[number][0];

const pauseMs = 500;
const waits = 40;

/** Sends a bot's server a sample of an event, and shows how it is taken. */
export function TestServer({ id, ended }: { id: number; ended: () => Promise<void> }) {
  const [event, setEvent] = useState<Event>('message_created');
  const [sent, setSent] = useState<Pick<Delivery, 'id' | 'state' | 'last_status' | 'last_error'> | null>(null);
  const isHere = useRef(true);
  useEffect(() => () => void (isHere.current = false), []);
  async function test(): Promise<void> {
    const delivery = await call('POST agent_bots/:id/test', { id, body: { event } });
    setSent(delivery);
    for (let wait = 0; wait < waits && isHere.current; wait += 1) {
      const { state, last_status, last_error } = await call('GET deliveries/:id', { id: delivery.id });
      if (!isHere.current) return;
      setSent({ id: delivery.id, state, last_status, last_error });
      if (state !== 'pending' && state !== 'failing') return ended();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return (
    <div class="filters">
      <ChoiceField label="Test event" value={event} onChange={setEvent} options={botEvents} />
      <div class="actions">
        <Action act={test}>Send test</Action>
      </div>
      <p role="status">
        {sent && (
          <>
            <span class={`badge ${kinds[sent.state]}`}>{sent.state}</span> {answerOf(sent)}{' '}
            <a href={`/console/deliveries/${sent.id}`}>Delivery {sent.id}</a>
          </>
        )}
      </p>
    </div>
  );
}

const kinds = { pending: 'wait', failing: 'wait', delivered: 'good', exhausted: 'bad', cancelled: 'bad' } as const;

function answerOf({
  state,
  last_status: status,
  last_error: error,
}: Pick<Delivery, 'state' | 'last_status' | 'last_error'>) {
  if (state === 'pending') return 'Sending…';
  if (status !== null) return `Response ${status}.`;
  return error === null ? '' : `No response: ${error.replaceAll('_', ' ')}.`;
}
