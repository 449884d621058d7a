import type { OuterTransaction } from '../../../events/transaction.ts';
import type { SecretBox } from '../../../lib/secrets/secret-box.ts';
import { momentOrNull, type Sql } from '../../../postgres/sql.ts';
import { endLinks } from './links.ts';
import { endSignIns } from './sign-ins.ts';
import { lockPerson } from '../users.ts';
import { countTry, forgetTries, holdTries } from './wrong-tries.ts';

/** Proofs by a link count as the present password for this long. */
const freshMs = 15 * 60_000;

/** Password of a person, or of an address that is nobody's; `key` counts its wrong tries. */
export interface StoredPassword {
  userId: number | null;
  hash: string | null;
  changedAt: Date | null;
  key: Buffer;
}

interface StoredRow {
  user_id: number;
  hash: string | null;
  changed_at: string | null;
}

const columns = 'u.id AS user_id, p.hash, p.changed_at FROM users u LEFT JOIN passwords p ON p.user_id = u.id';

/** The password of the person with the e-mail address. Answers alike for an address that is nobody's. */
export async function findPasswordByAddress(sql: Sql, email: string, box: SecretBox): Promise<StoredPassword> {
  const [row] = await sql<StoredRow>(`SELECT ${columns} WHERE lower(u.email) = lower($1)`, [email]);
  return toStored(row, `address ${email.toLowerCase()}`, box);
}

/** The password of a person. */
export async function findPassword(sql: Sql, userId: number, box: SecretBox): Promise<StoredPassword> {
  const [row] = await sql<StoredRow>(`SELECT ${columns} WHERE u.id = $1`, [userId]);
  return toStored(row, '', box);
}

/** A password that was compared with the stored one before the transaction. */
export interface ComparedPassword {
  stored: StoredPassword;
  isMatch: boolean;
}

/**
 * Returns the person whose password this is; null for a wrong one, which is counted: the caller must commit. Errors: 429 after
 * too many wrong ones.
 */
export async function passPassword({ sql, now }: OuterTransaction, compared: ComparedPassword): Promise<number | null> {
  const { userId, key } = compared.stored;
  await holdTries(sql, { key }, now);
  if (userId === null || !(await isRight(sql, compared))) {
    await countTry(sql, key, now);
    return null;
  }
  await forgetTries(sql, key);
  return userId;
}

/**
 * Sets the password to `hash`, null to remove it; ends the person's other sign-ins and links. `tokenId` is the caller's. The
 * present password must have matched, unless there is none or the caller signed in by a link a moment ago. Returns false for a
 * wrong one, which is counted: the caller must commit. Errors: 429.
 */
export async function changePassword(
  { sql, now }: OuterTransaction,
  { compared, hash, tokenId }: { compared: ComparedPassword; hash: string | null; tokenId: number },
): Promise<boolean> {
  const { userId, key } = compared.stored;
  if (userId === null) throw new Error('Only a person has a password');
  // A link goes on to work while the password is locked.
  const isFresh = await isFreshByLink(sql, tokenId, now);
  if (!isFresh) await holdTries(sql, { key }, now);
  await lockPerson(sql, userId);
  if (!isFresh && !(await isRight(sql, compared)) && (await presentHash(sql, userId)) !== null) {
    await countTry(sql, key, now);
    return false;
  }
  await forgetTries(sql, key);
  await store(sql, { userId, hash, now });
  await endSignIns(sql, userId, tokenId);
  await endLinks(sql, userId);
  return true;
}

/** Whether the sign-in with this id was made by a link in the last 15 minutes, which is how a forgotten password is reset. */
export async function isFreshByLink(sql: Sql, tokenId: number, now: Date): Promise<boolean> {
  const rows = await sql(
    `SELECT FROM access_tokens WHERE id = $1 AND signed_in_by IN ('link', 'invitation') AND created_at > $2`,
    [tokenId, new Date(now.getTime() - freshMs)],
  );
  return rows.length > 0;
}

async function store(sql: Sql, { userId, hash, now }: { userId: number; hash: string | null; now: Date }) {
  if (hash === null) return sql('DELETE FROM passwords WHERE user_id = $1', [userId]);
  return sql(
    `INSERT INTO passwords (user_id, hash, changed_at) VALUES ($1, $2, $3)
     ON CONFLICT (user_id) DO UPDATE SET hash = EXCLUDED.hash, changed_at = EXCLUDED.changed_at`,
    [userId, hash, now],
  );
}

// It may have been changed since it was compared.
async function isRight(sql: Sql, { stored: { userId, hash }, isMatch }: ComparedPassword): Promise<boolean> {
  if (!isMatch || userId === null || hash === null) return false;
  await lockPerson(sql, userId);
  return (await presentHash(sql, userId)) === hash;
}

async function presentHash(sql: Sql, userId: number): Promise<string | null> {
  const [row] = await sql<{ hash: string }>('SELECT hash FROM passwords WHERE user_id = $1', [userId]);
  return row?.hash ?? null;
}

function toStored(row: StoredRow | undefined, unknown: string, box: SecretBox): StoredPassword {
  return {
    userId: row?.user_id ?? null,
    hash: row?.hash ?? null,
    changedAt: momentOrNull(row?.changed_at ?? null),
    key: box.mac(`passwords ${row ? `person ${row.user_id}` : unknown}`),
  };
}
