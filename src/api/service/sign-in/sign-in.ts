import { findPrincipal } from '../../../domain/people/identity.ts';
import { findPasswordByAddress } from '../../../domain/people/sign-ins/passwords.ts';
import { signInByToken, signOut, type NewSignIn } from '../../../domain/people/sign-ins/sign-ins.ts';
import { signInByLink, signInByPassword } from '../../../domain/people/sign-ins/two-steps.ts';
import { checkTries } from '../../../domain/people/sign-ins/wrong-tries.ts';
import { invalid } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Calls } from '../../../http/route/call.ts';
import { hashToken, newToken } from '../../../lib/secrets/tokens.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { presentProfile } from '../../accounts/people/profile.ts';

const path = '/sign_in';

type Arriving = Pick<Calls['open'], 'services' | 'browser' | 'now' | 'origin'>;

/** A sign-in for the browser, as long as the settings say. */
export function newSignIn({ services: { random, signInMs }, browser, now, origin }: Arriving): NewSignIn {
  const expiresAt = new Date(now.getTime() + signInMs);
  return { token: newToken('sign-in', random), expiresAt, userAgent: browser.userAgent, origin };
}

type Proven = { accessToken: string } | { link: string } | { email: string; password: string };

function proofOf({ access_token: accessToken, link, email, password }: Shape<'requests/sign-in'>): Proven {
  const given = [accessToken, link, email].filter((proof) => proof !== undefined);
  if (given.length !== 1)
    throw invalid('', 'proof', 'Send one of these: `access_token`, `link`, or `email` with `password`');
  if (email !== undefined) return { email, password: password ?? '' };
  return link === undefined ? { accessToken: accessToken ?? '' } : { link };
}

/** The sign-in of a person in a browser. */
export const signInRoutes = [
  doors.open(
    ['GET', path, 'Get the sign-in'],
    {
      reply: 'resources/sign-in',
      role: 'anyone',
      description: 'Who is signed in in the browser that asks; `profile` is null where nobody is.',
    },
    async ({ browser, sql, now }) => {
      const token = browser.signIn;
      const principal = token === '' ? null : await findPrincipal(sql, hashToken(token));
      if (!principal?.expiresAt || principal.expiresAt <= now) return { profile: null, expires_at: null };
      return { profile: await presentProfile(sql, principal), expires_at: unixSeconds(principal.expiresAt) };
    },
  ),
  doors.open(
    ['POST', path, 'Sign in'],
    {
      body: 'requests/sign-in',
      reply: 'resources/sign-in',
      role: 'newcomer',
      status: 201,
      errors: [401, 403, 410],
      description:
        'The answer sets a cookie by which the pages of this service act for the person, until it expires, the person signs out, or the access token is reset. Ten wrong passwords in 15 minutes lock the password for 15 minutes (429). A person with a second factor sends a `code` with a password or a link: without one the answer is 401 `second_factor_required`, and the link stays valid.',
    },
    {
      prepare: async ({ services: { passwords, secretBox }, browser, body, read, now }) => {
        browser.refuseOthers();
        const proof = proofOf(body);
        if (!('email' in proof)) return { proof, compared: null };
        const stored = await read(async (sql) => {
          const found = await findPasswordByAddress(sql, proof.email, secretBox);
          await checkTries(sql, found, now);
          return found;
        });
        return { proof, compared: { stored, isMatch: await passwords.matches(stored.hash, proof.password) } };
      },
      handle: async (call, { proof, compared }) => {
        const { services, browser, body, sql, now, transact } = call;
        const made = newSignIn(call);
        const inTwo = { ...made, code: body.code, box: services.secretBox };
        // Wrong tries are committed before they are refused.
        const refusal = await transact(async (tx) => {
          if (compared) return signInByPassword(tx, compared, inTwo);
          if ('link' in proof) return signInByLink(tx, proof.link, inTwo);
          await signInByToken(tx, 'accessToken' in proof ? proof.accessToken : '', made);
          return null;
        });
        if (refusal) throw refusal;
        const principal = await findPrincipal(sql, hashToken(made.token));
        browser.keep(made.token, made.expiresAt, now);
        return {
          profile: principal && (await presentProfile(sql, principal)),
          expires_at: unixSeconds(made.expiresAt),
        };
      },
    },
  ),
  doors.open(
    ['DELETE', path, 'Sign out'],
    {
      reply: 'resources/empty',
      role: 'anyone',
      errors: [401, 403],
      description:
        'Ends the sign-in, also for whoever has its cookie, and every stream of events that was opened by it.',
    },
    async ({ browser, sql, transact }) => {
      const token = browser.signIn;
      const principal = token === '' ? null : await findPrincipal(sql, hashToken(token));
      if (principal) browser.refuseAnother(principal.id);
      if (token !== '') await transact((tx) => signOut(tx, token));
      browser.forget();
    },
  ),
];
