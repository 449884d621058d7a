import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { sql, type Executor } from '../../postgres/sql.ts';

/**
 * A seat is what an account knows of an agent: an id, a name, an address and a face of the account's own. Which person
 * (row of `users`) sits in it stays open until the invitation is accepted, so that nothing in the account tells whether
 * an address is known elsewhere. A seat outlives its agent, to name the author of messages; its id is never used again.
 */
export interface Seat {
  id: number;
  name: string;
  email: string;
}

/** Holds the account, so that its bounds hold: seats are made and taken one at a time in each account. */
export async function lockAccount(tx: Transaction): Promise<void> {
  await sql(tx.em, 'SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [tx.account.id]);
}

/** Holds a seat, so that nobody takes or leaves it until the transaction ends: whoever does has locked its agent. */
export async function lockSeat(tx: Transaction, seatId: number): Promise<void> {
  const scope = [tx.account.id, seatId];
  await sql(tx.em, 'SELECT FROM agents WHERE account_id = $1 AND user_id = $2 FOR NO KEY UPDATE', scope);
}

/** Makes a seat for whoever is invited; answers its id, or null when an agent of the account has the e-mail address. */
export async function makeSeat(tx: Transaction, { name, email }: Omit<Seat, 'id'>): Promise<number | null> {
  const [seat] = await sql<{ id: number }>(
    tx.em,
    `INSERT INTO seats (account_id, name, email, created_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (account_id, lower(email)) WHERE left_at IS NULL DO NOTHING RETURNING id`,
    [tx.account.id, name, email, tx.now],
  );
  return seat?.id ?? null;
}

/**
 * Makes a seat in which a person sits from the start, under that person's name and address. Its id is the person's unless
 * the account has a seat of that id. Answers the id, or null when an agent of the account has the e-mail address.
 */
export async function makeTakenSeat(
  executor: Executor,
  { accountId, personId }: { accountId: number; personId: number },
  now: Date,
): Promise<number | null> {
  const [seat] = await sql<{ id: number }>(
    executor,
    `INSERT INTO seats (account_id, id, person_id, name, email, avatar_url, created_at)
     SELECT $1, CASE WHEN EXISTS (SELECT FROM seats WHERE account_id = $1 AND id = u.id) THEN nextval('users_id_seq') ELSE u.id END,
       u.id, u.name, u.email, u.avatar_url, $3 FROM users u WHERE u.id = $2
     ON CONFLICT (account_id, lower(email)) WHERE left_at IS NULL DO NOTHING RETURNING id`,
    [accountId, personId, now],
  );
  return seat?.id ?? null;
}

/** The seat in which a person sits, or null. */
export async function findSeatOf(executor: Executor, accountId: number, personId: number): Promise<Seat | null> {
  const [seat] = await sql<Seat>(
    executor,
    'SELECT id, name, email FROM seats WHERE account_id = $1 AND person_id = $2 AND left_at IS NULL',
    [accountId, personId],
  );
  return seat ?? null;
}

/** The seat that waits for somebody with the person's e-mail address, or null; held until the transaction ends. */
export async function findWaitingSeat(executor: Executor, accountId: number, personId: number): Promise<Seat | null> {
  const [seat] = await sql<Seat>(
    executor,
    `SELECT s.id, s.name, s.email FROM seats s JOIN users u ON u.id = $2 AND lower(u.email) = lower(s.email)
     JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id
     WHERE s.account_id = $1 AND s.person_id IS NULL AND s.left_at IS NULL FOR NO KEY UPDATE OF g`,
    [accountId, personId],
  );
  return seat ?? null;
}

/**
 * Lets a person sit in a seat that waits for somebody; the account sees the person's face from then on. The caller has
 * locked account and seat. Errors: 422 for who is an agent of the account already.
 */
export async function takeSeat(tx: Transaction, seatId: number, personId: number): Promise<void> {
  const present = await findSeatOf(tx.em, tx.account.id, personId);
  if (present) {
    const text = `You work in ${tx.account.name} already, as the agent with the e-mail address ${present.email}`;
    throw invalid('', 'already_member', text);
  }
  const scope = [tx.account.id, seatId];
  await sql(
    tx.em,
    `UPDATE seats s SET person_id = u.id, avatar_url = u.avatar_url FROM users u
     WHERE s.account_id = $1 AND s.id = $2 AND u.id = $3`,
    [...scope, personId],
  );
  await sql(tx.em, 'UPDATE agents SET updated_at = $3 WHERE account_id = $1 AND user_id = $2', [...scope, tx.now]);
}

/** Empties a seat, which stays to name the author of messages; answers who sat in it, or null. */
export async function leaveSeat(tx: Transaction, seatId: number): Promise<number | null> {
  const [seat] = await sql<{ person_id: number | null }>(
    tx.em,
    'UPDATE seats SET left_at = $3 WHERE account_id = $1 AND id = $2 AND left_at IS NULL RETURNING person_id',
    [tx.account.id, seatId, tx.now],
  );
  return seat?.person_id ?? null;
}

/**
 * Takes the access tokens of the persons who have no account left and are no platform administrators. The person's row
 * is held: who takes a seat elsewhere at the same moment is let in there by a new token.
 */
export async function revokeIdleTokens(executor: Executor, personIds: readonly number[]): Promise<void> {
  const people = [personIds];
  await sql(executor, 'SELECT FROM users WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE', people);
  await sql(
    executor,
    `DELETE FROM access_tokens k USING users u WHERE u.id = k.user_id AND u.id = ANY ($1) AND NOT u.platform_admin
       AND NOT EXISTS (SELECT FROM seats WHERE person_id = u.id AND left_at IS NULL)`,
    people,
  );
}
