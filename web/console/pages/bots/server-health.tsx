import type { ComponentChildren } from 'preact';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Time } from '../../kit/time.tsx';
import { call } from '../../session.ts';
import type { Bot } from './bot-list.ts';
import { RecoverServer } from './recover-server.tsx';
import { TestServer } from './test-server.tsx';

type State = Reply<'GET agent_bots/:id/health'>;

/** How a bot's server takes its events, and what can be done about it. */
export function ServerHealth({ bot, changed }: { bot: Bot; changed: (bot: Bot) => void }) {
  const { id, name, paused } = bot;
  const health = useLoad((signal) => call('GET agent_bots/:id/health', { id, signal }), [id, paused]);
  return (
    <section>
      <h2>Its server</h2>
      <Show of={health}>{(value) => <Facts facts={factsOf(value)} />}</Show>
      <div class="actions">
        {paused ? (
          <Action
            kind="primary"
            done={`${name} is told again of what waited.`}
            act={async () => changed(await call('POST agent_bots/:id/resume', { id }))}
          >
            Resume
          </Action>
        ) : (
          <Action
            done={`Nothing is sent to ${name} until it is resumed; everything waits.`}
            act={async () => changed(await call('POST agent_bots/:id/pause', { id }))}
          >
            Pause
          </Action>
        )}
        {(health.value?.pending ?? 0) > 0 && (
          <Action
            kind="danger"
            question={`What waits for ${name} is never sent then. Recover can send it later.`}
            done="What waited is cancelled."
            act={async () => {
              await call('POST agent_bots/:id/cancel_pending', { id });
              await health.reload();
            }}
          >
            Cancel what waits
          </Action>
        )}
        <button type="button" onClick={() => void health.reload()}>
          Look again
        </button>
      </div>
      <TestServer id={id} ended={health.reload} />
      <RecoverServer id={id} ended={health.reload} />
    </section>
  );
}

function factsOf(health: State): (readonly [string, ComponentChildren])[] {
  const { circuit, success_rate: rate, p50_ms: usual, p95_ms: slow } = health;
  return [
    ['State', <Circuit key="state" health={health} />],
    ['Latest attempts', health.attempts === 0 ? 'None yet: send it a test' : health.attempts.toLocaleString()],
    ['Of them succeeded', rate === null ? null : `${(rate * 100).toFixed(1)} %`],
    ['Half of the answers within', usual === null ? null : `${usual} ms`],
    ['19 of 20 answers within', slow === null ? null : `${slow} ms`],
    ['Waiting', health.pending.toLocaleString()],
    ['The oldest since', health.oldest_pending_at === null ? null : <Time key="old" at={health.oldest_pending_at} />],
    ['Failures since the last success', circuit.consecutive_failures || null],
    ['Failing since', circuit.failing_since === null ? null : <Time key="failing" at={circuit.failing_since} />],
    ['Tried again', circuit.next_attempt_at === null ? null : <Time key="next" at={circuit.next_attempt_at} />],
  ];
}

function Circuit({ health: { paused, circuit } }: { health: State }) {
  if (paused) return <span class="badge wait">Paused</span>;
  if (circuit.state === 'open') return <span class="badge bad">Does not answer: one delivery at a time is tried</span>;
  if (circuit.consecutive_failures > 0) return <span class="badge wait">The latest attempts failed</span>;
  return <span class="badge good">Well</span>;
}
