import { ApiError } from '../../errors.ts';
import type { Transact } from '../../events/transaction.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Clock, Random } from '../../lib/ports.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import { isMalformedValue } from '../../postgres/errors.ts';
import type { ChatwootClient } from './client.ts';
import type { FileCopier } from './files.ts';
import type { Reporter } from './report.ts';

/** Parameters and services of every step of an import. */
export interface Copying {
  client: ChatwootClient;
  /** Path of the Chatwoot account, behind `/api/v1`. */
  account: string;
  importId: number;
  transact: Transact;
  reporter: Reporter;
  clock: Clock;
  random: Random;
  /** Null where files are not to be copied. */
  files: FileCopier | null;
  /** Ends the work; a write in progress is completed. */
  stopped: AbortSignal;
  /** Seals secrets. */
  secretBox: SecretBox;
  /** Makes a secret for signatures; sealed. */
  sealNewSecret: () => string;
  /** Whether files that are gone in Chatwoot are accepted as missing. */
  acceptsMissing: boolean;
  /** Whether clients are admitted by the identifier that they had in Chatwoot. */
  admitsClients: boolean;
  /** Shows the progress of a step. */
  show: (step: string, done: number, of: number | null) => void;
}

/** Ids here by Chatwoot's ids. */
export type Ids = Map<number, number>;

/** Copied settings of the account. */
export interface CopiedSettings {
  inboxes: Ids;
  agents: Ids;
  teams: Ids;
  /** Ids of agents who may be assigned in an inbox, by the inbox's id: all of them ids here. */
  assignable: Map<number, ReadonlySet<number>>;
  /** Authors who have left the Chatwoot account. */
  authors: Ids;
}

/**
 * Does one record's work. If the record cannot be stored, `leaveOut` gets a sentence and the import goes on; rethrows errors
 * that concern all records.
 */
export async function attempt<Result>(
  work: () => Promise<Result>,
  leaveOut: (why: string) => void,
): Promise<Result | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const isOfRecord =
      (error instanceof ApiError && error.status < 500) || isMalformedValue(error) || isRefusedRow(error);
    if (!isOfRecord) throw error;
    leaveOut(error instanceof Error ? error.message : String(error));
    return null;
  }
}

// Integrity constraints: a row that this one refers to was deleted meanwhile, or its name was taken.
function isRefusedRow(error: unknown): boolean {
  for (let cause = error as { code?: unknown; cause?: unknown } | undefined; cause; cause = cause.cause as typeof cause)
    if (typeof cause.code === 'string' && cause.code.startsWith('23')) return true;
  return false;
}
