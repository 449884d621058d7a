import type { EndpointOutcome } from './core/circuit.ts';
import type { DueEndpoint } from './core/slots.ts';
import type { Claimed } from './queue/claim.ts';
import type { Finished } from './queue/finish.ts';

/** One attempt: what to write of how it ended, null when that is written already, and its endpoint's part in it. */
interface Attempted {
  finished: Finished | null;
  outcome: EndpointOutcome;
}

/** Makes one attempt on an endpoint, and knows how that stood when it was claimed. */
export type Deliver = (claimed: Claimed, standing: DueEndpoint) => Promise<Attempted>;
