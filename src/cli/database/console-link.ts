import { makeConsoleLink } from '../../app/start/console-link.ts';
import { serviceUrl } from '../../app/start/welcome.ts';
import type { Config } from '../../config.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { systemRandom } from '../../lib/ports.ts';
import { readServicePass } from '../../lib/service-pass.ts';
import { isMigrated } from '../../postgres/migrations/index.ts';
import { openDatabase, withDatabase } from './with-database.ts';

/** The command `console-link`: prints a link that signs a person in to the console once; the service may be running. */
export async function printConsoleLink({ email }: { email?: string }): Promise<void> {
  const work = (context: Parameters<typeof openDatabase>[0]) =>
    openDatabase(context, async (database) => {
      if (!(await isMigrated(database.sql)))
        throw new OperatorError('This database is not set up yet: start the service first.');
      const url = placeOf(context.config);
      const link = await makeConsoleLink({ database, random: systemRandom }, { url, email: email ?? null });
      if (link === null)
        throw new OperatorError(
          email ? `Nobody here has the e-mail address ${email}.` : 'There are no people in this database yet.',
        );
      console.log(`Opens the console, signed in, once and within 30 minutes:\n${link}`);
    });
  await withDatabase(work, { besideService: true });
}

// Where people reach the service; else where the last start listened.
function placeOf(config: Config): string {
  const { publicUrl, dataDir, host, port } = config;
  return publicUrl ?? readServicePass(dataDir)?.url ?? serviceUrl({ address: host, port, family: 'IPv4' });
}
