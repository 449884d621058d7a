import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { OperatorError } from '../lib/operator-error.ts';
import { createPrivateFolder } from '../lib/secrets/secret-file.ts';
import { startEmbeddedPostgres } from '../postgres/embedded/start.ts';
import { markFinished, markUnfinished } from '../postgres/embedded/unfinished.ts';
import { migrate } from '../postgres/migrate.ts';
import { migrations, unknownAmong } from '../postgres/migrations/index.ts';
import type { BackupHeader } from './format.ts';
import { incomplete } from './incomplete.ts';
import { load, type Loaded } from './load.ts';
import type { BackupReader } from './reader.ts';

/** The settings of a restore. */
export interface RestoreOptions {
  reader: BackupReader;
  dataDir: string;
  /** Called with the URL of the database when all rows are there. */
  check: (url: string) => Promise<void>;
  /** Called after the check, before the folder becomes usable. */
  completing: () => void;
  progress: (part: number, text: string) => void;
  /** Ends the restore, whose folder cannot be used then. */
  stopped: AbortSignal;
  log: Logger;
}

/** Throws OperatorError for a backup of a database that this release does not know. */
export function refuseNewer({ release, migrations: applied }: BackupHeader): void {
  const unknown = unknownAmong(applied);
  if (unknown.length === 0) return;
  throw new OperatorError(
    `This backup was made by release ${release}, which is newer: this release does not know the migration ` +
      `${unknown.at(-1)}. Restore it with release ${release}.`,
  );
}

/** Throws OperatorError where a folder has contents, or is none. */
export function refuseUsedFolder(dataDir: string): void {
  if (entriesOf(dataDir).length === 0) return;
  throw new OperatorError(`${resolve(dataDir)} is not empty: restore into a folder that is empty, or does not exist.`);
}

/**
 * Makes a DATA_DIR with the rows of a backup. The server's data is made anew, with an identifier of its own, by which the
 * installation notices that it is a copy. A folder that was begun and not completed is refused by every command.
 */
export async function restore(options: RestoreOptions): Promise<Loaded> {
  const { dataDir, completing } = options;
  createPrivateFolder(dataDir);
  markUnfinished(dataDir);
  const loaded = await fill(options).catch((error: unknown) => {
    throw incomplete(error, 'restore', `Delete ${dataDir}, which cannot be used, and restore again.`);
  });
  completing();
  markFinished(dataDir);
  return loaded;
}

async function fill({ reader, dataDir, check, progress, stopped, log }: RestoreOptions): Promise<Loaded> {
  const embedded = await startEmbeddedPostgres({ dataDir, restores: true, log });
  try {
    progress(0, 'Preparing the database');
    const applied = new Set(reader.header.migrations);
    await migrate(
      embedded.url,
      migrations.filter(({ name }) => applied.has(name)),
    );
    const loaded = await load({ url: embedded.url, reader, progress, stopped });
    await migrate(embedded.url);
    await check(embedded.url);
    return loaded;
  } finally {
    await embedded.stop();
  }
}

function entriesOf(dataDir: string): string[] {
  try {
    return readdirSync(dataDir);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new OperatorError(`${resolve(dataDir)} cannot be used: ${message}`);
  }
}
