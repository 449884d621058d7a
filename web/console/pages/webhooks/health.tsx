import { Facts } from '../../kit/facts.tsx';
import { Show, useLoad, type Loaded } from '../../kit/load.tsx';
import { Time } from '../../kit/time.tsx';
import type { Reply } from '../../../shared/call.ts';
import { call } from '../../session.ts';

type Health = Reply<'GET webhooks/:id/health'>;

/** How the newest deliveries of a webhook went, in a line. */
export function HealthLine({ id }: { id: number }) {
  const health = useLoad((signal) => call('GET webhooks/:id/health', { id, signal }), [id]);
  return <Show of={health}>{(value) => <>{lineOf(value)}</>}</Show>;
}

function lineOf({ attempts, success_rate: rate, p95_ms: p95, pending, oldest_pending_at: oldest }: Health) {
  return (
    <>
      {attempts === 0 ? 'No deliveries yet' : `${percent(rate)} of ${attempts} attempts delivered`}
      {p95 !== null && `, p95 ${p95} ms`}
      {pending > 0 && (
        <>
          , <strong>{pending} pending</strong>, oldest <Time at={oldest} />
        </>
      )}
    </>
  );
}

/** The health of a webhook. */
export function HealthFacts({ of }: { of: Loaded<Health> }) {
  return (
    <Show of={of}>
      {(health) => (
        <Facts
          facts={[
            [
              'Success rate',
              health.attempts === 0
                ? 'No deliveries yet'
                : `${percent(health.success_rate)} of the last ${health.attempts} attempts`,
            ],
            ['Response time', health.p50_ms === null ? '–' : `p50 ${health.p50_ms} ms, p95 ${health.p95_ms ?? '–'} ms`],
            ['Failed attempts', health.failed_p95_ms === null ? null : `p95 ${health.failed_p95_ms} ms`],
            ['Pending', health.pending],
            ['Oldest pending', health.oldest_pending_at === null ? null : <Time at={health.oldest_pending_at} />],
            ['Consecutive failures', health.consecutive_failures],
            ['Circuit', circuitInWords(health)],
          ]}
        />
      )}
    </Show>
  );
}

function circuitInWords({ circuit }: Health) {
  if (circuit.state === 'closed') return 'Closed';
  return (
    <>
      Open: the endpoint is not responding. Next probe <Time at={circuit.next_attempt_at} />, failing since{' '}
      <Time at={circuit.failing_since} />
    </>
  );
}

function percent(rate: number | null): string {
  if (rate === null) return '–';
  // Rounded down, so that a single failure shows.
  return `${Math.floor(rate * 1000) / 10} %`;
}
