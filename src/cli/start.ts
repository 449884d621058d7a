import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { preparedFolder, projectRoot } from '../app/project-root.ts';
import { loadConfig } from '../config.ts';
import { createLog } from '../lib/log.ts';
import { StartPhases } from '../lib/start-phases.ts';
import { startEmbeddedPostgres } from '../postgres/embedded/start.ts';
import type * as Serve from '../app/serve.ts';

export interface StartOptions {
  /** Plugins in folders are installed again whenever a file changes. */
  watchPlugins?: boolean;
  /** Whether the place of the database becomes the installation's home, from which it sends. */
  adopt?: boolean;
  /** Whether to print how long each phase took. */
  timing?: boolean;
}

/**
 * Starts the service with the settings of the environment; shuts it down on a signal. This module imports little: loading the
 * others takes as long as the database and the plugins do, beside each other.
 */
export async function start({
  watchPlugins = false,
  adopt: adopts = false,
  timing = false,
}: StartOptions = {}): Promise<void> {
  // Beside the log, which may be JSON that a program reads.
  const print = (text: string): void => void process.stderr.write(`${text}\n`);
  const phases = new StartPhases(print);
  const config = await phases.run('settings', loadConfig);
  const log = createLog(config.logLevel);
  const { dataDir, databaseUrl, databaseStartTimeoutMs: timeoutMs } = config;
  const starting =
    databaseUrl === null
      ? phases.run(
          'database',
          () => startEmbeddedPostgres({ dataDir, timeoutMs, log, templates: join(preparedFolder, 'database') }),
          { sentence: 'Preparing the database …' },
        )
      : null;
  // A DATA_DIR that is not there is not wanted.
  const keptIn = [preparedFolder, ...(existsSync(dataDir) ? [dataDir] : [])].map((folder) => join(folder, 'plugins'));
  const reading = phases.run(
    'plugins',
    async () => {
      const { readRegistry } = await import('../packages/registry.ts');
      return readRegistry(projectRoot, { dirs: config.pluginDirs, keptIn });
    },
    { sentence: 'Reading the plugins …' },
  );
  const loading = phases.run('code', loadCode, { sentence: 'Loading the program …' });
  const [embedded, registry, { serve }] = await Promise.all([starting, reading, loading]);
  await serve({ config, log, embedded, registry, keptIn, watchPlugins, adopts, phases });
  const table = phases.end();
  if (timing) print(`\n${table}`);
}

// An import keeps this process from everything else: between the parts, the database's processes are waited on.
async function loadCode(): Promise<typeof Serve> {
  await turn();
  await import('../postgres/database.ts');
  await turn();
  await import('../api/index.ts');
  await turn();
  return import('../app/serve.ts');
}
