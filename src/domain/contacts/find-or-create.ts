import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { createContact } from './contacts.ts';

/** A contact as another system knows it. */
export interface KnownContact {
  identifier: string | null;
  email: string | null;
  phoneNumber: string | null;
  name: string | null;
  customAttributes: Record<string, unknown>;
}

/**
 * Returns the contact with the identifier, else with the e-mail address, else with the phone number, unchanged; creates one where
 * there is none, and says contact_created. Callers for the same person wait for each other. Errors: 422 without any of the three.
 */
export async function findOrCreateContact(
  tx: Transaction,
  known: KnownContact,
): Promise<{ id: number; isNew: boolean }> {
  const { identifier, email, phoneNumber, name, customAttributes } = known;
  const mark = identifier ?? email?.toLowerCase() ?? phoneNumber;
  if (mark === null) throw invalid('', 'required', 'One of identifier, email and phone_number must be given');
  await tx.sql('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [tx.account.id % 2 ** 31, mark]);
  const [found] = await tx.sql<{ id: number }>(
    `SELECT id FROM contacts WHERE account_id = $1 AND deletion_requested_at IS NULL
       AND (identifier = $2 OR lower(email) = lower($3) OR phone_number = $4)
     ORDER BY coalesce(identifier = $2, false) DESC, coalesce(lower(email) = lower($3), false) DESC, id LIMIT 1`,
    [tx.account.id, identifier, email, phoneNumber],
  );
  if (found) return { id: found.id, isNew: false };
  const { id } = await createContact(tx, {
    name: name ?? mark,
    email,
    phoneNumber,
    identifier,
    blocked: false,
    avatarUrl: null,
    customAttributes,
    additionalAttributes: {},
  });
  return { id, isNew: true };
}
