import { ApiError } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';

/** Addresses that a contact is to have; undefined and null are none. */
interface Addresses {
  email?: string | null;
  phone_number?: string | null;
}

const nouns = { email: 'e-mail address', phone_number: 'phone number' } as const;

/**
 * Refuses addresses that another contact of the account has, e-mail addresses in any case. Locks each address until the
 * transaction ends, so that of two callers who want it one gets it: call it before contacts are locked. `own` is the contact
 * that is to have them. Errors: 422 with one detail per address.
 */
export async function refuseTakenAddresses(tx: Transaction, addresses: Addresses, own?: number): Promise<void> {
  const details = [];
  // Always in this order: two transactions must not wait for each other.
  for (const field of ['email', 'phone_number'] as const) {
    const address = addresses[field];
    if (!address || !(await isTaken(tx, { field, address, own: own ?? null }))) continue;
    const message = `Another contact of this account has this ${nouns[field]}`;
    details.push({ path: `/${field}`, rule: 'unique', message });
  }
  const [first] = details;
  if (first) throw new ApiError(422, 'validation_failed', first.message, { details });
}

// Each is compared as its index has it.
const spelled = { email: ['lower(email)', 'lower($2)'], phone_number: ['phone_number', '$2'] } as const;

async function isTaken(
  { sql, account }: Transaction,
  { field, address, own }: { field: keyof typeof spelled; address: string; own: number | null },
): Promise<boolean> {
  const [column, value] = spelled[field];
  await sql(`SELECT pg_advisory_xact_lock(hashtextextended('contact-address ' || ${value}, $1))`, [
    account.id,
    address,
  ]);
  const found = await sql(
    `SELECT FROM contacts WHERE account_id = $1 AND ${column} = ${value} AND deletion_requested_at IS NULL
       AND id IS DISTINCT FROM $3::bigint LIMIT 1`,
    [account.id, address, own],
  );
  return found.length > 0;
}
