import { useEffect, useMemo } from 'preact/hooks';
import { Attached, filesIn } from '../../shared/attached.tsx';
import { useStore } from '../../shared/store.ts';
import { Trace, type Delivery, type Run, type Traced } from '../../shared/trace/trace.ts';
import { brief, decisionInWords, eventInWords, servingInWords } from '../../shared/trace/words.ts';
import type { Member } from './member.ts';

/** Trace of the conversation: events, decisions, runs and deliveries. */
export function TraceView({ member, conversationId }: { member: Member; conversationId: number }) {
  const trace = useMemo(() => new Trace(member, conversationId), [member, conversationId]);
  useEffect(() => trace.start(), [trace]);
  const { entries, serving, error } = useStore(trace.state);
  const problem = useStore(member.live.problem);
  return (
    <>
      <h2>Trace</h2>
      <p role="status" class="serving">
        {serving ? servingInWords(serving) : 'Loading…'}
      </p>
      <p>
        <a href={`/console/conversations/${conversationId}?account=${member.accountId}`}>Open in console</a>
      </p>
      {error !== null && <p role="alert">{error}</p>}
      {problem !== null && <p role="status">Offline: no live updates. {problem}</p>}
      <ol class="trace" reversed>
        {entries.map((entry) => (
          <Entry key={entry.event.id} entry={entry} />
        ))}
      </ol>
    </>
  );
}

function Entry({ entry: { event, decision, runs, deliveries } }: { entry: Traced }) {
  return (
    <li>
      <p>
        <Moment at={event.created_at} /> <b>{eventInWords(event)}</b>
      </p>
      <Attached files={filesIn(event.payload)} origin={location.origin} />
      {decision && <p>{decisionInWords(decision)}</p>}
      {runs.map((run) => (
        <RunView key={run.id} run={run} />
      ))}
      {deliveries.map((delivery) => (
        <DeliveryView key={delivery.id} delivery={delivery} />
      ))}
    </li>
  );
}

function RunView({ run }: { run: Run }) {
  const { id, outcome, actions, logs, calls, cpu_ms: cpu, wall_ms: wall, error } = run;
  return (
    <details>
      <summary>
        Run {id}: {outcome}, {wall} ms (CPU {cpu} ms), {actions.length} {actions.length === 1 ? 'action' : 'actions'}
      </summary>
      {error && <p>{error.message}</p>}
      <List title="Log" lines={logs.map(({ level, message }) => `${level}: ${message}`)} />
      <List
        title="Calls"
        lines={calls.map(({ name, input, output, error: failed, ms }) =>
          [`${name}(${brief(input)})`, failed ? `${failed.code}: ${failed.message}` : brief(output), `${ms} ms`].join(
            ' → ',
          ),
        )}
      />
      <List title="Actions" lines={actions.map(brief)} />
    </details>
  );
}

function List({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {lines.map((line) => (
          <li class="code">{line}</li>
        ))}
      </ul>
    </>
  );
}

function DeliveryView({ delivery }: { delivery: Delivery }) {
  const { webhook_id: webhook, state, attempts, next_attempt_at: next } = delivery;
  return (
    <div class={`delivery ${state}`}>
      <p>
        Webhook {webhook}: {state}
        {next !== null && attempts.length > 0 && (
          <>
            , next attempt at <Moment at={next} />
          </>
        )}
      </p>
      <ul>
        {attempts.map(({ number, started_at: at, response, error, times }) => (
          <li>
            Attempt {number} at <Moment at={at} />: {response?.status ?? error?.class ?? 'no response'}
            {times.total !== null && `, ${times.total} ms`}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Moment({ at }: { at: number }) {
  const moment = new Date(at * 1000);
  return <time dateTime={moment.toISOString()}>{moment.toLocaleTimeString()}</time>;
}
