import { deleteRows, findRows } from '../small-rows.ts';
import type { Sql } from '../../postgres/sql.ts';
import { notFound } from '../../errors.ts';
import type { OuterTransaction } from '../../events/transaction.ts';
import { AccessToken } from '../../records/access-token.ts';

// A person has one token, a few after a loss, and fifty sign-ins at most.
const mostListed = 100;

/** Returns the valid credentials of a person, access tokens and sign-ins, the newest first. */
export function listTokens(sql: Sql, userId: number, now: Date): Promise<AccessToken[]> {
  const valid = [{ expiresAt: null }, { expiresAt: { $gt: now } }];
  return findRows(sql, AccessToken, { userId, $or: valid }, { orderBy: { id: 'desc' }, limit: mostListed });
}

/** Ends an access token or a sign-in of a person, and the streams that it opened. Errors: 404, also for other persons' ones. */
export async function revokeToken({ sql }: OuterTransaction, userId: number, id: number): Promise<void> {
  const revoked = await deleteRows(sql, AccessToken, { id, userId });
  if (revoked === 0) throw notFound('Access token');
}
