import { changePassword, findPassword, isFreshByLink } from '../../../domain/people/sign-ins/passwords.ts';
import {
  beginFactor,
  confirmFactor,
  findFactor,
  removeFactor,
  renewRecoveryCodes,
  type FactorState,
} from '../../../domain/people/sign-ins/second-factors.ts';
import { endSignIns } from '../../../domain/people/sign-ins/sign-ins.ts';
import { checkTries } from '../../../domain/people/sign-ins/wrong-tries.ts';
import type { Principal } from '../../../domain/people/identity.ts';
import { invalid } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Before, Calls } from '../../../http/route/call.ts';
import { unixSecondsOrNull } from '../../../lib/unix-time.ts';

const path = '/api/v1/profile';

// Compares the present password before the transaction.
async function compare(
  { services: { passwords, secretBox }, principal, read, now }: Before<Calls['platform']>,
  current: string | undefined,
) {
  const stored = await read(async (sql) => {
    const found = await findPassword(sql, principal.id, secretBox);
    if (!(await isFreshByLink(sql, principal.tokenId, now))) await checkTries(sql, found, now);
    return found;
  });
  const isMatch = current !== undefined && (await passwords.matches(stored.hash, current));
  return { stored, isMatch };
}

function wrongCurrent(): Error {
  return invalid('/current_password', 'wrong', 'The current password is wrong');
}

function checkNotAddress({ email }: Principal, password: string): void {
  if (password.toLowerCase() !== email?.toLowerCase()) return;
  throw invalid('/password', 'guessable', 'The password must not be your email address');
}

function presentFactor(factor: FactorState | null) {
  return { second_factor: factor !== null, recovery_codes_left: factor?.recoveryCodesLeft ?? 0 };
}

function wrongCode(): Error {
  return invalid('/code', 'wrong', 'The code is wrong, or was used already');
}

export const securityRoutes = [
  doors.platform(
    ['GET', `${path}/security`, 'Get how the profile signs in'],
    { reply: 'resources/security', record: true, role: 'user' },
    async ({ services, sql, now, principal }) => {
      const { hash, changedAt } = await findPassword(sql, principal.id, services.secretBox);
      return {
        password_changed_at: unixSecondsOrNull(changedAt),
        ...presentFactor(await findFactor(sql, principal.id)),
        needs_current_password: hash !== null && !(await isFreshByLink(sql, principal.tokenId, now)),
      };
    },
  ),
  doors.platform(
    ['POST', `${path}/security/password`, 'Set the password of the profile'],
    {
      body: 'requests/password.change',
      reply: 'resources/empty',
      role: 'user',
      countsTries: true,
      description: 'Ends all other sign-ins of the person; access tokens stay.',
    },
    {
      prepare: async (call) => {
        const { password, current_password: current } = call.body;
        checkNotAddress(call.principal, password);
        const compared = await compare(call, current);
        return { compared, hash: await call.services.passwords.hash(password) };
      },
      handle: async ({ principal: { tokenId }, transact }, prepared) => {
        if (!(await transact((tx) => changePassword(tx, { ...prepared, tokenId })))) throw wrongCurrent();
      },
    },
  ),
  doors.platform(
    ['DELETE', `${path}/security/password`, 'Remove the password of the profile'],
    {
      body: 'requests/password.remove',
      reply: 'resources/empty',
      role: 'user',
      countsTries: true,
      description: 'Ends all other sign-ins of the person. Sign-in links and access tokens go on to work.',
    },
    {
      prepare: (call) => compare(call, call.body.current_password),
      handle: async ({ principal: { tokenId }, transact }, compared) => {
        if (!(await transact((tx) => changePassword(tx, { compared, hash: null, tokenId })))) throw wrongCurrent();
      },
    },
  ),
  doors.platform(
    ['POST', `${path}/security/second_factor`, 'Begin to set up a second factor'],
    {
      reply: 'resources/second-factor',
      role: 'user',
      description:
        'The secret for an authenticator app (TOTP), in this answer only. It counts once a code has confirmed it.',
    },
    async ({ services, principal, transact }) => {
      const secret = await transact((tx) => beginFactor(tx, principal.id, services));
      const label = encodeURIComponent(`Switchboard:${principal.email ?? principal.name}`);
      return { secret, otpauth_url: `otpauth://totp/${label}?secret=${secret}&issuer=Switchboard` };
    },
  ),
  doors.platform(
    ['POST', `${path}/security/second_factor/confirm`, 'Confirm the second factor'],
    {
      body: 'requests/second-factor.code',
      reply: 'resources/recovery-codes',
      role: 'user',
      countsTries: true,
      description: 'Ends all other sign-ins of the person. Each recovery code, in this answer only, replaces one code.',
    },
    async ({ services, principal: { id: userId, tokenId }, body: { code }, transact }) => {
      const codes = await transact((tx) => confirmFactor(tx, { userId, code, tokenId }, services));
      if (!codes) throw wrongCode();
      return { recovery_codes: codes };
    },
  ),
  doors.platform(
    ['POST', `${path}/security/second_factor/recovery_codes`, 'Renew the recovery codes'],
    {
      body: 'requests/second-factor.code',
      reply: 'resources/recovery-codes',
      role: 'user',
      countsTries: true,
      description: 'The earlier ones are void. Each new one, in this answer only, replaces one code.',
    },
    async ({ services, principal: { id: userId }, body: { code }, transact }) => {
      const codes = await transact((tx) => renewRecoveryCodes(tx, { userId, code }, services));
      if (!codes) throw wrongCode();
      return { recovery_codes: codes };
    },
  ),
  doors.platform(
    ['DELETE', `${path}/security/second_factor`, 'Remove the second factor of the profile'],
    { body: 'requests/second-factor.code', reply: 'resources/empty', role: 'user', countsTries: true },
    async ({ services: { secretBox }, principal: { id: userId }, body: { code }, transact }) => {
      const outcome = await transact((tx) => removeFactor(tx, { userId, code }, secretBox));
      if (outcome !== 'passed') throw wrongCode();
    },
  ),
  doors.platform(
    ['DELETE', `${path}/sign_ins`, 'End all other sign-ins of the profile'],
    {
      reply: 'resources/empty',
      role: 'user',
      description: 'The sign-in that this request is made with stays, and so do access tokens.',
    },
    ({ principal, transact }) => transact((tx) => endSignIns(tx.sql, principal.id, principal.tokenId)),
  ),
];
