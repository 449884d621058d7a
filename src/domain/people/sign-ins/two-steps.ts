import { ApiError } from '../../../errors.ts';
import type { OuterTransaction } from '../../../events/transaction.ts';
import { recordActOfPerson } from '../../audit/acts.ts';
import type { SecretBox } from '../../../lib/secrets/secret-box.ts';
import { passPassword, type ComparedPassword } from './passwords.ts';
import { factorRefusal, passFactor } from './second-factors.ts';
import { holdLink, redeemLink } from './links.ts';
import { openSignIn, type NewSignIn } from './sign-ins.ts';

/** Second step of a sign-in: the code that was sent with it, if any. */
interface SecondStep {
  code: string | undefined;
  box: SecretBox;
}

/**
 * Signs in by a password and the second factor of who has one. Returns the refusal of a wrong one, which is counted: the caller
 * must commit before it throws. Errors: 429.
 */
export async function signInByPassword(
  tx: OuterTransaction,
  compared: ComparedPassword,
  { code, box, ...made }: NewSignIn & SecondStep,
): Promise<ApiError | null> {
  const { sql, now } = tx;
  const userId = await passPassword(tx, compared);
  if (userId === null) {
    await recordFailure(tx, compared.stored.userId, 'password', made);
    return wrongPassword();
  }
  const outcome = await passFactor(sql, { userId, code }, { box, now });
  if (outcome === 'wrong') await recordFailure(tx, userId, 'code', made);
  if (outcome !== 'passed') return factorRefusal(outcome);
  await openSignIn(sql, userId, { ...made, by: 'password', now });
  return null;
}

/**
 * Like signInByPassword, by a link, which is used up by a sign-in only. An operator's link needs no second factor: a shell on the
 * server opens more. Errors: 410 for a link that was used or has expired, 429.
 */
export async function signInByLink(
  tx: OuterTransaction,
  link: string,
  { code, box, ...made }: NewSignIn & SecondStep,
): Promise<ApiError | null> {
  const { sql, now } = tx;
  const { userId, byOperator } = await holdLink(sql, link, now);
  const outcome = byOperator ? 'passed' : await passFactor(sql, { userId, code }, { box, now });
  if (outcome === 'wrong') await recordFailure(tx, userId, 'code', made);
  if (outcome !== 'passed') return factorRefusal(outcome);
  await redeemLink(sql, link);
  await openSignIn(sql, userId, { ...made, by: 'link', now });
  return null;
}

// Tries are few, since too many lock. Those for an address that is nobody's are about nobody.
async function recordFailure(
  { sql, now }: OuterTransaction,
  userId: number | null,
  wrong: 'password' | 'code',
  { origin }: Pick<NewSignIn, 'origin'>,
): Promise<void> {
  if (userId === null) return;
  await recordActOfPerson(sql, { userId, action: 'sign_in.failed', changes: { wrong: [null, wrong] }, origin }, now);
}

// The same for unknown addresses.
function wrongPassword(): ApiError {
  return new ApiError(401, 'wrong_password', 'The email address or the password is wrong', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}
