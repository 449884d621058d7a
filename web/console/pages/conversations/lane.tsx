import { useState } from 'preact/hooks';
import { readOlder } from '../../../shared/trace/older.ts';
import type { Delivery, Run, Traced, TraceReader } from '../../../shared/trace/trace.ts';
import { actionInWords, decisionInWords } from '../../../shared/trace/words.ts';
import { Action } from '../../kit/action.tsx';
import { Time } from '../../kit/time.tsx';

interface Props {
  conversationId: number;
  traced: Traced;
  reader: TraceReader;
}

/** Trace of an event: the bot that was called or the reason why none was, its runs, and deliveries. */
export function Lane({ conversationId, traced, reader }: Props) {
  const [older, setOlder] = useState<Traced | null>(null);
  const { runs, deliveries, isWhole } = older ?? traced;
  return (
    <>
      <Why traced={older ?? traced} isOlder={older !== null} />
      {runs.map((run) => (
        <RunView key={run.id} run={run} />
      ))}
      {deliveries.map((delivery) => (
        <DeliveryView key={delivery.id} delivery={delivery} />
      ))}
      {!isWhole && (
        <Action act={async () => setOlder(await readOlder(reader, conversationId, traced))}>Load all results</Action>
      )}
    </>
  );
}

function Why({ traced: { event, decision, runs, isWhole }, isOlder }: { traced: Traced; isOlder: boolean }) {
  if (decision) return <p>{decisionInWords(decision)}</p>;
  if (isOlder) return <p>Decision no longer available.</p>;
  if (!isWhole || runs.length > 0 || event.event !== 'message_created') return null;
  return <p>No bot called: none is assigned.</p>;
}

function RunView({ run: { id, outcome, wall_ms: wall, actions, error } }: { run: Run }) {
  return (
    <>
      <p>
        <a href={`/console/runs/${id}`}>Run {id}</a>: {outcome}, {wall} ms
      </p>
      {error && <p class="problem">{error.message}</p>}
      {actions.length > 0 && (
        <ul>
          {actions.map((action, index) => (
            <li key={index}>{actionInWords(action)}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function DeliveryView({ delivery }: { delivery: Delivery }) {
  const { id, webhook_id: webhook, state, attempts, next_attempt_at: next } = delivery;
  return (
    <>
      <p>
        <a href={`/console/deliveries/${id}`}>Webhook {webhook}</a>: {state}
        {next !== null && attempts.length > 0 && (
          <>
            , again <Time at={next} />
          </>
        )}
      </p>
      {attempts.length > 0 && (
        <ul>
          {attempts.map(({ number, response, error, times: { total } }) => (
            <li key={number}>
              Attempt {number}: {response?.status ?? error?.class ?? 'no response'}
              {total !== null && `, ${total} ms`}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
