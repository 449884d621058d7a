import { OutdatedIdentity } from '../../../domain/people/remembered-identities.ts';
import { ApiError, busy } from '../../../errors.ts';
import type { Sql } from '../../../postgres/sql.ts';

/** Whether the caller is still as admitted; `lock` keeps the token from being revoked until the transaction ends. */
export type Holds = (sql: Sql, lock: boolean) => Promise<boolean>;

/**
 * Verifies in the first transaction of a call that its caller is still as admitted. Between the two a body arrives and
 * preparations wait for other systems: long enough for a token to be reset.
 */
export class Proof {
  readonly #holds: Holds;
  readonly #failed: () => void;
  #isGiven = false;
  #isCommitted = false;

  constructor(holds: Holds, failed: () => void = () => undefined) {
    this.#holds = holds;
    this.#failed = failed;
  }

  /** Whether a transaction verified it. */
  get isGiven(): boolean {
    return this.#isGiven;
  }

  /**
   * Verifies the caller in a transaction, unless an earlier transaction of the call did and committed: that one may have
   * removed the caller. Errors: OutdatedIdentity.
   */
  async verify(sql: Sql): Promise<void> {
    if (this.#isCommitted) return;
    this.#isGiven = false;
    await this.#require(sql, true);
    this.#isGiven = true;
  }

  /** Notes that the transaction which verified the caller has committed. */
  committed(): void {
    this.#isCommitted = this.#isGiven;
  }

  /** Verifies the caller for the moment, outside of transactions. Errors: OutdatedIdentity. */
  async check(sql: Sql): Promise<void> {
    await this.#require(sql, false);
  }

  async #require(sql: Sql, lock: boolean): Promise<void> {
    if (await this.#holds(sql, lock)) return;
    this.#failed();
    throw new OutdatedIdentity();
  }
}

interface Proven {
  sql: Sql;
  proof?: Proof | null;
}

// A caller may change again and again, such as by a new name.
const maxAdmissions = 3;

/**
 * Answers a caller who is verified in the first transaction of `answer`, or after it where there is none: the answer to
 * somebody else, and the refusal, tell what the caller may not know. Somebody who is not as admitted is admitted anew.
 */
export async function answerProven<Caller extends Proven, Answer>(
  admitted: Caller,
  { readmit, answer }: { readmit: () => Promise<Caller>; answer: (caller: Caller) => Promise<Answer> },
): Promise<Answer> {
  let present = admitted;
  for (let admission = 1; admission < maxAdmissions; admission += 1) {
    try {
      return await answerOnce(present, answer);
    } catch (error) {
      if (!(error instanceof OutdatedIdentity)) throw error;
    }
    // Nothing was changed.
    present = await readmit();
  }
  throw busy();
}

async function answerOnce<Caller extends Proven, Answer>(
  caller: Caller,
  answer: (caller: Caller) => Promise<Answer>,
): Promise<Answer> {
  const { proof, sql } = caller;
  const verifyLate = async (): Promise<void> => {
    if (proof && !proof.isGiven) await proof.check(sql);
  };
  try {
    const answered = await answer(caller);
    await verifyLate();
    return answered;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) await verifyLate();
    throw error;
  }
}
