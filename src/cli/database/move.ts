import { rmSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { backUp } from '../../backups/back-up.ts';
import { incomplete } from '../../backups/incomplete.ts';
import { loadInto, refuseUsedDatabase } from '../../backups/move.ts';
import { BackupReader } from '../../backups/reader.ts';
import type { Config } from '../../config.ts';
import { moveHome } from '../../domain/platform/home.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { databasePlace } from '../../postgres/await-database.ts';
import { checkServer } from '../../postgres/check-server.ts';
import { databaseUrlProblem } from '../../postgres/database-url.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { refuseUnstarted } from './backup.ts';
import { counted } from './counted.ts';
import { openDatabase, withDatabase, type CommandContext } from './with-database.ts';

/** The command `move`: copies the embedded database into another PostgreSQL, which becomes the installation's home. */
export async function moveDatabase({ to }: { to: string }): Promise<void> {
  const problem = databaseUrlProblem(to);
  if (problem !== null) throw new OperatorError(`--to ${problem}.`);
  await withDatabase((context) => moveFrom(context, to));
}

async function moveFrom(context: CommandContext, to: string): Promise<void> {
  const { config } = context;
  if (config.databaseUrl !== null)
    throw new OperatorError('`move` moves the embedded database of DATA_DIR: call it without DATABASE_URL.');
  await openDatabase(context, (database) => refuseUnstarted(database.sql));
  await checkTarget(to, config);
  const path = join(config.dataDir, 'moving.backup');
  for (const left of [path, `${path}.partial`]) rmSync(left, { force: true });
  const bar = new ProgressBar();
  try {
    const moved = await copyBy(path, { from: context.databaseUrl, to, bar });
    await openDatabase(context, (source) =>
      openDatabase({ ...context, databaseUrl: to }, (target) => moveHome(source.sql, target.sql)),
    );
    tell(config.dataDir, to, moved);
  } finally {
    bar.end();
    rmSync(path, { force: true });
  }
}

async function checkTarget(to: string, config: Config): Promise<void> {
  try {
    await checkServer(to, config);
    await refuseUsedDatabase(to);
  } catch (error) {
    throw incomplete(error, 'move', `Check the database at ${databasePlace(to)}.`);
  }
}

async function copyBy(path: string, { from, to, bar }: { from: string; to: string; bar: ProgressBar }) {
  const progress = bar.show.bind(bar);
  await backUp({ url: from, path, release: packageJson.version, key: null, progress });
  const reader = await BackupReader.open(path, (part) => progress(part, `Checking ${path}`));
  try {
    return await loadInto(to, reader, progress);
  } finally {
    await reader.close();
  }
}

function tell(dataDir: string, to: string, { tables, rows }: { tables: number; rows: number }): void {
  console.log(`Moved ${counted(tables, 'table')} with ${counted(rows, 'row')} to ${databasePlace(to)}.`);
  console.log(
    `Start with DATABASE_URL and the same DATA_DIR, whose secret-key is needed: DATA_DIR=${dataDir} DATABASE_URL=… npx switchboard start`,
  );
  console.log(
    'The embedded database stays as it was, as a copy that sends nothing. Delete it when you do not need it any more.',
  );
}
