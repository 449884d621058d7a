import { readStored, storedBytes } from '../domain/bots/storage.ts';
import { readCurrent } from '../domain/conversations/current.ts';
import type { Database } from '../postgres/database.ts';
import { withHookContent } from '../records/hook-content.ts';
import { findMessages } from '../records/messages/message.ts';
import type { SandboxLog } from '../sandbox/parent/pool.ts';
import type { ReplyFileStore } from './reply-files.ts';
import type { RunPorts } from './run.ts';

export interface RunnerOptions extends RunPorts {
  database: Database;
  /** Bytes that a bot may store in an account, in all conversations and contacts together. */
  storageBytes: number;
  /** Stores files of replies; without it no bot can send any. */
  files?: Pick<ReplyFileStore, 'keep' | 'discard'>;
  /** Logs bots that come into quarantine. */
  log: SandboxLog;
}

/** Returns the ports of runs that read the database. */
export function runPortsOf(options: RunnerOptions): RunPorts {
  const { database, storageBytes } = options;
  return {
    ...options,
    readHook: (accountId, event) => withHookContent(database.sql, accountId, event),
    readMessages: ({ accountId, conversationId }, window) =>
      findMessages(database.sql, accountId, conversationId, window),
    doors: {
      ...options.doors,
      customers: { database },
      current: (place, now) => readCurrent(database.sql, place, now),
      storage: {
        read: (place, key, now) => readStored(database.sql, place, key, now),
        used: (place, now) => storedBytes(database.sql, place, now),
        maxBytes: storageBytes,
      },
    },
  };
}
