import { existsSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const sqliteBusy = 5;

/**
 * Takes the lock that the file stands for, and makes the file when it is missing. Returns what gives the lock back, or
 * null when it is held, by this process or another.
 *
 * Node has no file locks of its own; SQLite's are the operating system's, which end with their holder however it dies.
 * A file that names its holder's process id could not tell a dead holder from another process with the same number.
 */
export function tryLock(path: string): (() => void) | null {
  // SQLite would let others read it, and with it lock it. Opening it here while it is held would give the lock away.
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 });
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === sqliteBusy) return null;
    throw error;
  }
}
