import type { Schemas } from '../../schemas/types.ts';
import type { Operations } from './operations.ts';
import { errorOf, tooSlow, unreachable, unreadable } from './service-error.ts';

/** An operation, by method and path: relative to the account where it is in one, `GET labels`. */
export type Operation = keyof Operations;

type Shape<Name> = Name extends keyof Schemas ? Schemas[Name] : never;
type Named<Name extends Operation, Part extends string> =
  Operations[Name] extends Record<Part, infer Schema> ? Shape<Schema> : never;

/** Response body of an operation. */
export type Reply<Name extends Operation> = Named<Name, 'reply'>;
/** The body that an operation takes. */
export type Body<Name extends Operation> = Named<Name, 'body'>;
/** The query that an operation takes. */
export type Query<Name extends Operation> = Named<Name, 'query'>;

type ParameterIn<Path> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Parameter}/${infer Tail}`
    ? Parameter | ParameterIn<Tail>
    : Rest
  : never;

/** Request of an operation: path parameters by name, query and body; `form` in place of a body for uploads. */
export type Ask<Name extends Operation> = { [Parameter in ParameterIn<Name>]: number | string } & {
  query?: [Query<Name>] extends [never] ? never : Partial<Query<Name>>;
  form?: FormData;
  /** The same for every try of one change: it then happens once. */
  key?: string;
  /** The entity tag of what is to be changed: the service refuses with 412 what has changed since it was read. */
  match?: string | undefined;
  signal?: AbortSignal;
} & ([Body<Name>] extends [never] ? { body?: never } : { body?: Body<Name> });

type Arguments<Name extends Operation> = [ParameterIn<Name>] extends [never] ? [ask?: Ask<Name>] : [ask: Ask<Name>];

/** Calls an operation of the service. Rejects with a ServiceError. */
export type Call = <Name extends Operation>(name: Name, ...sent: Arguments<Name>) => Promise<Reply<Name>>;

type Sent = Record<string, unknown> & Pick<Ask<Operation>, 'form' | 'key' | 'match' | 'signal'>;

interface CallOptions {
  /** The account of operations whose path is relative. */
  account: () => number | null;
  /** As whom the page acts: the service refuses what it asks when the browser's sign-in is another person's by then. */
  person?: () => number | null;
  /** The access token of a page whose reader has not signed in. */
  token?: () => string | null;
  /** Told of every 401. */
  unauthenticated?: () => void;
}

/** Limit of reads, which can be repeated; changes may take as long as they take. */
const readMs = 20_000;

const tags = new WeakMap<object, string>();

/** The entity tag with which something was read, where it has one. */
export function tagOf(reply: object): string | undefined {
  return tags.get(reply);
}

/** The function that calls the service that this page came from, as whoever is signed in. */
export function createCall({ account, person, token, unauthenticated }: CallOptions): Call {
  return async (name, ...[ask = {}]) => {
    const sent = ask as Sent;
    const [method = 'GET', path = ''] = name.split(' ');
    const url = urlOf(path, { account_id: account(), ...sent }, sent['query'] as object | undefined);
    const { broken, ...limited } = limitsOf(method, sent.signal);
    const content = contentOf({ ...sent, ...limited }, { person: person?.() ?? null, token: token?.() ?? null });
    const response = await fetch(url, { method, ...content }).catch(broken);
    const reply = parse(await response.text().catch(broken));
    if (response.status === 401) unauthenticated?.();
    if (!response.ok) throw errorOf(response.status, reply);
    if (reply === undefined) throw unreadable();
    keepTag(reply, response);
    return reply as never;
  };
}

function keepTag(reply: unknown, { headers }: Response): void {
  const tag = headers.get('etag');
  if (tag !== null && typeof reply === 'object' && reply !== null) tags.set(reply, tag);
}

// When to give up, and what is thrown then, and where nothing answers.
function limitsOf(method: string, given?: AbortSignal): { signal?: AbortSignal; broken: (error: unknown) => never } {
  const limit = method === 'GET' ? AbortSignal.timeout(readMs) : null;
  const broken = (error: unknown): never => {
    if (given?.aborted) throw error;
    throw limit?.aborted ? tooSlow(readMs / 1000) : unreachable();
  };
  const signals = [given, limit].filter((signal) => signal instanceof AbortSignal);
  const [signal] = signals.length > 1 ? [AbortSignal.any(signals)] : signals;
  return { ...(signal ? { signal } : {}), broken };
}

// Undefined for what is no JSON, such as an answer that was cut off, or the page of a proxy.
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The URL of an operation; parameters without a value are an error of the caller. */
export function urlOf(path: string, parameters: Readonly<Record<string, unknown>>, query: object = {}): string {
  const whole = path.startsWith('/') ? path : `/api/v1/accounts/:account_id/${path}`;
  const filled = whole.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = parameters[name];
    if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`${path} needs ${name}`);
    return encodeURIComponent(value);
  });
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search === '' ? filled : `${filled}?${search}`;
}

/** The header that says as whom a page acts, where it knows it. */
export function personHeader(id: number | null): Record<string, string> {
  return id === null ? {} : { 'x-signed-in-as': String(id) };
}

interface Caller {
  person: number | null;
  token: string | null;
}

function contentOf({ body, form, key, match, signal }: Sent, { person, token }: Caller): RequestInit {
  const headers = {
    ...personHeader(person),
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(match === undefined ? {} : { 'if-match': match }),
  };
  const content = form ?? (body === undefined ? undefined : JSON.stringify(body));
  return { headers, ...(content === undefined ? {} : { body: content }), ...(signal ? { signal } : {}) };
}
