import { ApiError, forbidden, invalid, notFound } from '../../../errors.ts';
import type { OuterTransaction, Transaction } from '../../../events/transaction.ts';
import type { Random } from '../../../lib/ports.ts';
import type { SecretBox } from '../../../lib/secrets/secret-box.ts';
import { hashToken } from '../../../lib/secrets/tokens.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { findStep, toBase32 } from './one-time-codes.ts';
import { endSignIns } from './sign-ins.ts';
import { lockPerson } from '../users.ts';
import { countTry, forgetTries, holdTries } from './wrong-tries.ts';

const secretBytes = 20;
const recoveryCodes = 10;
const recoveryBytes = 10;

/** A person with the code that was sent, undefined for none. */
export interface CodeTry {
  userId: number;
  code: string | undefined;
}

/** Result of a second factor: a wrong code is counted, so the caller must commit. */
export type FactorOutcome = 'passed' | 'required' | 'wrong';

/** Second factor as its person sees it. */
export interface FactorState {
  recoveryCodesLeft: number;
}

interface FactorRow {
  sealed_secret: string;
  last_step: number;
  recovery_hashes: readonly string[];
  is_confirmed: boolean;
}

/** The second factor of a person, null where none was confirmed. */
export async function findFactor(sql: Sql, userId: number): Promise<FactorState | null> {
  const row = await readFactor(sql, userId);
  return row?.is_confirmed ? { recoveryCodesLeft: row.recovery_hashes.length } : null;
}

/**
 * Begins a second factor: returns the secret for an authenticator app. It does not count until a code confirms it; one that was
 * begun before is void. Errors: 422 where there is one.
 */
export async function beginFactor(
  { sql }: OuterTransaction,
  userId: number,
  { secretBox, random }: { secretBox: SecretBox; random: Random },
): Promise<string> {
  await lockPerson(sql, userId);
  if (await findFactor(sql, userId)) throw invalid('', 'present', 'You have a second factor already: remove it first');
  const secret = random.bytes(secretBytes);
  await sql(
    `INSERT INTO second_factors (user_id, sealed_secret) VALUES ($1, $2)
     ON CONFLICT (user_id) DO UPDATE SET sealed_secret = EXCLUDED.sealed_secret, last_step = 0`,
    [userId, secretBox.seal(secret.toString('base64'))],
  );
  return toBase32(secret);
}

/**
 * Confirms the second factor that was begun, by a code; ends the person's other sign-ins. Returns recovery codes, which are
 * stored as hashes; null for a wrong code, which is counted: the caller must commit. Errors: 422 where none was begun, 429.
 */
export async function confirmFactor(
  { sql, now }: OuterTransaction,
  { tokenId, ...tried }: CodeTry & { tokenId: number },
  { secretBox, random }: { secretBox: SecretBox; random: Random },
): Promise<string[] | null> {
  const { userId } = tried;
  await lockPerson(sql, userId);
  const row = await readFactor(sql, userId);
  if (!row || row.is_confirmed) throw invalid('', 'not_begun', 'Begin to set up a second factor first');
  if ((await tryCode(sql, { ...tried, row }, { box: secretBox, now })) !== 'passed') return null;
  await sql('UPDATE second_factors SET confirmed_at = $2 WHERE user_id = $1', [userId, now]);
  await endSignIns(sql, userId, tokenId);
  return replaceRecoveryCodes(sql, userId, random);
}

/**
 * Replaces the recovery codes of a person, who proves the second factor by a code. Returns the new ones; null for a wrong code,
 * which is counted: the caller must commit. Errors: 422 without a second factor, 429.
 */
export async function renewRecoveryCodes(
  { sql, now }: OuterTransaction,
  tried: CodeTry,
  { secretBox, random }: { secretBox: SecretBox; random: Random },
): Promise<string[] | null> {
  await lockPerson(sql, tried.userId);
  const row = await readFactor(sql, tried.userId);
  if (!row?.is_confirmed) throw invalid('', 'absent', 'You have no second factor');
  if ((await tryCode(sql, { ...tried, row }, { box: secretBox, now })) !== 'passed') return null;
  return replaceRecoveryCodes(sql, tried.userId, random);
}

/**
 * Asks for the person's second factor, if there is one: a code of the app, or a recovery code, each works once. Errors: 429
 * after too many wrong ones.
 */
export async function passFactor(
  sql: Sql,
  tried: CodeTry,
  options: { box: SecretBox; now: Date },
): Promise<FactorOutcome> {
  await lockPerson(sql, tried.userId);
  const row = await readFactor(sql, tried.userId);
  return row?.is_confirmed ? tryCode(sql, { ...tried, row }, options) : 'passed';
}

/** Removes the second factor of a person, who proves it by a code. Returns the outcome: the caller must commit. Errors: 429. */
export async function removeFactor(
  { sql, now }: OuterTransaction,
  tried: CodeTry,
  box: SecretBox,
): Promise<FactorOutcome> {
  const outcome = await passFactor(sql, tried, { box, now });
  if (outcome === 'passed') await deleteFactor(sql, tried.userId);
  return outcome;
}

/**
 * Removes the second factor of an agent who lost it. An account's administrator may do so for who has access to nothing but the
 * account; platform administrators for everybody. Errors: 404, 403, 422 without a second factor.
 */
export async function removeFactorOfAgent(
  { sql, account }: Transaction,
  agentId: number,
  { isPlatform }: { isPlatform: boolean },
): Promise<void> {
  const [agent] = await sql<{ person_id: number | null; is_elsewhere: boolean | null }>(
    `SELECT s.person_id, u.platform_admin OR EXISTS (
         SELECT FROM seats o WHERE o.person_id = u.id AND o.left_at IS NULL AND o.account_id <> s.account_id) AS is_elsewhere
     FROM seats s JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id LEFT JOIN users u ON u.id = s.person_id
     WHERE s.account_id = $1 AND s.id = $2 AND s.left_at IS NULL`,
    [account.id, agentId],
  );
  if (!agent) throw notFound('Agent');
  if (agent.is_elsewhere && !isPlatform)
    throw forbidden('This agent has access beyond this account: only a platform administrator may do this');
  const removed = agent.person_id !== null && (await deleteFactor(sql, agent.person_id));
  if (!removed) throw invalid('', 'absent', 'This agent has no second factor');
}

/** The refusal of a sign-in that lacks its second factor. */
export function factorRefusal(outcome: Exclude<FactorOutcome, 'passed'>): ApiError {
  const headers = { 'www-authenticate': 'Bearer' };
  return outcome === 'required'
    ? new ApiError(401, 'second_factor_required', 'Enter the code from your authenticator app', { headers })
    : new ApiError(401, 'wrong_code', 'The code is wrong, or was used already', { headers });
}

// Recovery codes may be typed with spaces, in any case.
async function tryCode(
  sql: Sql,
  { userId, code, row }: CodeTry & { row: FactorRow },
  { box, now }: { box: SecretBox; now: Date },
): Promise<FactorOutcome> {
  if (code === undefined) return 'required';
  const key = box.mac(`second factors person ${userId}`);
  await holdTries(sql, { key }, now);
  const typed = code.replaceAll(/[\s-]/g, '').toLowerCase();
  const secret = Buffer.from(box.open(row.sealed_secret), 'base64');
  const step = findStep(secret, typed, { last: row.last_step, now });
  const hash = hashOf(typed);
  if (step !== null) await sql('UPDATE second_factors SET last_step = $2 WHERE user_id = $1', [userId, step]);
  else if (row.recovery_hashes.includes(hash))
    await sql(
      'UPDATE second_factors SET recovery_hashes = array_remove(recovery_hashes, $2::text) WHERE user_id = $1',
      [userId, hash],
    );
  else {
    await countTry(sql, key, now);
    return 'wrong';
  }
  await forgetTries(sql, key);
  return 'passed';
}

async function replaceRecoveryCodes(sql: Sql, userId: number, random: Random): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodes }, () => toBase32(random.bytes(recoveryBytes)).toLowerCase());
  await sql('UPDATE second_factors SET recovery_hashes = $2::text[] WHERE user_id = $1', [userId, codes.map(hashOf)]);
  return codes;
}

function hashOf(recoveryCode: string): string {
  return hashToken(recoveryCode).toString('base64');
}

async function readFactor(sql: Sql, userId: number): Promise<FactorRow | null> {
  const [row] = await sql<FactorRow>(
    `SELECT sealed_secret, last_step, recovery_hashes, confirmed_at IS NOT NULL AS is_confirmed
     FROM second_factors WHERE user_id = $1`,
    [userId],
  );
  return row ?? null;
}

async function deleteFactor(sql: Sql, userId: number): Promise<boolean> {
  const rows = await sql(
    'DELETE FROM second_factors WHERE user_id = $1 AND confirmed_at IS NOT NULL RETURNING user_id',
    [userId],
  );
  return rows.length > 0;
}
