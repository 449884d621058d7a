import { fileURLToPath } from 'node:url';
import { systemRandom as random } from '../../lib/ports.ts';
import { createSecretBox } from '../../lib/secrets/secret-box.ts';
import { migrate } from '../../postgres/migrate.ts';
import { readRegistry } from '../../packages/registry.ts';
import { checkSecretKey } from '../../app/start/check-secret-key.ts';
import { installFolderPlugins } from '../../app/start/install-folders.ts';
import { furnishingOf, seed } from '../../app/start/seed.ts';
import { openDatabase, withDatabase } from './with-database.ts';

const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** The command `seed`: migrates and seeds the database; prints the administrator's token if it was generated. */
export async function seedDatabase(): Promise<void> {
  await withDatabase(async (context) => {
    await migrate(context.databaseUrl);
    await openDatabase(context, async (database) => {
      const { bootstrapAdminToken: adminToken, pluginDirs, secretKey } = context.config;
      const secretBox = createSecretBox(secretKey, random);
      await checkSecretKey(database, secretBox);
      await installFolderPlugins(database, await readRegistry(projectRoot, { dirs: pluginDirs }), {
        seal: secretBox.seal,
      });
      const furnishing = furnishingOf(context.config, { random, secretBox });
      const seeded = await seed({ database, random, adminToken, furnishing });
      if (!seeded) console.log('There are accounts already: nothing was changed.');
      else console.log(`Seeded. Access token of the administrator: ${seeded.generatedToken ?? 'as configured'}`);
    });
  });
}
