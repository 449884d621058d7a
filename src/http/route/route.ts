import type { SchemaName } from '../../schemas.ts';
import type { AnyCall, Before } from './call.ts';
import type { Role } from './roles.ts';

/** What an operation accepts and answers; the schemas are the contract, and the published one is made from it. */
export interface Contract {
  /** The least that a caller must be. */
  role: Role;
  body?: SchemaName;
  query?: SchemaName;
  reply: SchemaName;
  /** A line for the reader of the API's documentation. */
  summary: string;
  /** What the summary leaves out. */
  description?: string;
  /** 200 unless said otherwise. */
  status?: 200 | 201;
  /** Of a GET: it answers one record, whose state has an entity tag. */
  record?: true;
  /** Of a GET: it answers a list page by page, with the query's `page` and links to the others. */
  paged?: true;
  /**
   * The body may be as large as the service takes (BODY_LIMIT_BYTES), in place of `usualBodyBytes`. For bodies with a
   * message's text or with attributes.
   */
  largeBody?: true;
  /** The body may also come as a multipart form without files: text fields as they are, all others as JSON text. */
  multipart?: true;
  /**
   * The handler works in batches, each in a `transact` of its own, since one transaction for all could become too large:
   * an `If-Match` is checked in the first of them instead of holding all together.
   */
  inBatches?: true;
  /** Statuses of refusals, beyond those that follow from the rest of the contract. */
  errors?: readonly number[];
  /** Whether it answers without the database, and so whatever that is busy with. */
  needsNoDatabase?: true;
  /** Whether a client may keep the answer, provided that it asks each time whether it still holds. */
  cacheable?: true;
}

/** An operation in steps, for those that are more than a transaction. */
export interface Steps<Call, Prepared, Reply> {
  /** Before the transaction: what takes time or asks others, such as resolving a name. What it throws refuses the call. */
  prepare?: (call: Before<Call>) => Promise<Prepared>;
  handle: (call: Call, prepared: Prepared) => Promise<Reply>;
  /** After `handle` has thrown and its transaction was undone: what has to be done all the same, in one of its own. */
  refused?: (error: unknown, call: Call) => Promise<void>;
}

/** An operation of the REST API: a row of the route table. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  contract: Contract;
  steps: Steps<AnyCall, unknown, unknown>;
}
