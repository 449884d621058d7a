import { findPrincipal } from '../../domain/people/identity.ts';
import { signIn, signOut } from '../../domain/people/sign-ins.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { hashToken, newToken } from '../../lib/secrets/tokens.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import { presentProfile } from '../accounts/people/profile.ts';

const path = '/sign_in';

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
        'The answer sets a cookie by which the pages of this service act for the person, until it expires, the person signs out, or the access token is reset.',
    },
    async ({ services, browser, body, sql, now, transact }) => {
      browser.refuseOthers();
      const token = newToken('sign-in', services.random);
      const expiresAt = new Date(now.getTime() + services.signInMs);
      const { link, access_token: accessToken = '' } = body;
      const proven = link === undefined ? { accessToken } : { link };
      await transact((tx) => signIn(tx, proven, { token, expiresAt, userAgent: browser.userAgent }));
      const principal = await findPrincipal(sql, hashToken(token));
      browser.keep(token, expiresAt, now);
      return { profile: principal && (await presentProfile(sql, principal)), expires_at: unixSeconds(expiresAt) };
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
