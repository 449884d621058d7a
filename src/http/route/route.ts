import type { SchemaName } from '../../schemas.ts';
import type { AnyCall, Before } from './call.ts';
import type { Role } from './admission/roles.ts';

/** The contract of an operation. Its schemas validate requests, and the published contract is made from it. */
export interface Contract {
  /** The least that a caller must be. */
  role: Role;
  body?: SchemaName;
  query?: SchemaName;
  reply: SchemaName;
  /** A one-line summary for the API's documentation. */
  summary: string;
  /** More for the API's documentation. */
  description?: string;
  /** 200 by default; 202 where the requested work follows the answer. */
  status?: 200 | 201 | 202;
  /** On a GET that answers one record: the answer carries an entity tag. */
  record?: true;
  /** On a GET that answers a list by pages: the query has `page`, the answer links to the other pages. */
  paged?: true;
  /**
   * The body may be as large as the service accepts (BODY_LIMIT_BYTES) instead of `usualBodyBytes`: for bodies with a
   * message's text or with attributes.
   */
  largeBody?: true;
  /** The body may also come as a multipart form without files: text fields as they are, all others as JSON text. */
  multipart?: true;
  /**
   * The body may also come as a multipart form that may have files, `attachments[]`: one with files has fields of this
   * schema. What `prepare` does is done for forms only.
   */
  withFiles?: SchemaName;
  /**
   * The body comes as a multipart form only, and may be as large as PLUGIN_ARCHIVE_BYTES or ARTICLE_IMPORT_BYTES. Its
   * properties with `contentMediaType` are files: one character for each byte (latin1). A property `NAME_name` of a file
   * `NAME` is the name that the form has for the file, unless it is given as a field.
   */
  upload?: Upload;
  /**
   * The handler works in batches, each in a `transact` of its own, since one transaction for all could become too large.
   * `If-Match` is then checked in the first batch, instead of making all of them one transaction.
   */
  inBatches?: true;
  /** On a POST that only reads: takes no Idempotency-Key. */
  keyed?: false;
  /**
   * Counts wrong tries, and commits the count although it refuses: takes no Idempotency-Key and no `If-Match`, with which a
   * refusal would roll the count back.
   */
  countsTries?: true;
  /** The call may revoke the token that it is made with. */
  revokes?: true;
  /** Answers 200 instead, with `new Unchanged(record)`, where everything is as requested already. */
  unchanged?: true;
  /** Statuses of refusals, in addition to those that follow from the rest of the contract. */
  errors?: readonly number[];
  /**
   * Answers a stream of server-sent events, whose data is of the schema `reply`; `handle` returns a function that opens it.
   * Web pages may call it with a ticket.
   */
  stream?: true;
  /** People's browsers come here by links and forms: they are told errors on a page. */
  forPeople?: true;
  /** Pages of every web origin may read the answer, also where others may not be called by them. */
  anyOrigin?: true;
  /**
   * How the audit log tells of it; `false` for what changes nothing. Without it, operations for administrators are told as
   * `NOUN.created`, `NOUN.updated` and `NOUN.deleted`.
   */
  audit?: AuditClause | false;
  /** The operation does not use the database, so it does not wait for a place in the gate. */
  needsNoDatabase?: true;
  /** Clients may cache the answer if they revalidate it each time; the handler always returns the same object. */
  cacheable?: true;
}

/** The result of a handler that leaves nothing to be done, since everything is as requested; see Contract.unchanged. */
export class Unchanged<Reply> {
  readonly reply: Reply;

  constructor(reply: Reply) {
    this.reply = reply;
  }
}

/** How the audit log tells of an operation. */
export interface AuditClause {
  /** `NOUN.VERB`. What the body says is recorded then as it is: it must hold no secrets. */
  action?: string;
  /** The action where a field of the record has changed, by field. */
  where?: Readonly<Record<string, string>>;
  /** The kind of record, where the path has no id of it, and the body's field with its id. */
  target?: { type: string; from?: string };
  /** The record is not read, since that costs much: told are these fields of the answer, and what the body says. */
  unread?: readonly string[];
  /** Not the record changes but those who belong to it: how the body's `user_ids` change them. */
  members?: 'added' | 'replaced' | 'removed';
  /** Told only if one of these fields has changed. */
  only?: readonly string[];
  /** Told in the log of each account that the caller works in. */
  ofPerson?: true;
}

/** Kinds of uploads: each has a limit of its own. */
export type Upload = 'plugin' | 'articles';

/** An operation in steps, where one transaction is not enough. */
export interface Steps<Call, Prepared, Reply> {
  /** Runs slow work and calls of other systems before the transaction, such as resolving a name. May throw an ApiError. */
  prepare?: (call: Before<Call>) => Promise<Prepared>;
  handle: (call: Call, prepared: Prepared) => Promise<Reply>;
  /** Runs in another transaction after `handle` has thrown and its own was rolled back. */
  refused?: (error: unknown, call: Call, prepared: Prepared) => Promise<void>;
}

/** An operation of the REST API: a row of the route table. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  contract: Contract;
  steps: Steps<AnyCall, unknown, unknown>;
}
