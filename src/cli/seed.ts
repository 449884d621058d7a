import { fileURLToPath } from 'node:url';
import { systemRandom } from '../lib/ports.ts';
import { migrate } from '../postgres/migrate.ts';
import { readRegistry } from '../packages/registry.ts';
import { installFolderPlugins } from '../app/install-folders.ts';
import { seed } from '../app/seed.ts';
import { openDatabase, withDatabase } from './with-database.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** The command `seed`: migrates and seeds the database; prints the administrator's token if it was generated. */
export async function seedDatabase(): Promise<void> {
  await withDatabase(async (context) => {
    await migrate(context.databaseUrl);
    await openDatabase(context, async (database) => {
      const { bootstrapAdminToken: adminToken, demo } = context.config;
      await installFolderPlugins(database, await readRegistry(projectRoot, { dirs: context.config.pluginDirs }));
      const seeded = await seed({ database, random: systemRandom, adminToken, demo });
      if (!seeded) console.log('There are accounts already: nothing was changed.');
      else console.log(`Seeded. Access token of the administrator: ${seeded.generatedToken ?? 'as configured'}`);
    });
  });
}
