/** Endpoints are webhooks of accounts, bots, and automations and channels of accounts. */
export type EndpointKind = 'webhook' | 'bot' | 'automation' | 'channel';

/** Kinds of endpoints that may have a server, which is called over HTTP and has health of its own. */
export type ServerKind = Exclude<EndpointKind, 'automation' | 'channel'>;

/** The plugin that bots of the kind `ai` are installations of. */
export const aiPluginId = 'ai-bot';

/** In which form an endpoint wants the bodies of events: ours, or that of the field's leader (events/formats). */
export type BodyFormat = 'default' | 'chatwoot';

/** An endpoint; webhooks have ids of their own, bots, automations and channels share theirs. */
export interface Endpoint {
  kind: EndpointKind;
  id: number;
}

/** Which lanes a pump serves: of one kind of endpoint, the live ones or those beside them. */
export interface DueLanes {
  kind: EndpointKind;
  isSide: boolean;
}

/** An endpoint in one account; a system bot exists in all of them. */
export interface EndpointOfAccount {
  id: number;
  accountId: number;
}

/** Identifies an endpoint in an account, among those of its kind. */
export function keyOf({ id, accountId }: EndpointOfAccount): string {
  return `${id}:${accountId}`;
}
