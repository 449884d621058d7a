import { checkSecretKey } from '../../app/start/check-secret-key.ts';
import { neutralize } from '../../domain/platform/neutralize.ts';
import { transactOutside } from '../../events/transaction.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { systemRandom } from '../../lib/ports.ts';
import { createSecretBox, newWebhookSecret } from '../../lib/secrets/secret-box.ts';
import { migrate, tellWait } from '../../postgres/migrate.ts';
import { isMigrated, migrations } from '../../postgres/migrations/index.ts';
import type { Database } from '../../postgres/database.ts';
import { isSure } from '../terminal/confirm.ts';
import { openDatabase, withDatabase, type CommandContext } from './with-database.ts';

const question =
  'Pause all webhooks and all servers of bots in this database, replace their secrets, and send from here?';

/** The command `neutralize`: makes a copy of an installation harmless, then lets it send; its service may be running. */
export async function neutralizeCopy({ yes = false }: { yes?: boolean }): Promise<void> {
  const answer = yes || (await isSure(question));
  if (answer === null) throw new OperatorError(`${question} Give --yes to do that without being asked.`);
  if (!answer) return console.log('Nothing was changed.');
  await withDatabase(neutralizeIn, { besideService: true });
}

async function neutralizeIn(context: CommandContext): Promise<void> {
  await openDatabase(context, async (database) => {
    await migrateIfNeeded(context, database);
    const secretBox = createSecretBox(context.config.secretKey, systemRandom);
    await checkSecretKey(database, secretBox);
    const makeSecret = () => secretBox.seal(newWebhookSecret(systemRandom));
    const { webhooks, bots } = await transactOutside(database, (tx) => neutralize(tx, context.config, makeSecret));
    console.log(
      `Paused ${webhooks} webhooks and ${bots} servers of bots, and replaced their secrets. This installation sends now: ` +
        'change the URLs of what you resume.',
    );
  });
}

// A dump of an older release: its service may not have been started yet.
async function migrateIfNeeded({ config, databaseUrl, log }: CommandContext, database: Database): Promise<void> {
  if (await isMigrated(database.sql)) return;
  await migrate(databaseUrl, migrations, { timeoutMs: config.databaseStartTimeoutMs, waiting: tellWait({ log }) });
}
