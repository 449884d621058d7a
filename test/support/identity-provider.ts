import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** Claims of a person at the provider. */
export interface ProviderClaims {
  email?: string;
  email_verified?: unknown;
  [name: string]: unknown;
}

type Handler = ReturnType<Provider['callback']>;

/** A real identity provider (OpenID Connect) on this machine, which asks for PKCE; people sign in there by name, without a password. */
export class IdentityProvider {
  readonly clientId = 'switchboard';
  readonly clientSecret = 'a secret of the tests, with + and /';
  readonly people = new Map<string, ProviderClaims>();
  /** Answers instead of the provider where it returns true. */
  instead: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  readonly #server: Server;
  #handle: Handler | null = null;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.asked.push(request.url ?? '');
      if (!this.instead(request, response)) void this.#handle?.(request, response);
    });
  }

  static async start(): Promise<IdentityProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new IdentityProvider(server);
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Lets the service come back to this address; `inIdToken`: whether its claims are in the ID token, not in the user info only. */
  register(callback: string, { inIdToken = false } = {}): void {
    const provider = new Provider(this.issuer, {
      clients: [{ client_id: this.clientId, client_secret: this.clientSecret, redirect_uris: [callback] }],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['switchboard_role'] },
      conformIdTokenClaims: !inIdToken,
      ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
      pkce: { required: () => true },
      findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...this.people.get(id) }) }),
    });
    this.#handle = provider.callback();
  }

  /** Goes to the provider's page as a browser, signs in by name, and consents; returns the address that leads back. */
  async signIn(url: string, name: string): Promise<string> {
    const cookies = new Map<string, string>();
    let next = await this.#go(cookies, url);
    for (let step = 0; step < 8; step++) {
      if (!next.startsWith(this.issuer)) return next;
      const form = /\/interaction\//.test(next) ? await this.#formFor(cookies, next, name) : undefined;
      next = await this.#go(cookies, next, form);
    }
    throw new Error(`The provider leads on and on: ${next}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #formFor(cookies: ReadonlyMap<string, string>, url: string, name: string): Promise<string> {
    const page = await fetch(url, { headers: { cookie: headerOf(cookies) } });
    const prompt = /name="prompt" value="(\w+)"/.exec(await page.text())?.[1] ?? 'consent';
    return new URLSearchParams({ prompt, login: name, password: 'any' }).toString();
  }

  async #go(cookies: Map<string, string>, url: string, form?: string): Promise<string> {
    const headers = { cookie: headerOf(cookies), 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await fetch(url, {
      headers,
      redirect: 'manual',
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(key);
      else cookies.set(key, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`);
    return new URL(location, url).href;
  }
}

function headerOf(cookies: ReadonlyMap<string, string>): string {
  return Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ');
}
