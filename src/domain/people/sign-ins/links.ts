import { ApiError, invalid, notFound } from '../../../errors.ts';
import type { OuterTransaction, Transaction } from '../../../events/transaction.ts';
import { hashToken } from '../../../lib/secrets/tokens.ts';
import type { SecretBox } from '../../../lib/secrets/secret-box.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { countTry, holdTries } from './wrong-tries.ts';

const minuteMs = 60_000;
const operatorMs = 30 * minuteMs;
const linkMs = 15 * minuteMs;
/** Links that a person, or an address that is nobody's, may be sent in 15 minutes. */
const mostLinks = 5;
// Each new link removes more old ones than it adds, so that nobody need sweep.
const removed = 10;

/** A person who gets a link. */
export interface Recipient {
  id: number;
  name: string;
  email: string;
}

/** Holder of a link; `byOperator`: who made it has a shell on the server. */
interface LinkHolder {
  userId: number;
  byOperator: boolean;
}

/** Locks a link until the transaction ends; returns whose it is. Errors: 410 for a link that was used or has expired. */
export async function holdLink(sql: Sql, link: string, now: Date): Promise<LinkHolder> {
  const [row] = await sql<{ user_id: number; by_operator: boolean }>(
    'SELECT user_id, by_operator FROM sign_in_links WHERE link_hash = $1 AND expires_at > $2 FOR UPDATE',
    [hashToken(link), now],
  );
  if (row) return { userId: row.user_id, byOperator: row.by_operator };
  throw new ApiError(
    410,
    'sign_in_link_over',
    'This link was used already, or has expired. Request a new one, or run `npx switchboard console-link`',
  );
}

/** Uses up a link. */
export async function redeemLink(sql: Sql, link: string): Promise<void> {
  await sql('DELETE FROM sign_in_links WHERE link_hash = $1', [hashToken(link)]);
}

/** Lets the holder of the link sign in as the person, once and within 30 minutes. For operators. */
export async function grantSignInLink({ sql, now }: OuterTransaction, userId: number, link: string): Promise<void> {
  await insertLink(sql, { userId, link, now, lifeMs: operatorMs, byOperator: true });
}

/**
 * Grants a link to the person with the e-mail address, once and within 15 minutes; null for an address that is nobody's.
 * Errors: 429 after too many links, whether the address is anybody's or not.
 */
export async function grantLinkByAddress(
  { sql, now }: OuterTransaction,
  { email, link }: { email: string; link: string },
  box: SecretBox,
): Promise<Recipient | null> {
  const [person] = await sql<Recipient>('SELECT id, name, email FROM users WHERE lower(email) = lower($1)', [email]);
  await countLink(sql, { box, holder: String(person?.id ?? email.toLowerCase()) }, now);
  if (person) await insertLink(sql, { userId: person.id, link, now, lifeMs: linkMs, byOperator: false });
  return person ?? null;
}

/**
 * Grants a link to the person who is an agent of the account. Errors: 404, 422 before the invitation was accepted, 429 after
 * too many links.
 */
export async function grantLinkToAgent(
  { sql, now, account }: Transaction,
  { agentId, link }: { agentId: number; link: string },
  box: SecretBox,
): Promise<Recipient> {
  const [found] = await sql<{ id: number | null; name: string; email: string }>(
    `SELECT u.id, u.name, u.email FROM seats s JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id
     LEFT JOIN users u ON u.id = s.person_id WHERE s.account_id = $1 AND s.id = $2 AND s.left_at IS NULL`,
    [account.id, agentId],
  );
  if (!found) throw notFound('Agent');
  const { id, name, email } = found;
  if (id === null) throw invalid('', 'invited', 'This agent has not accepted the invitation yet: resend it instead');
  await countLink(sql, { box, holder: String(id) }, now);
  await insertLink(sql, { userId: id, link, now, lifeMs: linkMs, byOperator: false });
  return { id, name, email };
}

/**
 * Whether an account's administrator may be shown a link that signs the person in: it would open the person's other accounts
 * too, so only where there are none, and the person is no platform administrator. `personId` is null for somebody new.
 */
export async function mayBeShown(sql: Sql, personId: number | null): Promise<boolean> {
  const [row] = await sql<{ accounts: number; is_platform: boolean | null }>(
    `SELECT count(*)::int AS accounts, (SELECT platform_admin FROM users WHERE id = $1::bigint) AS is_platform
     FROM (SELECT FROM accounts LIMIT 2) a`,
    [personId],
  );
  return row !== undefined && row.accounts < 2 && row.is_platform !== true;
}

/** Ends the links of a person that were not used. */
export async function endLinks(sql: Sql, userId: number): Promise<void> {
  await sql('DELETE FROM sign_in_links WHERE user_id = $1', [userId]);
}

async function countLink(sql: Sql, { box, holder }: { box: SecretBox; holder: string }, now: Date): Promise<void> {
  const key = box.mac(`sign-in links ${holder}`);
  await holdTries(sql, { key, most: mostLinks }, now);
  await countTry(sql, key, now);
}

interface NewLink {
  userId: number;
  link: string;
  now: Date;
  lifeMs: number;
  byOperator: boolean;
}

async function insertLink(sql: Sql, { userId, link, now, lifeMs, byOperator }: NewLink): Promise<void> {
  await sql(
    `WITH expired AS (
       DELETE FROM sign_in_links WHERE link_hash IN (
         SELECT link_hash FROM sign_in_links WHERE expires_at <= $3
         ORDER BY expires_at LIMIT ${removed} FOR UPDATE SKIP LOCKED)
     )
     INSERT INTO sign_in_links (user_id, link_hash, expires_at, by_operator) VALUES ($1, $2, $4, $5)`,
    [userId, hashToken(link), now, new Date(now.getTime() + lifeMs), byOperator],
  );
}
