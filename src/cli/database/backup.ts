import packageJson from '../../../package.json' with { type: 'json' };
import { checkSecretKey } from '../../app/start/check-secret-key.ts';
import { backUp, objectsPath, type BackedUp } from '../../backups/back-up.ts';
import { sealKey, type SealedKey } from '../../backups/sealed-key.ts';
import type { Config } from '../../config.ts';
import { hasHome } from '../../domain/platform/home.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { systemRandom } from '../../lib/ports.ts';
import { createSecretBox } from '../../lib/secrets/secret-box.ts';
import type { Database } from '../../postgres/database.ts';
import { isMigrated } from '../../postgres/migrations/index.ts';
import type { Sql } from '../../postgres/sql.ts';
import { counted } from './counted.ts';
import { readPassphrase } from './passphrase.ts';
import { openDatabase, withDatabase, type CommandContext } from './with-database.ts';
import { withProgress } from './with-progress.ts';

/** The options of `backup`. */
export interface BackupOptions {
  withKey?: boolean;
  passphraseFile?: string;
}

/** The command `backup`: writes the whole database, as it is at one moment, into a file; the service may be running. */
export async function backUpDatabase(path: string, { withKey = false, passphraseFile }: BackupOptions): Promise<void> {
  if (withKey !== (passphraseFile !== undefined))
    throw new OperatorError('--with-key and --passphrase-file FILE belong together: the passphrase seals the key.');
  const passphrase = passphraseFile === undefined ? null : readPassphrase(passphraseFile);
  await withDatabase((context) => backUpFrom(context, path, passphrase), { besideService: true });
}

/** Throws OperatorError for a database without a home: a copy of it could not know that it is one. */
export async function refuseUnstarted(sql: Sql): Promise<void> {
  if ((await isMigrated(sql)) && (await hasHome(sql))) return;
  throw new OperatorError('This release has not been started on this database yet: start it once, then try again.');
}

async function backUpFrom(context: CommandContext, path: string, passphrase: string | null): Promise<void> {
  const { config, databaseUrl: url } = context;
  await openDatabase(context, (database) => check(database, config, passphrase !== null));
  const key: SealedKey | null = passphrase === null ? null : sealKey(config.secretKey, passphrase);
  const backedUp = await withProgress(({ progress, stopped }) =>
    backUp({ url, path, release: packageJson.version, key, listsObjects: true, progress, stopped }),
  );
  tell(path, backedUp, key !== null);
}

async function check(database: Database, config: Config, withKey: boolean): Promise<void> {
  await refuseUnstarted(database.sql);
  if (!withKey) return;
  if (config.secretKey !== config.secretKey.trim())
    throw new OperatorError(
      'SECRET_KEY begins or ends with white space, which the secret-key of a restored folder could not keep: back up without ' +
        '--with-key, and keep the key yourself.',
    );
  await checkSecretKey(database, createSecretBox(config.secretKey, systemRandom));
}

function tell(path: string, { tables, rows, bytes, sha256, objects }: BackedUp, hasKey: boolean): void {
  console.log(
    `Backed up ${counted(tables, 'table')} with ${counted(rows, 'row')} into ${path}, ${counted(bytes, 'byte')}.`,
  );
  console.log(`SHA-256: ${sha256}`);
  console.log(
    hasKey
      ? 'SECRET_KEY is in the backup, sealed with the passphrase.'
      : 'SECRET_KEY is not in the backup: keep it (DATA_DIR/secret-key, where it is not set) in another place. A restored database needs it.',
  );
  if (objects > 0)
    console.log(
      `${counted(objects, 'file')} of conversations are in the object store, and not in the backup: ${objectsPath(path)} ` +
        'lists their keys. Keep them, or copy them too.',
    );
}
