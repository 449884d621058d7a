import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../database.ts';
import type { Principal } from '../domain/identity.ts';
import type { Named } from '../entities/conversation.ts';
import type { Actor, Transaction } from '../events/transaction.ts';
import type { OutboundHttp } from '../lib/outbound-http.ts';
import type { Random } from '../lib/ports.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { SchemaName, Shape } from '../schemas.ts';

/**
 * The least that a caller must be: `anyone` needs no token, `user` is a person in whatever account, `bot` an agent or a
 * bot of the account in the path, `agent` a person of that account, `administrator` one of its administrators.
 */
export type Role = 'anyone' | 'user' | 'bot' | 'agent' | 'administrator';

/** What an operation accepts and answers; the schemas are the contract. */
export interface Contract {
  body?: SchemaName;
  query?: SchemaName;
  reply: SchemaName;
  role: Role;
  /** 200 unless said otherwise. */
  status?: 200 | 201;
}

/** What handlers work with. */
export interface Services {
  database: Database;
  outbound: OutboundHttp;
  secretBox: SecretBox;
  random: Random;
  /** True while the process still takes new work. */
  accepting: () => boolean;
}

/** One request, checked: who calls, in which account, and what for. */
export interface Call<Body, Query> {
  services: Services;
  em: EntityManager;
  principal: Principal;
  actor: Actor;
  account: Named;
  /** The numbers in the path, by name. */
  ids: Record<string, number>;
  body: Body;
  query: Query;
  /** Runs domain verbs in one transaction, in the caller's name. */
  transact<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
}

type ShapeOf<Name> = Name extends SchemaName ? Shape<Name> : undefined;

/** An operation of the REST API: a row of the route table. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  contract: Contract;
  handle(call: Call<never, never>): Promise<unknown>;
}

/** Describes an operation; body, query and answer are typed by the contract's schemas. */
export function route<
  Reply extends SchemaName,
  Body extends SchemaName | undefined = undefined,
  Query extends SchemaName | undefined = undefined,
>(
  [method, path]: [Route['method'], string],
  contract: Omit<Contract, 'body' | 'query'> & { reply: Reply; body?: Body; query?: Query },
  handle: (call: Call<ShapeOf<Body>, ShapeOf<Query>>) => Promise<Shape<Reply>>,
): Route {
  return { method, path, contract: contract as Contract, handle };
}
