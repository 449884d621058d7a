import { ApiError } from '../../errors.ts';
import type { Transact } from '../../events/transaction.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Clock, Random } from '../../lib/ports.ts';
import { isMalformedValue } from '../../postgres/errors.ts';
import type { ChatwootClient } from './client.ts';
import type { FileCopier } from './files.ts';
import type { Reporter } from './report.ts';

/** What every step of an import needs. */
export interface Copying {
  client: ChatwootClient;
  /** The path of their account, behind `/api/v1`. */
  account: string;
  importId: number;
  transact: Transact;
  reporter: Reporter;
  clock: Clock;
  random: Random;
  /** Null where files are not to be copied. */
  files: FileCopier | null;
  /** Ends the work: what is being written is written to its end. */
  stopped: AbortSignal;
  /** Makes a secret for signatures; sealed. */
  sealNewSecret: () => string;
  /** Whether files that are gone there are missed no longer. */
  acceptsMissing: boolean;
  /** Whether clients get in by the identifier that they had there. */
  admitsClients: boolean;
  /** Shows how far a step is. */
  show: (step: string, done: number, of: number | null) => void;
}

/** By their ids: the ids here. */
export type Ids = Map<number, number>;

/** What was copied of the account's settings. */
export interface CopiedSettings {
  inboxes: Ids;
  agents: Ids;
  teams: Ids;
  /** Agents of the source who may be assigned in an inbox, by the ids here. */
  assignable: Map<number, ReadonlySet<number>>;
  /** Authors who work there no more. */
  authors: Ids;
}

/**
 * Does one record's work. A record that cannot be stored is left out with a sentence, and the import goes on; what concerns
 * all of them ends it.
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

// Integrity constraints: what it refers to was deleted meanwhile, or somebody took a name.
function isRefusedRow(error: unknown): boolean {
  for (let cause = error as { code?: unknown; cause?: unknown } | undefined; cause; cause = cause.cause as typeof cause)
    if (typeof cause.code === 'string' && cause.code.startsWith('23')) return true;
  return false;
}
