import { Json } from '../../kit/code.tsx';
import type { Run } from './run-table.tsx';

type HostCall = Run['calls'][number];

/** Calls of a run to the service with their responses, in order. */
export function HostCalls({ calls }: { calls: readonly HostCall[] }) {
  return (
    <section>
      <h2>Calls</h2>
      {calls.length === 0 && (
        <p class="empty">No calls. A bot calls ctx.storage, ctx.kb, ctx.llm, ctx.tools and ctx.fetch.</p>
      )}
      <ol class="steps">
        {calls.map((call, index) => (
          <li key={index}>
            <details>
              <summary>
                <code>{call.name}</code> {call.ms} ms{' '}
                {call.error && <span class="badge bad">{call.error.code.replaceAll('_', ' ')}</span>}
              </summary>
              <Question call={call} number={index + 1} />
              {call.error ? (
                <p class="note error">{call.error.message}</p>
              ) : (
                <Json label={`Response ${index + 1}`} value={call.output} />
              )}
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Question({ call, number }: { call: HostCall; number: number }) {
  // The service keeps the questions of system bots to the platform; a question without a body is null too.
  if (call.input === null || call.input === undefined) return <p>No request body, or a system bot.</p>;
  return <Json label={`Request ${number}`} value={call.input} />;
}
