import type { EndpointOutcome } from './core/circuit.ts';
import type { DueEndpoint } from './core/slots.ts';
import type { Claimed } from './queue/claim.ts';
import type { Finished } from './queue/finish.ts';

/** A made attempt: the result to write (null when it is written already), and what it shows of the endpoint. */
interface Attempted {
  finished: Finished | null;
  outcome: EndpointOutcome;
}

/** Makes one attempt on an endpoint; `standing` is the endpoint's state when the delivery was claimed. */
export type Deliver = (claimed: Claimed, standing: DueEndpoint) => Promise<Attempted>;
