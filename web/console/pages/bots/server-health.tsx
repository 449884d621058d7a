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
      <h2>Server</h2>
      <Show of={health}>{(value) => <Facts facts={factsOf(value)} />}</Show>
      <div class="actions">
        {paused ? (
          <Action
            kind="primary"
            done={`${name} resumed.`}
            act={async () => changed(await call('POST agent_bots/:id/resume', { id }))}
          >
            Resume
          </Action>
        ) : (
          <Action
            done={`${name} paused. Deliveries wait until you resume.`}
            act={async () => changed(await call('POST agent_bots/:id/pause', { id }))}
          >
            Pause
          </Action>
        )}
        {(health.value?.circuit.consecutive_failures ?? 0) > 0 && (
          <Action
            done="Retrying what is failing."
            act={async () => {
              await call('POST agent_bots/:id/retry', { id });
              await health.reload();
            }}
          >
            Retry now
          </Action>
        )}
        {(health.value?.pending ?? 0) > 0 && (
          <Action
            kind="danger"
            question={`Pending deliveries to ${name} are cancelled. You can recover them later.`}
            done="Pending deliveries cancelled."
            act={async () => {
              await call('POST agent_bots/:id/cancel_pending', { id });
              await health.reload();
            }}
          >
            {' '}
            Cancel pending{' '}
          </Action>
        )}
        <button type="button" onClick={() => void health.reload()}>
          {' '}
          Refresh{' '}
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
    ['Recent attempts', health.attempts === 0 ? 'None yet' : health.attempts.toLocaleString()],
    ['Success rate', rate === null ? null : `${(rate * 100).toFixed(1)} %`],
    ['Response time, p50', usual === null ? null : `${usual} ms`],
    ['Response time, p95', slow === null ? null : `${slow} ms`],
    ['Failed attempts, p95', health.failed_p95_ms === null ? null : `${health.failed_p95_ms} ms`],
    ['Pending', health.pending.toLocaleString()],
    ['Oldest pending', health.oldest_pending_at === null ? null : <Time key="old" at={health.oldest_pending_at} />],
    ['Consecutive failures', circuit.consecutive_failures || null],
    ['Failing since', circuit.failing_since === null ? null : <Time key="failing" at={circuit.failing_since} />],
    ['Next probe', circuit.next_attempt_at === null ? null : <Time key="next" at={circuit.next_attempt_at} />],
  ];
}

function Circuit({ health: { paused_at: pausedAt, circuit } }: { health: State }) {
  if (pausedAt !== null)
    return (
      <>
        <span class="badge wait">Paused</span> since <Time at={pausedAt} />
      </>
    );
  if (circuit.state === 'open') return <span class="badge bad">Circuit open: not responding</span>;
  if (circuit.consecutive_failures > 0) return <span class="badge wait">Recent attempts failed</span>;
  return <span class="badge good">Healthy</span>;
}
