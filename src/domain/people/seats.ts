import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';

/**
 * An account's record of an agent: an id, a name, an address and a picture of the account's own. The person (row of
 * `users`) is set when the invitation is accepted, so that nothing in the account shows whether an address is known
 * elsewhere. A seat outlives its agent, to name the author of messages; its id is never used again.
 */
export interface Seat {
  id: number;
  name: string;
  email: string;
}

/** Locks the account: seats are created and taken one at a time per account, so that its limits hold. */
export async function lockAccount(tx: Transaction): Promise<void> {
  await tx.sql('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [tx.account.id]);
}

/** Locks a seat until the transaction ends, by its agent's row, which all changes of the seat lock. */
export async function lockSeat(tx: Transaction, seatId: number): Promise<void> {
  const scope = [tx.account.id, seatId];
  await tx.sql('SELECT FROM agents WHERE account_id = $1 AND user_id = $2 FOR NO KEY UPDATE', scope);
}

/** Creates a seat for an invited agent; returns its id, or null when an agent of the account has the e-mail address. */
export async function makeSeat(tx: Transaction, { name, email }: Omit<Seat, 'id'>): Promise<number | null> {
  const [seat] = await tx.sql<{ id: number }>(
    `INSERT INTO seats (account_id, name, email, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (account_id, lower(email)) WHERE left_at IS NULL DO NOTHING RETURNING id`,
    [tx.account.id, name, email, tx.now],
  );
  return seat?.id ?? null;
}

/** Creates a seat for a former agent, to name the author of messages; returns its id. */
export async function addFormerSeat(tx: Transaction, { name, email }: Omit<Seat, 'id'>): Promise<number> {
  const rows = await tx.sql<{ id: number }>(
    'INSERT INTO seats (account_id, name, email, left_at, created_at) VALUES ($1, $2, $3, $4, $4) RETURNING id',
    [tx.account.id, name, email, tx.now],
  );
  return (rows[0] as { id: number }).id;
}

/**
 * Creates a seat that a person has from the start, with the person's name and address, and the person's id unless the
 * account has a seat with it. Returns the id, or null when an agent of the account has the e-mail address.
 */
export async function makeTakenSeat(
  sql: Sql,
  { accountId, personId }: { accountId: number; personId: number },
  now: Date,
): Promise<number | null> {
  const [seat] = await sql<{ id: number }>(
    `INSERT INTO seats (account_id, id, person_id, name, email, avatar_url, created_at)
     SELECT $1, CASE WHEN EXISTS (SELECT FROM seats WHERE account_id = $1 AND id = u.id) THEN nextval('users_id_seq') ELSE u.id END,
       u.id, u.name, u.email, u.avatar_url, $3 FROM users u WHERE u.id = $2
     ON CONFLICT (account_id, lower(email)) WHERE left_at IS NULL DO NOTHING RETURNING id`,
    [accountId, personId, now],
  );
  return seat?.id ?? null;
}

/** Returns the seat of a person in the account, or null. */
export async function findSeatOf(sql: Sql, accountId: number, personId: number): Promise<Seat | null> {
  const [seat] = await sql<Seat>(
    'SELECT id, name, email FROM seats WHERE account_id = $1 AND person_id = $2 AND left_at IS NULL',
    [accountId, personId],
  );
  return seat ?? null;
}

/** Returns the open seat with the person's e-mail address, or null. Locks it until the transaction ends. */
export async function findWaitingSeat(sql: Sql, accountId: number, personId: number): Promise<Seat | null> {
  const [seat] = await sql<Seat>(
    `SELECT s.id, s.name, s.email FROM seats s JOIN users u ON u.id = $2 AND lower(u.email) = lower(s.email)
     JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id
     WHERE s.account_id = $1 AND s.person_id IS NULL AND s.left_at IS NULL FOR NO KEY UPDATE OF g`,
    [accountId, personId],
  );
  return seat ?? null;
}

/**
 * Assigns an open seat to a person, whose picture the account then shows. The caller holds the locks of account and seat.
 * Errors: 422 when the person is an agent of the account already.
 */
export async function takeSeat(tx: Transaction, seatId: number, personId: number): Promise<void> {
  const present = await findSeatOf(tx.sql, tx.account.id, personId);
  if (present) {
    const text = `You work in ${tx.account.name} already, as the agent with the e-mail address ${present.email}`;
    throw invalid('', 'already_member', text);
  }
  const scope = [tx.account.id, seatId];
  await tx.sql(
    `UPDATE seats s SET person_id = u.id, avatar_url = u.avatar_url FROM users u
     WHERE s.account_id = $1 AND s.id = $2 AND u.id = $3`,
    [...scope, personId],
  );
  await tx.sql('UPDATE agents SET updated_at = $3 WHERE account_id = $1 AND user_id = $2', [...scope, tx.now]);
}

/** Empties a seat, which stays to name the author of messages; returns the id of its person, or null. */
export async function leaveSeat(tx: Transaction, seatId: number): Promise<number | null> {
  const [seat] = await tx.sql<{ person_id: number | null }>(
    'UPDATE seats SET left_at = $3 WHERE account_id = $1 AND id = $2 AND left_at IS NULL RETURNING person_id',
    [tx.account.id, seatId, tx.now],
  );
  return seat?.person_id ?? null;
}

const waysIn = ['access_tokens', 'passwords', 'second_factors', 'sign_in_links'];

/**
 * Deletes the access tokens, passwords, second factors and links of those persons who have no account left and are no platform administrators.
 * The persons' rows are locked: a person who takes a seat elsewhere at the same time gets a new token there.
 */
export async function revokeIdleTokens(sql: Sql, personIds: readonly number[]): Promise<void> {
  const people = [personIds];
  await sql('SELECT FROM users WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE', people);
  for (const table of waysIn) {
    await sql(
      `DELETE FROM ${table} k USING users u WHERE u.id = k.user_id AND u.id = ANY ($1) AND NOT u.platform_admin
         AND NOT EXISTS (SELECT FROM seats WHERE person_id = u.id AND left_at IS NULL)`,
      people,
    );
  }
}
