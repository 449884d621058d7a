import { Json } from '../../kit/code.tsx';
import type { Run } from './run-table.tsx';

type HostCall = Run['calls'][number];

/** What a bot asked the service for, with the answers, in the order of asking. */
export function HostCalls({ calls }: { calls: readonly HostCall[] }) {
  return (
    <section>
      <h2>What it asked the service for</h2>
      {calls.length === 0 && <p class="empty">Nothing: a bot asks with ctx.storage, ctx.kb, ctx.llm and ctx.fetch.</p>}
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
                <Json label={`Answer ${index + 1}`} value={call.output} />
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
  if (call.input === null || call.input === undefined)
    return <p>Its question is not shown: it had none, or the bot is the platform's own.</p>;
  return <Json label={`Question ${number}`} value={call.input} />;
}
