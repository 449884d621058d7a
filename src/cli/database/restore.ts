import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BackupReader } from '../../backups/reader.ts';
import { refuseNewer, refuseUsedFolder, restore } from '../../backups/restore.ts';
import { openKey } from '../../backups/sealed-key.ts';
import type { Loaded } from '../../backups/load.ts';
import { createLog } from '../../lib/log.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { counted } from './counted.ts';
import { readPassphrase } from './passphrase.ts';

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
  const bar = new ProgressBar();
  const progress = bar.show.bind(bar);
  const reader = await BackupReader.open(path, (part) => progress(part, `Checking ${path}`));
  try {
    const { header } = reader;
    refuseNewer(header);
    const key = keyOf(reader, options);
    console.log(`${path} is whole: release ${header.release}, ${header.createdAt}.`);
    const completing = () => keepKey(dataDir, key);
    const loaded = await restore({ reader, dataDir, completing, progress, log: createLog('warn') });
    bar.end();
    tell(dataDir, loaded, key !== null);
  } finally {
    bar.end();
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
  console.log(`Check it: DATA_DIR=${dataDir} npx switchboard verify`);
  console.log(
    `Start it: DATA_DIR=${dataDir} npx switchboard start\nIt is a copy, which sends nothing until a start with --adopt.`,
  );
}
