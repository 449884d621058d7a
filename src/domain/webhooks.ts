import { Inbox } from '../entities/inbox.ts';
import { Webhook } from '../entities/webhook.ts';
import { invalid, notFound } from '../errors.ts';
import type { Transaction } from '../events/transaction.ts';
import { sql, type Executor } from '../lib/sql.ts';

export interface NewWebhook {
  url: string;
  name: string | null;
  subscriptions: string[];
  inboxId: number | null;
  active: boolean;
  /** The signing secret, sealed. */
  sealedSecret: string;
}

// Every event fans out to all of them inside the request that caused it.
const maxWebhooksPerAccount = 100;

/** Creates a webhook. Errors: 404 for another account's inbox, 422 when the account has 100 already. */
export async function createWebhook(tx: Transaction, input: NewWebhook): Promise<Webhook> {
  const accountId = tx.account.id;
  if (input.inboxId !== null && !(await tx.em.count(Inbox, { id: input.inboxId, accountId }))) {
    throw notFound('Inbox');
  }
  if ((await tx.em.count(Webhook, { accountId })) >= maxWebhooksPerAccount) {
    throw invalid('', 'limit', `An account has at most ${maxWebhooksPerAccount} webhooks`);
  }
  const { sealedSecret, ...rest } = input;
  const webhook = tx.em.create(Webhook, {
    ...rest,
    accountId,
    secret: sealedSecret,
    createdAt: tx.now,
    updatedAt: tx.now,
  });
  await tx.em.flush();
  return webhook;
}

// What it still had to deliver is not delivered any more; the record of that stays.
async function cancelDeliveries(executor: Executor, accountId: number, endpointId: number): Promise<void> {
  await sql(
    executor,
    `UPDATE deliveries SET state = 'cancelled', finished_at = now()
     WHERE account_id = $1 AND endpoint_kind = 'webhook' AND endpoint_id = $2 AND state = 'pending'`,
    [accountId, endpointId],
  );
}

/** Deletes a webhook and cancels what it has not been sent yet. Errors: 404. */
export async function deleteWebhook(tx: Transaction, id: number): Promise<void> {
  const webhook = await tx.em.findOne(Webhook, { id, accountId: tx.account.id });
  if (!webhook) throw notFound('Webhook');
  tx.em.remove(webhook);
  await tx.em.flush();
  await cancelDeliveries(tx.em, tx.account.id, id);
}

/** Switches a webhook off because its receiver asked for it; pending deliveries are cancelled. */
export async function disableWebhook(tx: Transaction, id: number, reason: string): Promise<void> {
  await tx.em.nativeUpdate(
    Webhook,
    { id, accountId: tx.account.id },
    { active: false, disabledReason: reason, updatedAt: tx.now },
  );
  await cancelDeliveries(tx.em, tx.account.id, id);
}
