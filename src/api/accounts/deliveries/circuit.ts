import type { EndpointHealth } from '../../../deliveries/core/circuit.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';

type Known = Pick<EndpointHealth, 'consecutiveFailures'> & {
  failingSince?: Date | null | undefined;
  circuitProbeAt?: Date | null | undefined;
};

/** An endpoint's circuit in REST answers. */
export function presentCircuit(endpoint: Known): Shape<'resources/webhook'>['circuit'] {
  const { consecutiveFailures, failingSince, circuitProbeAt } = endpoint;
  return {
    state: circuitProbeAt ? 'open' : 'closed',
    consecutive_failures: consecutiveFailures,
    failing_since: failingSince ? unixSeconds(failingSince) : null,
    next_attempt_at: circuitProbeAt ? unixSeconds(circuitProbeAt) : null,
  };
}
