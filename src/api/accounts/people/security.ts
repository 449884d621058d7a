import { recordActOfPerson } from '../../../domain/audit/acts.ts';
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
import type { OuterTransaction } from '../../../events/transaction.ts';
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

/** Changes how the person signs in, and tells it in the audit log if it was done: a wrong try is counted, and not told. */
function told<Done>(
  { principal, origin, transact }: Calls['platform'],
  action: string,
  change: (tx: OuterTransaction) => Promise<Done>,
): Promise<Done> {
  return transact(async (tx) => {
    const done = await change(tx);
    if (done) await recordActOfPerson(tx.sql, { userId: principal.id, action, origin }, tx.now);
    return done;
  });
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
      handle: async (call, prepared) => {
        const change = (tx: OuterTransaction) => changePassword(tx, { ...prepared, tokenId: call.principal.tokenId });
        if (!(await told(call, 'password.updated', change))) throw wrongCurrent();
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
      handle: async (call, compared) => {
        const { tokenId } = call.principal;
        const remove = (tx: OuterTransaction) => changePassword(tx, { compared, hash: null, tokenId });
        if (!(await told(call, 'password.deleted', remove))) throw wrongCurrent();
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
    async (call) => {
      const { services, body } = call;
      const { id: userId, tokenId } = call.principal;
      const confirm = (tx: OuterTransaction) => confirmFactor(tx, { userId, code: body.code, tokenId }, services);
      const codes = await told(call, 'second_factor.created', confirm);
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
    async (call) => {
      const { services, body, principal } = call;
      const renew = (tx: OuterTransaction) =>
        renewRecoveryCodes(tx, { userId: principal.id, code: body.code }, services);
      const codes = await told(call, 'second_factor.updated', renew);
      if (!codes) throw wrongCode();
      return { recovery_codes: codes };
    },
  ),
  doors.platform(
    ['DELETE', `${path}/security/second_factor`, 'Remove the second factor of the profile'],
    { body: 'requests/second-factor.code', reply: 'resources/empty', role: 'user', countsTries: true },
    async (call) => {
      const { services, body, principal } = call;
      const remove = async (tx: OuterTransaction): Promise<boolean> =>
        (await removeFactor(tx, { userId: principal.id, code: body.code }, services.secretBox)) === 'passed';
      if (!(await told(call, 'second_factor.deleted', remove))) throw wrongCode();
    },
  ),
  doors.platform(
    ['DELETE', `${path}/sign_ins`, 'End all other sign-ins of the profile'],
    {
      reply: 'resources/empty',
      role: 'user',
      audit: { action: 'sign_in.revoked', ofPerson: true },
      description: 'The sign-in that this request is made with stays, and so do access tokens.',
    },
    ({ principal, transact }) => transact((tx) => endSignIns(tx.sql, principal.id, principal.tokenId)),
  ),
];
