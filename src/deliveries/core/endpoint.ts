/** Deliveries go to an account's webhook, or to a bot. */
export type EndpointKind = 'webhook' | 'bot';

/** An endpoint; the ids of webhooks and of bots are counted apart. */
export interface Endpoint {
  kind: EndpointKind;
  id: number;
}

/** An endpoint, and of a system bot's the part that one account has in it. */
export interface EndpointOfAccount {
  id: number;
  accountId: number;
}

/** Names an account's part in an endpoint, among those of its kind. */
export function keyOf({ id, accountId }: EndpointOfAccount): string {
  return `${id}:${accountId}`;
}
