import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../database.ts';
import type { Named } from '../entities/conversation.ts';
import { isRetryable } from '../lib/sql-errors.ts';
import { flushOutbox, type RecordedEvent } from './outbox.ts';

/**
 * On whose behalf something is done. `depth` counts how many bot runs stand between a customer's word and this: 0 for
 * people, one more than that of the event it answers for a bot.
 */
export interface Actor {
  kind: 'user' | 'agent_bot' | 'contact' | 'system';
  /** Null for the service, and for a contact that is not there yet. */
  id: number | null;
  name: string;
  /** A user's role in the account; null for everybody else. */
  role: 'administrator' | 'agent' | null;
  email: string | null;
  avatarUrl: string | null;
  depth: number;
}

/** The service itself: alarms, and the consequences of failures. */
export const system: Actor = {
  kind: 'system',
  id: null,
  name: 'Switchboard',
  role: null,
  email: null,
  avatarUrl: null,
  depth: 0,
};

/** One transaction of one account: rows change through `em`, events are said through `record`. */
export interface Transaction {
  em: EntityManager;
  account: Named;
  actor: Actor;
  /** The business time of everything in it. */
  now: Date;
  recorded: RecordedEvent[];
  /** Moments at which a snooze it set ends: told to the alarm clock after the commit. */
  snoozes: Date[];
}

async function perform<Result>(tx: Transaction, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  const answer = await work(tx);
  await tx.em.flush();
  await flushOutbox(tx);
  return answer;
}

/**
 * Runs `work` as a part of a transaction that is under way, and with which its rows, events and deliveries commit. Nobody
 * is told of that: engine and alarm clock find the work when they next look.
 */
export function transactWithin<Result>(
  outer: EntityManager,
  scope: { account: Named; actor: Actor; now: Date },
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return outer.transactional((em) => perform({ em, ...scope, recorded: [], snoozes: [] }, work));
}

const tries = 5;

/**
 * Runs `work` in one transaction and commits its rows, events and deliveries together; whatever it throws undoes all
 * of it. Work that met a deadlock is run again, so it must not do anything but talk to the database.
 */
export async function transact<Result>(
  database: Database,
  scope: { account: Named; actor: Actor },
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const recorded: RecordedEvent[] = [];
    const snoozes: Date[] = [];
    try {
      const result = await database.em().transactional(async (em) => {
        return perform({ em, ...scope, now: database.clock.now(), recorded, snoozes }, work);
      });
      if (recorded.length > 0) database.announce('deliveries');
      for (const until of snoozes) database.announce('snooze', until);
      return result;
    } catch (error) {
      if (attempt >= tries || !isRetryable(error)) throw error;
    }
  }
}

/**
 * Runs work that belongs to no account in one transaction, again after a deadlock; within a transaction that is under way
 * as a part of that.
 */
export async function transactOutsideAccounts<Result>(
  em: EntityManager,
  work: (inner: EntityManager) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await em.transactional(work);
    } catch (error) {
      if (em.isInTransaction() || attempt >= tries || !isRetryable(error)) throw error;
      // What it read before is of the transaction that was undone.
      em.clear();
    }
  }
}
