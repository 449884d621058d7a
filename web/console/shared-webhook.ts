import { Store } from '../shared/store.ts';

/** A link by which the developer of a receiver looks at one webhook, without an account of the console. */
export interface SharedWebhook {
  account: number;
  webhook: number;
}

/** The link that this page was opened by; null in the console of people who sign in. */
export const sharedWebhook: SharedWebhook | null = readAddress();

/** The token of the link; null where the address had none, and once the service has refused it. */
export const linkToken = new Store<string | null>(null);

/** Whether the service has refused the token: it expired or was revoked. */
export const hasLinkEnded = new Store(false);

/**
 * Takes the token out of the address, which people copy and which stays in the browser's history. It outlives a reload in
 * this tab alone.
 */
export function takeToken(): void {
  const given = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    keep(given);
    history.replaceState(history.state, '', location.pathname + location.search);
    hasLinkEnded.set(false);
  }
  linkToken.set(given ?? keptToken());
}

/** Forgets a token that the service has refused. */
export function endLink(): void {
  keep(null);
  linkToken.set(null);
  hasLinkEnded.set(true);
}

/** The address of a delivery's page. */
export function deliveryAddress(id: number): string {
  return `${sharedWebhook ? ownAddress(sharedWebhook) : '/console'}/deliveries/${id}`;
}

/** The address of a webhook's page. */
export function webhookAddress(id: number): string {
  return sharedWebhook ? ownAddress(sharedWebhook) : `/console/webhooks/${id}`;
}

function ownAddress({ account, webhook }: SharedWebhook): string {
  return `/console/shared/${account}/${webhook}`;
}

function readAddress(): SharedWebhook | null {
  const [, account, webhook] = /^\/console\/shared\/(\d+)\/(\d+)(?:\/|$)/.exec(location.pathname) ?? [];
  return account === undefined || webhook === undefined ? null : { account: Number(account), webhook: Number(webhook) };
}

function storageKey(): string {
  return `link ${sharedWebhook?.account} ${sharedWebhook?.webhook}`;
}

// A browser may refuse its storage: the token is then lost with a reload.
function keep(token: string | null): void {
  try {
    if (token === null) sessionStorage.removeItem(storageKey());
    else sessionStorage.setItem(storageKey(), token);
  } catch {
    linkToken.set(token);
  }
}

function keptToken(): string | null {
  try {
    return sessionStorage.getItem(storageKey());
  } catch {
    return linkToken.value;
  }
}
