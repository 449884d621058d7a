import type { TraceReader, TraceState } from '../../../shared/trace/trace.ts';
import { eventInWords } from '../../../shared/trace/words.ts';
import { Time } from '../../kit/time.tsx';
import { Lane } from './lane.tsx';

interface Props {
  conversationId: number;
  traced: TraceState;
  reader: TraceReader;
}

const mostShown = 50;

/** Events other than messages, newest first, with their traces. */
export function OtherEvents({ conversationId, traced: { entries, error }, reader }: Props) {
  const others = entries.filter(({ event }) => event.event !== 'message_created').slice(0, mostShown);
  return (
    <section class="panel" aria-labelledby="other-events">
      <h2 id="other-events">Activity</h2>
      {error !== null && <p role="alert">{error}</p>}
      {others.length === 0 && <p>No activity yet.</p>}
      <details>
        <summary>{others.length === mostShown ? `Latest ${mostShown}` : `${others.length} events`}</summary>
        <ol class="events" reversed>
          {others.map((traced) => (
            <li key={traced.event.id}>
              <p>
                <b>{eventInWords(traced.event)}</b> <Time at={traced.event.created_at} />
              </p>
              <div class="lane">
                <Lane conversationId={conversationId} traced={traced} reader={reader} />
              </div>
            </li>
          ))}
        </ol>
      </details>
    </section>
  );
}
