import { Inbox } from '../../records/inbox.ts';
import type { Transaction } from '../../events/transaction.ts';
import { lockOne, save } from '../small-rows.ts';

// A day for the site's server to switch to the new secret.
const bothCountMs = 24 * 3_600_000;

/**
 * Replaces the secret (sealed) with which a site's server proves who its visitors are; for 24 hours proofs by the previous
 * secret are valid too. Errors: 404.
 */
export async function rotateIdentitySecret(tx: Transaction, id: number, sealedSecret: string): Promise<Inbox> {
  const inbox = await lockOne(tx.sql, Inbox, { id, accountId: tx.account.id });
  Object.assign(inbox, {
    identitySecret: sealedSecret,
    previousIdentitySecret: inbox.identitySecret ?? null,
    previousIdentitySecretExpiresAt: new Date(tx.now.getTime() + bothCountMs),
    updatedAt: tx.now,
  });
  await save(tx.sql, inbox);
  return inbox;
}
