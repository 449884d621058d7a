import type { EntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../../domain/people/identity.ts';
import type { Visit } from '../../domain/widget/visits.ts';
import type { Named } from '../../records/conversation.ts';
import type { Actor, Transaction } from '../../events/transaction.ts';
import type { Mail } from '../../lib/mail.ts';
import type { OutboundHttp } from '../../outbound/http.ts';
import type { Random } from '../../lib/ports.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { Registry } from '../../packages/registry.ts';
import type { SchemaName, Shape } from '../../schemas.ts';

/**
 * The least that a caller must be: `anyone` needs no token, `user` is a person in whatever account, `bot` an agent or a
 * bot of the account in the path, `agent` a person of that account, `administrator` one of its administrators,
 * `platform` a platform administrator. Under /public, with the inbox in the path: `visitor` is anybody, a `contact` of
 * the inbox by its contact token or not; `contact` needs that token.
 */
export type Role = 'anyone' | 'user' | 'bot' | 'agent' | 'administrator' | 'platform' | 'visitor' | 'contact';

/** What an operation accepts and answers; the schemas are the contract, and the published one is made from it. */
export interface Contract {
  body?: SchemaName;
  query?: SchemaName;
  reply: SchemaName;
  /**
   * The body may be as large as the service takes (BODY_LIMIT_BYTES), in place of `usualBodyBytes`. For bodies with a
   * message's text or with attributes.
   */
  largeBody?: true;
  /**
   * The handler works in batches, each in a `transact` of its own, since one transaction for all could become too large:
   * an `If-Match` is checked in the first of them instead of holding all together.
   */
  inBatches?: true;
  role: Role;
  /** 200 unless said otherwise. */
  status?: 200 | 201;
  /** A line for the reader of the API's documentation; derived from method and path unless said. */
  summary?: string;
  /** What the summary leaves out. */
  description?: string;
  /** Statuses of refusals, beyond those that follow from the rest of the contract. */
  errors?: readonly number[];
  /** Whether it answers without the database, and so whatever that is busy with. */
  needsNoDatabase?: true;
  /** Whether a client may keep the answer, provided that it asks each time whether it still holds. */
  cacheable?: true;
  /**
   * The web origins whose pages may call the operation, for those outside /api (there all may). Asked before the
   * preflight and before the call, with the path's parameters as text.
   */
  origins?: (em: EntityManager, parameters: Readonly<Record<string, string>>) => Promise<readonly string[]>;
}

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

/** One request, checked: who calls, in which account, and what for. */
export interface Call<Body, Query> {
  services: Services;
  /**
   * For reading. Under an `Idempotency-Key` or `If-Match` the whole handler is one transaction, and this stands in it.
   * Inside `transact`, read through the transaction's own.
   */
  em: EntityManager;
  /** The business time of what the handler does outside of `transact`. */
  now: Date;
  principal: Principal;
  actor: Actor;
  account: Named;
  /** The path's `:id` and `:…_id` parameters, by name. */
  ids: Record<string, number>;
  /** The path's other parameters, by name. */
  names: Record<string, string>;
  body: Body;
  query: Query;
  /** Runs domain verbs in one transaction, in the caller's name. */
  transact: <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>;
  /** Like `transact`, in an account of a platform administrator's choice and in the name of the service. */
  transactIn: <Result>(account: Named, work: (tx: Transaction) => Promise<Result>) => Promise<Result>;
  /** Whom a call under /public comes from, and the inbox it goes to. */
  visit: Visit;
}

type ShapeOf<Name> = Name extends SchemaName ? Shape<Name> : undefined;

/** A request before its transaction: nothing of the database, but what lies outside. */
type Preparation<Body, Query> = Omit<Call<Body, Query>, 'services' | 'em' | 'transact' | 'transactIn'> & {
  services: OutsideServices;
};

/** An operation in steps, for those that are more than a transaction. */
export interface Steps<Body, Query, Prepared, Reply> {
  /** Before the transaction: what takes time or asks others, such as resolving a name. What it throws refuses the call. */
  prepare?: (preparation: Preparation<Body, Query>) => Promise<Prepared>;
  handle: (call: Call<Body, Query>, prepared: Prepared) => Promise<Reply>;
  /** After `handle` has thrown and its transaction was undone: what has to be done all the same, in one of its own. */
  refused?: (error: unknown, call: Call<Body, Query>) => Promise<void>;
}

/** An operation of the REST API: a row of the route table. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  contract: Contract;
  steps: Steps<unknown, unknown, unknown, unknown>;
}

/** Describes an operation; body, query and answer are typed by the contract's schemas. */
export function route<
  Reply extends SchemaName,
  Body extends SchemaName | undefined = undefined,
  Query extends SchemaName | undefined = undefined,
  Prepared = undefined,
>(
  [method, path]: [Route['method'], string],
  contract: Omit<Contract, 'body' | 'query'> & { reply: Reply; body?: Body; query?: Query },
  operation:
    | ((call: Call<ShapeOf<Body>, ShapeOf<Query>>) => Promise<Shape<Reply>>)
    | Steps<ShapeOf<Body>, ShapeOf<Query>, Prepared, Shape<Reply>>,
): Route {
  const steps = typeof operation === 'function' ? { handle: operation } : operation;
  return { method, path, contract: contract as Contract, steps: steps as Route['steps'] };
}
