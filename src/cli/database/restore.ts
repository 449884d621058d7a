import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { incomplete } from '../../backups/incomplete.ts';
import type { Loaded } from '../../backups/load.ts';
import { BackupReader } from '../../backups/reader.ts';
import { refuseNewer, refuseUsedFolder, restore } from '../../backups/restore.ts';
import { openKey } from '../../backups/sealed-key.ts';
import { sqlOf, withSession } from '../../backups/session.ts';
import { hasDatabaseUrl } from '../../config.ts';
import { opensSecrets } from '../../domain/platform/sealed-word.ts';
import { createLog } from '../../lib/log.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { systemRandom } from '../../lib/ports.ts';
import { createSecretBox } from '../../lib/secrets/secret-box.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { counted } from './counted.ts';
import { readPassphrase } from './passphrase.ts';
import { withProgress, type Showing } from './with-progress.ts';

/** The options of `restore`. */
export interface RestoreOptions {
  dataDir: string;
  passphraseFile?: string;
  /** False with --no-key: the key in the backup is left there. */
  key: boolean;
}

/** The command `restore`: makes a DATA_DIR with the embedded database from a backup. */
export async function restoreDatabase(path: string, options: RestoreOptions): Promise<void> {
  const dataDir = resolve(options.dataDir);
  refuseUsedFolder(dataDir);
  await withProgress((showing) => restoreInto(path, { ...options, dataDir }, showing));
}

async function restoreInto(path: string, options: RestoreOptions, { progress, stopped, hide }: Showing): Promise<void> {
  const { dataDir } = options;
  const reader = await BackupReader.open(path, (part) => progress(part, `Checking ${path}`)).catch((error: unknown) => {
    throw incomplete(error, 'restore', 'Nothing was made.');
  });
  try {
    const { header } = reader;
    refuseNewer(header);
    const key = keyOf(reader, options);
    hide();
    console.log(`${path} is whole: release ${header.release}, ${header.createdAt}.`);
    const check = (url: string) => checkKey(url, key, dataDir);
    const completing = () => keepKey(dataDir, key);
    const loaded = await restore({ reader, dataDir, check, completing, progress, stopped, log: createLog('warn') });
    hide();
    tell(dataDir, loaded, key !== null);
  } finally {
    await reader.close();
  }
}

function keyOf({ header: { key } }: BackupReader, { passphraseFile, key: isWanted }: RestoreOptions): string | null {
  if (passphraseFile === undefined) {
    if (key === null || !isWanted) return null;
    throw new OperatorError(
      'SECRET_KEY is in this backup, sealed with a passphrase: name its file with --passphrase-file, or restore without the ' +
        'key with --no-key.',
    );
  }
  if (key !== null) return openKey(key, readPassphrase(passphraseFile));
  throw new OperatorError('This backup has no key for the passphrase to open: leave --passphrase-file out.');
}

async function checkKey(url: string, key: string | null, dataDir: string): Promise<void> {
  if (key === null) return;
  const box = createSecretBox(key, systemRandom);
  const opens = await withSession({ url, name: 'switchboard restore' }, (client) => opensSecrets(sqlOf(client), box));
  if (opens) return;
  throw new OperatorError(
    `The key in this backup does not open the secrets in it. Delete ${dataDir}, which cannot be used, and restore with --no-key.`,
  );
}

function keepKey(dataDir: string, key: string | null): void {
  if (key !== null) writeFileSync(join(dataDir, 'secret-key'), `${key}\n`, { mode: 0o600, flush: true });
}

function tell(dataDir: string, { tables, rows, leftOut }: Loaded, hasKey: boolean): void {
  console.log(`Restored ${counted(tables, 'table')} with ${counted(rows, 'row')} into ${dataDir}.`);
  for (const name of leftOut) console.log(`Left out the table ${name}, which is not of Switchboard.`);
  console.log(
    hasKey
      ? 'SECRET_KEY is restored as well, as secret-key in the folder.'
      : `SECRET_KEY is not restored: set it to the original's, or copy the original's DATA_DIR/secret-key to ${join(dataDir, 'secret-key')}.`,
  );
  // They would act on that database, which is production's more often than not.
  const cleared = hasDatabaseUrl() ? 'DATABASE_URL= DATABASE_URL_FILE= ' : '';
  const there = `${cleared}DATA_DIR=${shellWord(dataDir)} npx switchboard`;
  console.log(`Check it: ${there} verify`);
  console.log(`Start it: ${there} start\nIt is a copy, which sends nothing until a start with --adopt.`);
}
