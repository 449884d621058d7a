import type * as OpenId from 'openid-client';
import type { Logger } from 'pino';
import type { OutboundGate } from '../lib/outbound-gate.ts';
import type { Clock, Random } from '../lib/ports.ts';
import { sentenceOf } from './failure-sentences.ts';
import { createOutboundHttp, type OutboundHttp, type OutboundResult } from './http.ts';

/** Client of an identity provider. */
export interface OpenIdOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Name of the claim with the person's role; null for none. */
  readonly roleClaim: string | null;
  /** Longest time for each of the few requests to the provider, in milliseconds. */
  readonly timeoutMs: number;
  readonly gate: OutboundGate;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A sign-in under way, which the browser keeps while it is at the provider. */
export interface OpenIdTicket {
  state: string;
  nonce: string;
  verifier: string;
}

/** Answer of the provider, as the browser brings it: parameters by name. */
export type OpenIdAnswer = Readonly<Record<string, string>>;

/** Claims of a person whom the provider has signed in. */
export interface OpenIdPerson {
  /** Null where the provider tells none. */
  email: string | null;
  emailIsVerified: boolean;
  /** Values of the role claim; empty without one. */
  roles: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

/** Thrown where a sign-in fails. `isPassing`: the provider did not answer as it should, and may do so later. */
export class OpenIdError extends Error {
  override name = 'OpenIdError';
  readonly isPassing: boolean;

  constructor(message: string, { isPassing, cause }: { isPassing: boolean; cause?: unknown }) {
    super(message, { cause });
    this.isPassing = isPassing;
  }
}

// The operator names the provider, which may be anywhere.
const everywhere = ['0.0.0.0/0', '::/0'];
const maxResponseBytes = 1_048_576;
const connectionsPerOrigin = 8;
const discoveryMs = 3_600_000;
const ticketBytes = 32;
const passingErrors: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);

/** An identity provider that speaks OpenID Connect: authorization code with PKCE, state and nonce; ID tokens are verified by its keys. */
export class OpenIdProvider {
  readonly #options: OpenIdOptions;
  readonly #outbound: OutboundHttp;
  #discovered: { at: number; configuration: Promise<OpenId.Configuration> } | null = null;

  constructor(options: OpenIdOptions) {
    const { gate, timeoutMs } = options;
    this.#options = options;
    this.#outbound = createOutboundHttp({
      gate,
      timeoutMs,
      allowCidrs: everywhere,
      maxResponseBytes,
      connectionsPerOrigin,
    });
  }

  /** Begins a sign-in that comes back to `callback`: the provider's page, and what proves the answer later. Errors: OpenIdError. */
  async begin(callback: string): Promise<{ url: string; ticket: OpenIdTicket }> {
    const [client, configuration] = await this.#client();
    const text = () => this.#options.random.bytes(ticketBytes).toString('base64url');
    const ticket = { state: text(), nonce: text(), verifier: text() };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: 'openid email profile',
      state: ticket.state,
      nonce: ticket.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(ticket.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, ticket };
  }

  /** The person whom the answer signs in. Errors: OpenIdError for an answer that the ticket or the provider does not confirm. */
  async finish(callback: string, answer: OpenIdAnswer, ticket: OpenIdTicket): Promise<OpenIdPerson> {
    const [client, configuration] = await this.#client();
    const address = new URL(`${callback}?${new URLSearchParams(answer).toString()}`);
    return this.#explained(client, async () => {
      const tokens = await client.authorizationCodeGrant(configuration, address, {
        expectedState: ticket.state,
        expectedNonce: ticket.nonce,
        pkceCodeVerifier: ticket.verifier,
        idTokenExpected: true,
      });
      const told = tokens.claims() as OpenId.IDToken;
      if (this.#isWhole(told) || configuration.serverMetadata().userinfo_endpoint === undefined)
        return this.#personOf(told, told);
      // Providers may tell the address and the role by the user info only.
      const info = await client.fetchUserInfo(configuration, tokens.access_token, told.sub);
      return this.#personOf(info, { ...told, ...info });
    });
  }

  async close(): Promise<void> {
    await this.#outbound.close();
  }

  // Loaded for the first sign-in only: most installations have no provider.
  async #client(): Promise<[typeof OpenId, OpenId.Configuration]> {
    const client = await import('openid-client');
    const now = this.#options.clock.now().getTime();
    if (this.#discovered === null || now - this.#discovered.at > discoveryMs) {
      const configuration = this.#explained(client, () => this.#discover(client));
      this.#discovered = { at: now, configuration };
      // A failure is not kept.
      configuration.catch(() => (this.#discovered = null));
    }
    return [client, await this.#discovered.configuration];
  }

  #discover(client: typeof OpenId): Promise<OpenId.Configuration> {
    const { issuer, clientId, clientSecret, timeoutMs } = this.#options;
    const url = new URL(issuer);
    const execute = [client.enableNonRepudiationChecks];
    if (url.protocol === 'http:') execute.push(client.allowInsecureRequests);
    return client.discovery(url, clientId, clientSecret, authenticationBy(client, clientSecret), {
      execute,
      timeout: timeoutMs / 1000,
      [client.customFetch]: fetchBy(this.#outbound),
    });
  }

  async #explained<Result>(client: typeof OpenId, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const explained = explain(client, error);
      // The library's own words tell an operator what is set wrongly; what they were found in may hold a code or a token.
      const { message, code } = error as Error & { code?: string };
      this.#options.log.warn({ reason: message, code }, 'sign-in by the identity provider failed');
      throw explained;
    }
  }

  #isWhole(claims: OpenId.IDToken): boolean {
    const { roleClaim } = this.#options;
    return claims['email_verified'] !== undefined && (roleClaim === null || claims[roleClaim] !== undefined);
  }

  // An address and its verification come from one source: another may speak of another address.
  #personOf(source: Claims, all: Claims): OpenIdPerson {
    const { email, email_verified: verified } = source;
    const { roleClaim } = this.#options;
    const roles = roleClaim === null ? [] : [all[roleClaim]].flat();
    return {
      email: typeof email === 'string' ? email : null,
      emailIsVerified: verified === true,
      roles: roles.filter((role) => typeof role === 'string'),
    };
  }
}

// A provider that does not list the ways in which clients authenticate takes HTTP Basic (OpenID Connect Discovery 1.0, section 3).
function authenticationBy(client: typeof OpenId, secret: string): OpenId.ClientAuth {
  const [byPost, byHeader] = [client.ClientSecretPost(secret), client.ClientSecretBasic(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? byHeader : byPost)(server, ...rest);
  };
}

function fetchBy(outbound: OutboundHttp): OpenId.CustomFetch {
  return async (target, { method, headers, body, signal }) => {
    const result = await outbound.request(target, {
      method,
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body as string | URLSearchParams) }),
      ...(signal ? { signal } : {}),
    });
    const { status, headers: answered, body: text } = usable(result);
    return new Response(status === 204 || status === 205 || status === 304 ? null : text, {
      status,
      headers: answered,
    });
  };
}

function usable({ status, errorCode, bodyCut, ...rest }: OutboundResult): { status: number } & typeof rest {
  if (status === null) throw failed(sentenceOf(errorCode ?? 'connect'));
  if (bodyCut) throw failed('The answer is too long, or broke off');
  if (status >= 500 || status === 429) throw failed(`The provider answered ${status}`);
  return { status, ...rest };
}

function failed(reason: string): OpenIdError {
  return new OpenIdError(`The identity provider cannot be reached: ${reason}`, { isPassing: true });
}

function explain(client: typeof OpenId, error: unknown): OpenIdError {
  const { cause } = error as Error;
  if (error instanceof OpenIdError) return error;
  if (cause instanceof OpenIdError) return cause;
  if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied')
    return new OpenIdError('The sign-in was refused or broken off at the identity provider', {
      isPassing: false,
      cause: error,
    });
  if (error instanceof client.AuthorizationResponseError && passingErrors.has(error.error))
    return new OpenIdError('The identity provider cannot sign you in at the moment', { isPassing: true, cause: error });
  return new OpenIdError('The identity provider did not confirm the sign-in', { isPassing: false, cause: error });
}
