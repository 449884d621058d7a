import { createCall, type Body, type Reply } from '../shared/call.ts';
import { Live } from '../shared/live.ts';
import { Store } from '../shared/store.ts';
import { tellTabs, watchTabs } from '../shared/tabs.ts';
import { sentenceOf, ServiceError } from '../shared/service-error.ts';
import { toast } from './kit/toast.tsx';
import type { PageRow } from './page-row.ts';
import { place } from './router.ts';
import { endLink, linkToken, sharedWebhook } from './shared-webhook.ts';

export type Profile = NonNullable<Reply<'GET /sign_in'>['profile']>;
/** An account of the person, and what the person is there. */
export type Membership = Profile['accounts'][number];

/** The session of the browser. */
export type Session =
  | { state: 'asking' }
  /** It could not be found out: there was no answer, or none that says it. */
  | { state: 'unknown'; message: string }
  /** `proof`: a sign-in that lacks the code of a second factor. */
  | { state: 'out'; message: string | null; proof?: Body<'POST /sign_in'> }
  | { state: 'in'; profile: Profile; account: Membership | null };

/** The present session. */
export const session = new Store<Session>({ state: 'asking' });

/** Whether the sign-in has ended, and the next one is on its way. */
let isRenewing = false;

/** Calls the service as the person who is signed in, in the account that the console shows; or by the link that shares a webhook. */
export const call = createCall({
  account: () => sharedWebhook?.account ?? currentAccount()?.id ?? null,
  person: currentPerson,
  token: () => linkToken.value,
  unauthenticated: () => (sharedWebhook ? endLink() : void lookAgain()),
});

/** Live events of the account. */
export const live = new Live({ call, account: () => currentAccount()?.id ?? null });

/** The account that the console shows, and what the person is there; null for who belongs to none. */
export function currentAccount(): Membership | null {
  return session.value.state === 'in' ? session.value.account : null;
}

/** The id of the person as whom the console acts; null while nobody is signed in. */
export function currentPerson(): number | null {
  return session.value.state === 'in' ? session.value.profile.id : null;
}

/** Whether the person is an administrator of the account. */
export function isAdministrator(): boolean {
  return currentAccount()?.role === 'administrator';
}

/** Whether the person is an administrator of the platform. */
export function isPlatformAdministrator(): boolean {
  return session.value.state === 'in' && session.value.profile.platform_admin;
}

/** Whether the person may open the views of a row: what the service allows is the same. */
export function mayOpen({ administrators, platform }: Pick<PageRow, 'administrators' | 'platform'>): boolean {
  if (!administrators && !platform) return true;
  return (administrators === true && isAdministrator()) || (platform === true && isPlatformAdministrator());
}

let beginning: Promise<void> | null = null;
let link: string | null = null;

/** Finds out who is signed in; a one-time link in the address signs in, and disappears from the address. */
export function beginSession(): Promise<void> {
  const given = /^#link=(.+)$/.exec(location.hash)?.[1];
  if (given !== undefined) history.replaceState(history.state, '', location.pathname + location.search);
  link = given ?? link;
  // A link works once: whoever asks meanwhile waits for the answer.
  beginning ??= begin().finally(() => (beginning = null));
  return beginning;
}

async function begin(): Promise<void> {
  try {
    if (link === null) enter(await call('GET /sign_in'));
    else await redeem(link);
  } catch (error) {
    live.stop();
    session.set({ state: 'unknown', message: sentenceOf(error) });
  }
}

// Without an answer the link is kept for the next try.
async function redeem(proof: string): Promise<void> {
  try {
    enter(await call('POST /sign_in', { body: { link: proof } }));
    link = null;
    tellTabs();
  } catch (error) {
    if (askCode(error, { link: proof })) return void (link = null);
    if (!isFinal(error)) throw error;
    const present = await call('GET /sign_in');
    link = null;
    if (!present.profile) return leave(sentenceOf(error));
    enter(present);
    toast(`You are already signed in. ${sentenceOf(error)}`);
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof ServiceError && error.status >= 400 && error.status < 500 && error.status !== 429;
}

/** Signs in; a refusal is shown on the page for signing in. */
export async function signIn(proof: Body<'POST /sign_in'>): Promise<void> {
  try {
    enter(await call('POST /sign_in', { body: proof }));
    tellTabs();
  } catch (error) {
    if (!askCode(error, proof)) leave(sentenceOf(error));
  }
}

// The page keeps the proof in memory until the code is there.
function askCode(error: unknown, { code, ...proof }: Body<'POST /sign_in'>): boolean {
  const isAsked = error instanceof ServiceError && ['second_factor_required', 'wrong_code'].includes(error.code);
  if (!isAsked) return false;
  live.stop();
  session.set({ state: 'out', message: code === undefined ? null : sentenceOf(error), proof });
  return true;
}

/** Gives up a sign-in that lacks its code. */
export function startOver(): void {
  leave(null);
}

/**
 * Replaces the person's access token by the one that `replace` resolves with, signs in again with it, and stays where it is.
 * The sign-in ends with the token before: until then nobody has signed out.
 */
export async function renew(replace: () => Promise<string>): Promise<void> {
  isRenewing = true;
  live.stop();
  try {
    const accessToken = await replace();
    await call('POST /sign_in', { body: { access_token: accessToken } });
    tellTabs();
  } finally {
    isRenewing = false;
    // Results of checks in the meantime are older than this.
    session.set({ ...session.value });
    live.restart();
  }
}

/** Ends the session, here and on the server. Rejects with a ServiceError. */
export async function signOut(): Promise<void> {
  // The service ends the stream of events before it answers: it is not to be opened again.
  live.stop();
  try {
    await call('DELETE /sign_in');
  } catch (error) {
    live.restart();
    throw error;
  }
  leave(null);
  tellTabs();
}

let looking: Promise<void> | null = null;

/** Finds out whether the browser is still signed in as the same person, and goes on as whoever it is by now. */
export function lookAgain(): Promise<void> {
  looking ??= compare().finally(() => (looking = null));
  return looking;
}

async function compare(): Promise<void> {
  const before = session.value;
  if (before.state !== 'in' && before.state !== 'out') return;
  // Where it cannot be found out, the service still refuses what the page asks as somebody else.
  const present = await call('GET /sign_in').catch(() => null);
  if (!present) return;
  // Somebody has signed in or out here meanwhile: the answer may be older than that.
  if (session.value !== before) return compare();
  const known = before.state === 'in' ? before.profile : null;
  if (present.profile?.id === known?.id || isRenewing) return;
  if (!present.profile) return leave('You were signed out. Sign in again to continue.');
  enter(present);
  if (known) toast(`This browser is now signed in as ${present.profile.name}. ${keptWords(known)}`, 'error');
}

function keptWords({ name }: Profile): string {
  return `Drafts of ${name} are kept until ${name} signs in again. Nobody else can see them.`;
}

watchTabs(() => void lookAgain());

// The address says which account is shown, also after a step back.
place.watch(() => {
  const { value } = session;
  if (value.state !== 'in') return;
  const account = accountOf(value.profile);
  if (account?.id === value.account?.id) return;
  live.stop();
  session.set({ ...value, account });
});

// The first one is shown at addresses that name none. Who names another person's must not act in an own one unawares.
function accountOf({ accounts }: Profile): Membership | null {
  const { account } = place.value;
  if (account === null) return accounts[0] ?? null;
  return accounts.find(({ id }) => String(id) === account) ?? null;
}

/** Shows the account's new name wherever it stands. */
export function nameAccount({ id, name }: { id: number; name: string }): void {
  const { value } = session;
  if (value.state !== 'in') return;
  const named = (one: Membership): Membership => (one.id === id ? { ...one, name } : one);
  const profile = { ...value.profile, accounts: value.profile.accounts.map(named) };
  session.set({ ...value, profile, account: value.account && named(value.account) });
}

function enter({ profile }: Reply<'GET /sign_in'>): void {
  if (!profile) return leave(null);
  live.stop();
  session.set({ state: 'in', profile, account: accountOf(profile) });
  // The same views may be shown on.
  live.restart();
}

function leave(message: string | null): void {
  live.stop();
  session.set({ state: 'out', message });
}
