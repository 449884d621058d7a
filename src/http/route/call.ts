import type { Sql } from '../../postgres/sql.ts';
import type { Origin } from '../../domain/audit/acts.ts';
import type { Identity, Principal } from '../../domain/people/identity.ts';
import type { AttachmentStore } from '../../domain/attachments/store.ts';
import type { ReadMeaning } from '../../domain/articles/embeddings/questions.ts';
import type { ImportBounds } from '../../domain/articles/import-file.ts';
import type { PasswordHashes } from '../../domain/people/sign-ins/password-hashes.ts';
import type { Visit } from '../../domain/widget/visits.ts';
import type { Named } from '../../records/conversations/conversation.ts';
import type { Actor, OuterTransaction, Transact, Transaction } from '../../events/transaction.ts';
import type { SignedFileLinks } from '../../lib/file-links.ts';
import type { Mail } from '../../lib/mail.ts';
import type { HoldReason, OutboundGate } from '../../lib/outbound-gate.ts';
import type { UpgradeWatch } from '../../postgres/upgrade-watch.ts';
import type { EventStreams } from '../../live/streams.ts';
import type { OutboundHttp } from '../../outbound/http.ts';
import type { Replayer } from '../../runs/replayer.ts';
import type { CallAsBot } from '../../runs/call-as-bot.ts';
import type { RunDry } from '../../runs/dry-run.ts';
import type { TryBot } from '../../runs/trial.ts';
import type { Random } from '../../lib/ports.ts';
import type { ReadArchive } from '../../packages/archive/archive.ts';
import type { Shape } from '../../schemas.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import type { Browser } from './admission/browser.ts';
import type { FormFile } from './body/form-body.ts';
import type { OpenIdProvider } from '../../outbound/openid-provider.ts';
import type { Proof } from './admission/proof.ts';
import type { DoorName } from './admission/roles.ts';

/** Services for handlers. None of them waits for another system, so a handler may be one transaction as a whole. */
export interface Services {
  secretBox: SecretBox;
  random: Random;
  /** Sends a mail after the transaction has committed. */
  mail: (tx: OuterTransaction, mail: Mail) => void;
  /** Whether there is a mail server. */
  sendsMail: boolean;
  /** Sends a mail without a link so; whether there is a mail server that could. */
  mailText: (tx: Transaction, mail: Omit<Mail, 'link'>) => boolean;
  /** The open streams of events. */
  streams: EventStreams;
  /** Makes the links to files. */
  fileLinks: SignedFileLinks;
  /** The URL at which people reach the service, without a trailing slash. */
  publicUrl: () => string;
  /** Whether people can sign in by an identity provider. */
  hasProvider: boolean;
  /** Whether the service has a model server for accounts without one of their own. */
  hasModel: boolean;
  /** How long a sign-in lasts, in milliseconds. */
  signInMs: number;
  /** A delivery that has failed this often holds those behind it no more. */
  holdAttempts: number;
  /** True once the start sequence has completed. */
  started: () => boolean;
  /** True until the shutdown begins. */
  accepting: () => boolean;
  /** Whether anything is sent. */
  gate: OutboundGate;
  /** Looks whether the database is that of the installation, or a copy; returns why nothing is sent. */
  home: { look: () => Promise<HoldReason | null> };
  /** Knows whether a newer release has migrated the database. */
  upgrade: UpgradeWatch;
}

/** Services for the preparation of a request, which holds no database connection and so may wait for other systems. */
export interface OutsideServices extends Services {
  outbound: OutboundHttp;
  /** Counts a transcript that the account has sent. Errors: 429. */
  countTranscript: (accountId: number) => Promise<void>;
  passwords: PasswordHashes;
  /** The identity provider that signs people in; null without one. */
  provider: OpenIdProvider | null;
  /** Domains of the addresses that may sign in by it; none: all. */
  providerDomains: readonly string[];
  /** Where files of messages are kept. */
  attachments: AttachmentStore;
  /** Reads a plugin that somebody uploads. */
  readArchive: ReadArchive;
  /** The limits of files of articles. */
  importBounds: ImportBounds;
  /** Gets a question's embedding from the account's model server. */
  readMeaning: ReadMeaning;
  /** Checks all invariants of the database, or a single step. Errors: 422, 503 when that takes too long. */
  ledger: (step?: number) => Promise<Shape<'resources/ledger'>>;
  /** Repeats a run from its record. */
  replay: Replayer['replay'];
  /** Runs a bot on a message of no conversation. Errors: 503 while too many are tried. */
  tryBot: TryBot;
  /** Runs an automation for events without effects. Errors: 422, 503. */
  runDry: RunDry;
  /** Asks models and the knowledge base as a bot, in no run. Errors: 503 while too many are asked. */
  callAsBot: CallAsBot;
}

type NameIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | NameIn<Tail>
    : Rest
  : never;

/** The parameters in a path's text: `:id` and `:…_id` are identifiers (numbers), all others are text. */
export type ParametersOf<Path extends string> = {
  readonly [Name in NameIn<Path>]: Name extends 'id' | `${string}_id` ? number : string;
};

/** Path parameters by name, for code that serves any path. */
export type Parameters = Readonly<Record<string, number | string>>;

/** Properties of every call. */
interface OpenedCall {
  services: Services;
  /**
   * For reading. Under an `Idempotency-Key` or `If-Match`, where the whole handler is one transaction, it reads in that
   * transaction. Inside `transact`, read through `tx.sql`.
   */
  sql: Sql;
  /** The business time for work outside of `transact`. */
  now: Date;
  /** Where the request came from, for the audit log. */
  origin: Origin;
}

/** A call in an account, by one of its agents or bots. */
interface AccountCall extends OpenedCall {
  principal: Principal;
  /** How the caller was identified. */
  identity: Identity;
  account: Named;
  actor: Actor;
  /** Null for a call that only reads what is there at its admission. */
  proof: Proof | null;
  /** Runs domain verbs in one transaction, with the caller as actor. */
  transact: Transact;
}

/** A call outside of accounts, by a token's holder. */
interface PlatformCall extends OpenedCall {
  principal: Principal;
  /** As of an account's call. */
  proof: Proof | null;
  /** Runs domain verbs in one transaction that has no account yet: see OuterTransaction.in. */
  transact: Transact<OuterTransaction>;
}

/** A call under /public: by a contact of the inbox in the path, or by a visitor who may become one. */
interface VisitorCall extends Omit<AccountCall, 'principal' | 'identity' | 'proof'> {
  visit: Visit;
  /**
   * Does what may be a guess of what lets somebody else in: what is refused, or finds nobody and so makes somebody new, counts for
   * the caller's address and the inbox. Errors: 429.
   */
  guess: <Found extends { isNew: boolean }>(work: () => Promise<Found>) => Promise<Found>;
}

/** A call that needs no token. */
interface OpenCall extends Omit<PlatformCall, 'principal' | 'proof'> {
  browser: Browser;
}

/** The type of a call by door: it has exactly the properties that are known behind that door. */
export interface Calls {
  account: AccountCall;
  platform: PlatformCall;
  visitor: VisitorCall;
  open: OpenCall;
}

/** The validated parts of the request. */
export interface Sent<Params, Body, Query> {
  params: Params;
  body: Body;
  query: Query;
  /** The files `attachments[]` of a form, where the contract has such. */
  files: readonly FormFile[];
}

/** A call after admission: path read, body and query not yet. */
export type Admitted = Calls[DoorName] & { params: Parameters };

/** A call of any door, with untyped path, body and query. */
export type AnyCall = Calls[DoorName] & Sent<Parameters, unknown, unknown>;

/** A call whose handler acts in an account. */
export type InAccount = Extract<AnyCall, { account: unknown }>;

/**
 * A call during its preparation, with access to other systems. Of the database it has what `read` reads, which holds a
 * connection for that long.
 */
export type Before<Call> = Omit<Call, 'services' | 'sql' | 'transact'> & {
  services: OutsideServices;
  read: <Found>(find: (sql: Sql) => Promise<Found>) => Promise<Found>;
};
