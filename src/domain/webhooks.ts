import type { Sql } from '../postgres/sql.ts';
import { Inbox } from '../records/inbox.ts';
import { Webhook } from '../records/webhook.ts';
import { ApiError, notFound } from '../errors.ts';
import type { Transaction } from '../events/transaction.ts';
import { cancelBacklog, wakeBacklog } from '../deliveries/copies/backlogs.ts';
import { unknownHealth } from '../deliveries/core/circuit.ts';
import type { BodyFormat } from '../deliveries/core/endpoint.ts';
import type { EventFilter } from '../deliveries/core/event-filter.ts';
import { signingAt } from '../deliveries/core/signing-secrets.ts';
import { rotateSecret, type Rotation } from './signing-secrets.ts';
import type { SealedAuth } from '../deliveries/core/credentials.ts';
import { checkTogether, replaceHeaders, type GivenHeader } from '../deliveries/core/check-credentials.ts';
import { personOf } from '../deliveries/core/refusal.ts';
import {
  checkRoom,
  countRows,
  createRow,
  deleteRows,
  findRows,
  listPage,
  lockOne,
  readOne,
  save,
  update,
  updateRows,
  type Page,
} from './small-rows.ts';

export interface NewWebhook {
  url: string;
  name: string | null;
  subscriptions: string[];
  inboxId: number | null;
  /** Which of the subscribed events are sent; all by default. */
  filter?: EventFilter | null;
  /** How many deliveries it gets in a second at most; any number by default. */
  maxPerSecond?: number | null;
  active: boolean;
  /** Ours by default. */
  format?: BodyFormat;
  /** Headers of each delivery; none by default. */
  headers?: GivenHeader[];
  /** How the receiver knows the service beside the signature; by nothing else by default. */
  auth?: SealedAuth | null;
  /** The signing secret, sealed. */
  sealedSecret: string;
}

// Every event fans out to all webhooks of the account, in the transaction that records it.
const maxWebhooksPerAccount = 100;

/** Returns one page of the account's webhooks, oldest first. */
export function listWebhooks(sql: Sql, accountId: number, page: number): Promise<Page<Webhook>> {
  return listPage(sql, Webhook, { accountId }, { page, orderBy: { id: 'asc' } });
}

async function checkInbox(tx: Transaction, id: number): Promise<void> {
  if (!(await countRows(tx.sql, Inbox, { id, accountId: tx.account.id }))) throw notFound('Inbox');
}

const disabledReasons = {
  gone: 'The receiver answered 410 Gone',
  five_days: 'Every delivery has failed for 5 days',
} as const;

const maxWebhooksAtUrl = 100;

/** Returns the oldest webhooks of all accounts with this URL, for the demonstration receiver, which belongs to no account. */
export function findWebhooksAt(sql: Sql, url: string): Promise<Webhook[]> {
  return findRows(sql, Webhook, { url }, { orderBy: { id: 'asc' }, limit: maxWebhooksAtUrl });
}

/** Creates a webhook. Errors: 404 for the inbox, 422 when the account has 100 webhooks already. */
export async function createWebhook(tx: Transaction, input: NewWebhook): Promise<Webhook> {
  const accountId = tx.account.id;
  if (input.inboxId !== null) await checkInbox(tx, input.inboxId);
  await checkRoom(tx, Webhook, { most: maxWebhooksPerAccount, plural: 'webhooks' });
  const { sealedSecret, format = 'default', headers = [], ...rest } = input;
  const own = { headers: replaceHeaders([], headers), auth: input.auth ?? null };
  checkTogether({ url: input.url, ...own });
  return createRow(tx.sql, Webhook, {
    ...rest,
    ...own,
    format,
    accountId,
    secret: sealedSecret,
    createdAt: tx.now,
    updatedAt: tx.now,
  });
}

/** Returns a webhook of the account. Errors: 404. */
export function readWebhook(sql: Sql, accountId: number, id: number): Promise<Webhook> {
  return readOne(sql, Webhook, { id, accountId });
}

function lockWebhook(tx: Transaction, id: number): Promise<Webhook> {
  return lockOne(tx.sql, Webhook, { id, accountId: tx.account.id });
}

/**
 * Changes a webhook. Switching it on clears the reason for which it was switched off; switching it off cancels its pending
 * deliveries; a new address makes them due at once. Recorded events keep the format in which they were recorded, and what the
 * filter decided then. Errors: 404, also for the inbox; 422 for headers and auth that do not go together.
 */
export async function updateWebhook(
  tx: Transaction,
  id: number,
  { headers, ...changes }: Partial<Omit<NewWebhook, 'sealedSecret'>>,
): Promise<Webhook> {
  const webhook = await lockWebhook(tx, id);
  if (changes.inboxId) await checkInbox(tx, changes.inboxId);
  const replaced = headers && { headers: replaceHeaders(webhook.headers, headers) };
  const changed = update(webhook, { ...changes, ...replaced }, tx.now);
  checkTogether({ url: webhook.url, headers: webhook.headers, auth: webhook.auth ?? null });
  if (!changed) return webhook;
  const { active: switched, url: hasMoved } = changed;
  if (switched)
    Object.assign(webhook, { disabledReason: null, disabledBy: webhook.active ? null : personOf(tx.actor) });
  // The health of the endpoint belongs to the old address, or to the time before it was switched off.
  if (switched || hasMoved) Object.assign(webhook, unknownHealth);
  await save(tx.sql, webhook);
  if (hasMoved) await wakeBacklog(tx.sql, { kind: 'webhook', id });
  if (switched && !webhook.active)
    await cancelBacklog(tx, { kind: 'webhook', id }, 'endpoint_disabled', personOf(tx.actor));
  return webhook;
}

/** Replaces a webhook's signing secret; the previous one signs too for the overlap. Errors: 404, 409 when ten sign already. */
export async function rotateWebhookSecret(tx: Transaction, id: number, rotation: Rotation): Promise<Webhook> {
  const webhook = await lockWebhook(tx, id);
  await rotateSecret(tx, webhook, rotation);
  await save(tx.sql, webhook);
  return webhook;
}

/** Ends a secret of a webhook at once: nothing is signed with it any more. Errors: 404; 409 for the present one. */
export async function endWebhookSecret(tx: Transaction, id: number, secretId: number): Promise<void> {
  const webhook = await lockWebhook(tx, id);
  if (webhook.secretId === secretId)
    throw new ApiError(409, 'newest_secret', 'Rotate the secret first: the newest one signs every delivery');
  const signing = signingAt(webhook, tx.now);
  const olderSecrets = signing.filter((one) => one.id !== secretId);
  if (olderSecrets.length === signing.length) throw notFound('Secret');
  Object.assign(webhook, { olderSecrets, updatedAt: tx.now });
  await save(tx.sql, webhook);
}

/** Deletes a webhook and cancels its pending deliveries. Errors: 404. */
export async function deleteWebhook(tx: Transaction, id: number): Promise<void> {
  const { accountId } = await readWebhook(tx.sql, tx.account.id, id);
  await deleteRows(tx.sql, Webhook, { id, accountId });
  await tx.sql('DELETE FROM webhook_notices WHERE account_id = $1 AND webhook_id = $2', [accountId, id]);
  await cancelBacklog(tx, { kind: 'webhook', id }, 'endpoint_gone', { ...personOf(tx.actor), kind: 'webhook_deleted' });
}

/**
 * Switches a webhook off because of its receiver's answers, and cancels its pending deliveries. Says webhook_disabled, and
 * notifies the account's administrators. Returns false, without doing anything, when the webhook has another address than the
 * one called, or is off already.
 */
export async function disableWebhook(
  tx: Transaction,
  { id, url }: { id: number; url: string | null },
  kind: 'gone' | 'five_days',
): Promise<boolean> {
  const reason = disabledReasons[kind];
  const switchedOff = await updateRows(
    tx.sql,
    Webhook,
    { id, accountId: tx.account.id, url, active: true },
    // A webhook that is off has no circuit and is not probed.
    { ...unknownHealth, active: false, disabledReason: reason, disabledBy: { kind }, updatedAt: tx.now },
  );
  if (switchedOff === 0) return false;
  const { name = null } = await readWebhook(tx.sql, tx.account.id, id);
  const webhook = { id, name, url: url ?? '' };
  tx.record('webhook_disabled', { webhook, reason, account: tx.account });
  tx.announce('notice', { account: tx.account, what: 'disabled', webhook, reason });
  await cancelBacklog(tx, { kind: 'webhook', id }, 'endpoint_disabled', { kind });
  return true;
}
