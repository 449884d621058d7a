import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { createContact } from './contacts.ts';

/** Marks by which other systems know a contact. */
export interface ContactMarks {
  identifier: string | null;
  email: string | null;
  phoneNumber: string | null;
}

/** A contact as another system knows it. */
export interface KnownContact extends ContactMarks {
  name: string | null;
  customAttributes: Record<string, unknown>;
}

/** A contact that was found by a mark. */
export interface FoundContact extends ContactMarks {
  id: number;
  name: string;
  customAttributes: Record<string, unknown>;
  visitorAttributes: Record<string, unknown>;
}

/**
 * Returns the contact with the identifier, else with the e-mail address, else with the phone number; null where there is none. It
 * stays until the end of the transaction. Errors: 422 without any of the three.
 */
export async function findKnownContact(
  { sql, account }: Transaction,
  marks: ContactMarks,
): Promise<FoundContact | null> {
  firstMark(marks);
  const { identifier, email, phoneNumber } = marks;
  const [found] = await sql<FoundContact>(
    `SELECT id, name, email, phone_number AS "phoneNumber", identifier, custom_attributes AS "customAttributes",
       visitor_attributes AS "visitorAttributes"
     FROM contacts WHERE account_id = $1 AND deletion_requested_at IS NULL
       AND (identifier = $2 OR lower(email) = lower($3) OR phone_number = $4)
     ORDER BY coalesce(identifier = $2, false) DESC, coalesce(lower(email) = lower($3), false) DESC, id LIMIT 1
     FOR KEY SHARE`,
    [account.id, identifier, email, phoneNumber],
  );
  return found ?? null;
}

/**
 * Returns the contact that `findKnownContact` finds, unchanged; creates one where there is none, and says contact_created. Callers
 * for the same person wait for each other. Errors: 422 without any mark.
 */
export async function findOrCreateContact(
  tx: Transaction,
  known: KnownContact,
): Promise<{ id: number; isNew: boolean }> {
  const { identifier, email, phoneNumber, name, customAttributes } = known;
  const mark = firstMark(known);
  await tx.sql('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [tx.account.id % 2 ** 31, mark]);
  const found = await findKnownContact(tx, known);
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

function firstMark({ identifier, email, phoneNumber }: ContactMarks): string {
  const mark = identifier ?? email?.toLowerCase() ?? phoneNumber;
  if (mark === null) throw invalid('', 'required', 'One of identifier, email and phone_number must be given');
  return mark;
}
