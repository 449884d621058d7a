import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './error.ts';

// In a DATA_DIR whose restore has not completed.
const markerName = 'restore-unfinished';

/** Marks a DATA_DIR as unusable until its restore has completed. Throws if it is marked already. */
export function markUnfinished(dataDir: string): void {
  writeFileSync(join(dataDir, markerName), 'A restore into this folder has not completed.\n', {
    flag: 'wx',
    flush: true,
  });
}

/** Takes the mark away. */
export function markFinished(dataDir: string): void {
  rmSync(join(dataDir, markerName));
}

/** Throws EmbeddedPostgresError for a DATA_DIR whose restore has not completed. */
export function refuseUnfinished(dataDir: string): void {
  if (!existsSync(join(dataDir, markerName))) return;
  throw new EmbeddedPostgresError(
    `The restore into ${dataDir} is running, or did not complete: this folder cannot be used. If no restore is running, ` +
      'delete the folder and restore the backup again.',
  );
}
