import type { Context } from 'koa';
import { ApiError, forbidden } from '../../../errors.ts';
import { storableText } from '../../../lib/text/storable.ts';
import { isSignIn } from '../../../lib/secrets/tokens.ts';

/** The cookie that carries the sign-in of a person. */
export const signInCookie = 'switchboard_sign_in';

/** Names the person, by the id of the profile, as whom a page of the service believes to act. */
const personHeader = 'x-signed-in-as';

/** The cookie that carries what the browser has begun at the identity provider, for the address it comes back to only. */
const ticketCookie = 'switchboard_oidc';
const ticketSeconds = 600;

const userAgentChars = 300;
const reading = new Set(['GET', 'HEAD']);

/** The calling browser: it has a person's sign-in in a cookie, and gets cookies to keep. */
export class Browser {
  readonly #ctx: Context;
  readonly #publicUrl: string;

  constructor(ctx: Context, publicUrl: string) {
    this.#ctx = ctx;
    this.#publicUrl = publicUrl;
  }

  /**
   * The sign-in in the request's cookie, or ''. Browsers send cookies with the requests of pages at other ports too, so it
   * counts for the service's own pages only: what others read is answered as without it. Errors: 403 for a change that does
   * not say that one of the own pages asks for it.
   */
  get signIn(): string {
    const token = this.#ctx.cookies.get(signInCookie) ?? '';
    if (!isSignIn(token)) return '';
    const asker = this.#asker();
    if (reading.has(this.#ctx.method)) return asker === 'other' ? '' : token;
    if (asker !== 'own') throw crossOrigin();
    return token;
  }

  /**
   * Refuses a page that was opened by one person when the browser's cookie is another's by now: the pages of a browser share
   * it. Callers that do not say who they believe to be pass. Errors: 401.
   */
  refuseAnother(personId: number): void {
    const believed = this.#ctx.get(personHeader);
    if (believed !== '' && believed !== String(personId)) throw signedInAsAnother();
  }

  /** The browser's name for itself, shortened; null without one. */
  get userAgent(): string | null {
    return storableText(this.#ctx.get('user-agent'), userAgentChars) || null;
  }

  /** The web origin of the page that calls; null for the service's own pages, and for callers that are no pages. */
  get foreignOrigin(): string | null {
    const origin = this.#ctx.get('origin');
    // The host decides: behind a proxy that speaks TLS, the service is called without it.
    const hosts = [this.#ctx.host, new URL(this.#publicUrl).host];
    const isOwn = URL.canParse(origin) && hosts.includes(new URL(origin).host);
    return origin === '' || isOwn ? null : origin;
  }

  /** Refuses the pages of others. Programs that are no browsers say nothing of pages, and pass. Errors: 403. */
  refuseOthers(): void {
    if (this.#asker() === 'other') throw crossOrigin();
  }

  /** Has the browser keep a sign-in until it expires. */
  keep(token: string, expiresAt: Date, now: Date): void {
    const seconds = Math.floor((expiresAt.getTime() - now.getTime()) / 1000);
    this.#set(token, seconds);
  }

  /** Has the browser forget its sign-in. */
  forget(): void {
    this.#set('', 0);
  }

  /** Has the browser keep a sealed ticket for ten minutes, for requests to `path` only, also where the page of another leads there. */
  keepTicket(sealed: string, path: string): void {
    this.#append(`${ticketCookie}=${sealed}; Path=${path}; Max-Age=${ticketSeconds}; HttpOnly; SameSite=Lax`);
  }

  /** The ticket that the browser was given to keep, which it then forgets; '' without one. */
  takeTicket(path: string): string {
    const sealed = this.#ctx.cookies.get(ticketCookie) ?? '';
    if (sealed !== '') this.#append(`${ticketCookie}=; Path=${path}; Max-Age=0; HttpOnly; SameSite=Lax`);
    return sealed;
  }

  #set(value: string, maxAge: number): void {
    this.#append(`${signInCookie}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict`);
  }

  #append(cookie: string): void {
    const isSecure = this.#ctx.secure || this.#publicUrl.startsWith('https:');
    this.#ctx.append('set-cookie', `${cookie}${isSecure ? '; Secure' : ''}`);
  }

  // Which page asks: one of the service's own, one of another origin, or none that the browser names.
  #asker(): 'own' | 'other' | 'unknown' {
    const site = this.#ctx.get('sec-fetch-site');
    if (site !== '') return site === 'same-origin' ? 'own' : site === 'none' ? 'unknown' : 'other';
    const origin = this.#ctx.get('origin');
    if (origin === '') return 'unknown';
    // Avoids Koa's `origin`, which trusts the request.
    const { protocol, host } = this.#ctx;
    return origin === `${protocol}://${host}` || origin === new URL(this.#publicUrl).origin ? 'own' : 'other';
  }
}

function crossOrigin(): Error {
  return forbidden('Only pages of this service may change something by a sign-in', 'cross_origin');
}

// Uses 401 because every operation that a cookie opens may answer it.
function signedInAsAnother(): Error {
  return new ApiError(
    401,
    'signed_in_as_another',
    'Somebody else is signed in in this browser by now: load the page again to go on',
    { headers: { 'www-authenticate': 'Bearer' } },
  );
}
