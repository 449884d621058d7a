import { keyOf, type EndpointOfAccount } from '../deliveries/core/endpoint.ts';
import type { DueEndpoint, Share } from '../deliveries/core/slots.ts';

/** Beyond this number, all are looked at once more. */
const maxKnown = 10_000;

/**
 * Endpoints without a rate whose circuit was closed at their last claim: the next claim needs no look before, since it verifies
 * that.
 */
export class KnownEndpoints {
  readonly #known = new Map<string, DueEndpoint>();

  get(endpoint: EndpointOfAccount): DueEndpoint | null {
    return this.#known.get(keyOf(endpoint)) ?? null;
  }

  /** Learns how many lanes a claim got. */
  learn(share: Share, lanes: number): void {
    if (this.#known.size >= maxKnown) this.#known.clear();
    if (lanes > 0 && share.circuit === 'closed' && share.rate === null) this.#known.set(keyOf(share), share);
    else this.forget(share);
  }

  forget(endpoint: EndpointOfAccount): void {
    this.#known.delete(keyOf(endpoint));
  }
}
