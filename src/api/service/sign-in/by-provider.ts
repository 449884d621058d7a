import { provenAddress, signInByProvider } from '../../../domain/people/sign-ins/by-provider.ts';
import { ApiError } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { OutsideServices, Services } from '../../../http/route/call.ts';
import type { SecretBox } from '../../../lib/secrets/secret-box.ts';
import {
  OpenIdError,
  type OpenIdAnswer,
  type OpenIdProvider,
  type OpenIdTicket,
} from '../../../outbound/openid-provider.ts';
import type { Shape } from '../../../schemas.ts';
import { plainPage } from '../plain-page.ts';
import { newSignIn } from './sign-in.ts';

type Callback = Shape<'requests/sign-in-callback.query'>;

const path = '/sign_in/oidc/callback';
const ticketMs = 600_000;

function callbackOf({ publicUrl }: Services): string {
  return publicUrl() + path;
}

// A public URL may have a path before ours.
function ticketPath(services: Services): string {
  return new URL(callbackOf(services)).pathname;
}

function answerOf({ code, state, iss, error, error_description: description }: Callback): OpenIdAnswer {
  const told = { code, state, iss, error, error_description: description };
  return Object.fromEntries(Object.entries(told).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function providerOf({ provider }: OutsideServices): OpenIdProvider {
  if (provider) return provider;
  throw new ApiError(403, 'no_identity_provider', 'This service has no identity provider: sign in another way');
}

function sealTicket(ticket: OpenIdTicket, box: SecretBox, now: Date): string {
  return box.seal(JSON.stringify({ ...ticket, oidcUntil: now.getTime() + ticketMs }));
}

function openTicket(sealed: string, box: SecretBox, now: Date): OpenIdTicket {
  try {
    const ticket = JSON.parse(box.open(sealed)) as OpenIdTicket & { oidcUntil: number };
    if (ticket.oidcUntil > now.getTime()) return ticket;
  } catch {
    // Absent, not ours, or of an earlier SECRET_KEY.
  }
  throw new ApiError(
    410,
    'sign_in_over',
    'This sign-in took too long, was used already, or another one was begun in this browser: sign in again',
  );
}

async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OpenIdError)) throw error;
    throw error.isPassing
      ? new ApiError(503, 'identity_provider_unavailable', error.message, { headers: { 'retry-after': '5' } })
      : new ApiError(403, 'identity_provider_refused', error.message);
  }
}

/** Sign-in by the identity provider of OIDC_ISSUER: to its page, and back. */
export const signInByProviderRoutes = [
  doors.open(
    ['POST', '/sign_in/oidc', 'Begin to sign in by the identity provider'],
    {
      reply: 'resources/sign-in-address',
      role: 'newcomer',
      errors: [403],
      needsNoDatabase: true,
      description:
        'Answers the page of the identity provider (OpenID Connect) that the browser goes to. The cookie that is set proves, for ten minutes, that the same browser comes back.',
    },
    {
      prepare: async ({ services, browser, now }) => {
        browser.refuseOthers();
        const { url, ticket } = await explained(() => providerOf(services).begin(callbackOf(services)));
        browser.keepTicket(sealTicket(ticket, services.secretBox, now), ticketPath(services));
        return url;
      },
      handle: async (_, url) => ({ url }),
    },
  ),
  doors.open(
    ['GET', path, 'Come back from the identity provider'],
    {
      query: 'requests/sign-in-callback.query',
      reply: 'resources/page',
      role: 'newcomer',
      errors: [403, 410],
      forPeople: true,
      description:
        'Signs in the person with the e-mail address that the provider has verified; somebody new joins the accounts that have invited the address. The page goes on to the console.',
    },
    {
      prepare: async ({ services, browser, query, now }) => {
        const provider = providerOf(services);
        const ticket = openTicket(browser.takeTicket(ticketPath(services)), services.secretBox, now);
        const person = await explained(() => provider.finish(callbackOf(services), answerOf(query), ticket));
        return { email: provenAddress(person, services.providerDomains), roles: person.roles };
      },
      handle: async (call, proven) => {
        const { browser, now, transact } = call;
        const made = newSignIn(call);
        await transact((tx) => signInByProvider(tx, proven, made));
        browser.keep(made.token, made.expiresAt, now);
        return plainPage({
          title: 'You are signed in',
          next: '/console',
          content: '<a class="button" href="/console">Open the console</a>',
        });
      },
    },
  ),
];
