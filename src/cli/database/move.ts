import { rmSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { backUp } from '../../backups/back-up.ts';
import { incomplete } from '../../backups/incomplete.ts';
import type { Loaded } from '../../backups/load.ts';
import { loadInto, refuseUsedDatabase } from '../../backups/move.ts';
import { BackupReader } from '../../backups/reader.ts';
import { moveTargetIn, type Config } from '../../config.ts';
import { isCopy, moveHome } from '../../domain/platform/home.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { databasePlace, reasonOf } from '../../postgres/await-database.ts';
import { checkServer } from '../../postgres/check-server.ts';
import { databaseUrlProblem } from '../../postgres/database-url.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { refuseUnstarted } from './backup.ts';
import { counted } from './counted.ts';
import { openDatabase, withDatabase, type CommandContext } from './with-database.ts';
import { withProgress, type Showing } from './with-progress.ts';

/** The command `move`: copies the embedded database into another PostgreSQL, which becomes the installation's home. */
export async function moveDatabase(options: { to?: string }): Promise<void> {
  const to = options.to ?? moveTargetIn();
  if (to === undefined)
    throw new OperatorError('Where to? Set MOVE_TO_DATABASE_URL to the URL of an empty database, or give --to.');
  const problem = databaseUrlProblem(to);
  if (problem !== null)
    throw new OperatorError(`${options.to === undefined ? 'MOVE_TO_DATABASE_URL' : '--to'} ${problem}.`);
  await withProgress((showing) => withDatabase((context) => moveFrom(context, to, showing)));
}

async function moveFrom(context: CommandContext, to: string, showing: Showing): Promise<void> {
  const { config, databaseUrl: from } = context;
  if (config.databaseUrl !== null)
    throw new OperatorError('`move` moves the embedded database of DATA_DIR: call it without DATABASE_URL.');
  await openDatabase(context, async ({ sql }) => {
    await refuseUnstarted(sql);
    // The original sends from elsewhere.
    if (await isCopy(sql, config.publicUrl))
      throw new OperatorError('This database is a copy: start it with --adopt first.');
  });
  await checkTarget(to, from, config);
  const moved = await copyBy(join(config.dataDir, 'moving.backup'), { from, to, showing });
  await settle(context, to);
  showing.hide();
  tell(config.dataDir, to, moved);
}

async function checkTarget(to: string, from: string, config: Config): Promise<void> {
  try {
    await checkServer(to, config);
    await refuseUsedDatabase(to, from);
  } catch (error) {
    throw incomplete(error, 'move', `Check the database at ${databasePlace(to)}.`);
  }
}

async function copyBy(
  path: string,
  { from: url, to, showing: { progress, stopped } }: { from: string; to: string; showing: Showing },
): Promise<Loaded> {
  const remove = () => [path, `${path}.partial`].forEach((left) => rmSync(left, { force: true }));
  remove();
  try {
    const release = packageJson.version;
    await backUp({ url, path, release, key: null, listsObjects: false, progress, stopped });
    const reader = await BackupReader.open(path, (part) => progress(part, `Checking ${path}`));
    try {
      return await loadInto({ url: to, reader, progress, stopped });
    } finally {
      await reader.close();
    }
  } catch (error) {
    throw incomplete(error, 'move', 'The embedded database is as it was: move again.');
  } finally {
    remove();
  }
}

async function settle(context: CommandContext, to: string): Promise<void> {
  try {
    await openDatabase(context, (source) =>
      openDatabase({ ...context, databaseUrl: to }, (target) => moveHome(source.sql, target.sql)),
    );
  } catch (error) {
    throw new OperatorError(
      `Everything was copied to ${databasePlace(to)}, which is not the installation's home yet: ${reasonOf(error)}. Start once ` +
        'with DATABASE_URL and --adopt, and leave the embedded database stopped.',
      { cause: error },
    );
  }
}

function tell(dataDir: string, to: string, { tables, rows, leftOut }: Loaded): void {
  console.log(`Moved ${counted(tables, 'table')} with ${counted(rows, 'row')} to ${databasePlace(to)}.`);
  for (const name of leftOut) console.log(`Left out the table ${name}, which is not of Switchboard.`);
  console.log(
    `Start with DATABASE_URL and the same DATA_DIR, whose secret-key is needed: DATA_DIR=${shellWord(dataDir)} DATABASE_URL=… npx switchboard start`,
  );
  console.log(
    'The embedded database stays as it was, as a copy that sends nothing. Delete it when you do not need it any more.',
  );
}
