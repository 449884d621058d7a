import { existsSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const sqliteBusy = 5;

/**
 * Locks a file, creating it if necessary. Returns the function that releases the lock, or null if this or another
 * process holds it.
 *
 * Node has no file locks. SQLite uses those of the operating system, which end with the process, however it dies. A
 * file with the holder's process id would be no substitute: after a crash, another process may get the same id.
 */
export function tryLock(path: string): (() => void) | null {
  // SQLite would create the file readable for other users, who could then lock it. An existing file is not opened here,
  // because closing it would release a lock that this process holds (POSIX).
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
