import { fileURLToPath } from 'node:url';
import { Database } from '../database.ts';
import { systemClock, systemRandom } from '../lib/ports.ts';
import { migrate } from '../migrate.ts';
import { readRegistry } from '../runtime/registry.ts';
import { seed } from '../seed.ts';
import { withDatabase, type CommandContext } from './with-database.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Migrates and seeds the configured database; prints the administrator's token when it was generated. */
export async function seedDatabase(): Promise<void> {
  await withDatabase(async (context) => {
    await migrate(context.databaseUrl);
    const database = openDatabase(context);
    try {
      const { bootstrapAdminToken: adminToken, demo } = context.config;
      const registry = await readRegistry(projectRoot);
      const seeded = await seed({ database, registry, random: systemRandom, adminToken, demo });
      if (!seeded) console.log('There are accounts already: nothing was changed.');
      else console.log(`Seeded. Access token of the administrator: ${seeded.generatedToken ?? 'as configured'}`);
    } finally {
      await database.close();
    }
  });
}

function openDatabase({ config, databaseUrl, log }: CommandContext): Database {
  return new Database({
    url: databaseUrl,
    poolMax: config.databasePoolMax,
    statementTimeoutMs: config.statementTimeoutMs,
    clock: systemClock,
    warn: (message) => log.debug(message),
    failed: (error) => log.error({ err: error }, 'work after a commit failed'),
  });
}
