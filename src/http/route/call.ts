import type { EntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../../domain/people/identity.ts';
import type { Visit } from '../../domain/widget/visits.ts';
import type { Named } from '../../records/conversation.ts';
import type { Actor, OuterTransaction, Transact, Transaction } from '../../events/transaction.ts';
import type { Mail } from '../../lib/mail.ts';
import type { OutboundHttp } from '../../outbound/http.ts';
import type { Random } from '../../lib/ports.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Registry } from '../../packages/registry.ts';
import type { DoorName } from './roles.ts';

/** What handlers work with. None of it waits for anybody else: a handler may be one transaction from end to end. */
export interface Services {
  secretBox: SecretBox;
  random: Random;
  /** Sends a mail once the transaction has committed. */
  mail: (tx: Transaction, mail: Mail) => void;
  /** Where people reach the service, without a slash at the end. */
  publicUrl: () => string;
  /** The installed plugins. */
  registry: Registry;
  /** True once the start is through: migrated, seeded, and whatever else it does. */
  started: () => boolean;
  /** True while the process still takes new work. */
  accepting: () => boolean;
}

/** What the preparation of a request works with: it holds no connection of the database, so it may wait for others. */
export interface OutsideServices extends Services {
  outbound: OutboundHttp;
}

type NameIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | NameIn<Tail>
    : Rest
  : never;

/** The parameters that a path's text names: `:id` and `:…_id` are identifiers of ours, the others text. */
export type ParametersOf<Path extends string> = {
  readonly [Name in NameIn<Path>]: Name extends 'id' | `${string}_id` ? number : string;
};

/** A path's parameters by name, where the path is not known. */
export type Parameters = Readonly<Record<string, number | string>>;

/** The properties of every call. */
interface OpenedCall {
  services: Services;
  /**
   * For reading. Under an `Idempotency-Key` or `If-Match` the whole handler is one transaction, and this stands in it.
   * Inside `transact`, read through the transaction's own.
   */
  em: EntityManager;
  /** The business time of what the handler does outside of `transact`. */
  now: Date;
}

/** A call in an account, by an agent or a bot of it. */
interface AccountCall extends OpenedCall {
  principal: Principal;
  account: Named;
  actor: Actor;
  /** Runs domain verbs in one transaction, in the caller's name. */
  transact: Transact;
}

/** A call outside of accounts, by the holder of a token. */
interface PlatformCall extends OpenedCall {
  principal: Principal;
  /** Runs domain verbs in one transaction, in no account yet: see OuterTransaction.in. */
  transact: Transact<OuterTransaction>;
}

/** A call under /public: by a contact of the inbox in the path, or by somebody who is about to become one. */
interface VisitorCall extends Omit<AccountCall, 'principal'> {
  visit: Visit;
}

/** A call whose caller is not asked for a token. */
type OpenCall = Omit<PlatformCall, 'principal'>;

/** The kinds of calls by door: each has the properties that are known behind its door, and no others. */
export interface Calls {
  account: AccountCall;
  platform: PlatformCall;
  visitor: VisitorCall;
  open: OpenCall;
}

/** What the caller sent, checked. */
export interface Sent<Params, Body, Query> {
  params: Params;
  body: Body;
  query: Query;
}

/** A call that was let in, with its path, before the rest of what was sent is read. */
export type Admitted = Calls[DoorName] & { params: Parameters };

/** A call of whatever door, whose path, body and query nobody has typed yet. */
export type AnyCall = Calls[DoorName] & Sent<Parameters, unknown, unknown>;

/** A call whose handler acts in an account of its caller's. */
export type InAccount = Extract<AnyCall, { account: unknown }>;

/** A call before its transaction: without the database, with access to other servers. */
export type Before<Call> = Omit<Call, 'services' | 'em' | 'transact'> & { services: OutsideServices };
