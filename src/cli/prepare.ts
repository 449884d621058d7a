import { join } from 'node:path';
import { createLog } from '../lib/log.ts';
import { noteLoading } from '../packages/read/kept-readings.ts';
import { findLoadProblems } from '../packages/read/load-check.ts';
import { readerCode } from '../packages/read/read-in-process.ts';
import { readRegistry } from '../packages/registry.ts';
import { hasBinaries } from '../postgres/embedded/binaries.ts';
import { makeTemplate } from '../postgres/embedded/template.ts';
import { migrate } from '../postgres/migrate.ts';
import { loadOrBuild } from '../site/site.ts';
import { preparedFolder, projectRoot } from '../app/project-root.ts';

/**
 * Prepares parts of a start: pages, plugins, the template of databases, and compiled code, which Node writes when this process
 * ends. A part that fails here is left to the start, which reports the problem.
 */
export async function prepare(): Promise<void> {
  const parts = {
    pages: loadOrBuild(projectRoot),
    children: prepareChildren(),
    plugins: preparePlugins(),
    database: prepareDatabase(),
  };
  await Promise.all(
    Object.entries(parts).map(([name, making]) =>
      making.catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        console.error(`Not prepared, so starts take longer: ${name}: ${reason}`);
      }),
    ),
  );
  await Promise.all([import('./start.ts'), import('../app/serve.ts'), import('../jobs/agenda.ts')]);
}

/** Writes the code of child processes as JavaScript. */
async function prepareChildren(): Promise<void> {
  const { sandboxCommand } = await import('../sandbox/child-process.ts');
  readerCode();
  // The command names the code that it may read.
  sandboxCommand(0);
}

/** Bundles the shipped plugins, and notes which of them load. */
export async function preparePlugins(): Promise<void> {
  const keptIn = [join(preparedFolder, 'plugins')];
  const { claimants } = await readRegistry(projectRoot, { keptIn });
  const plugins = [...claimants.values()]
    .flat()
    .filter((one) => 'manifest' in one)
    .filter(({ loads }) => !loads);
  const problems = await findLoadProblems(plugins);
  for (const plugin of plugins) if (!problems.has(plugin)) await noteLoading(plugin.path, keptIn);
}

async function prepareDatabase(): Promise<void> {
  // Images are made without it.
  if (!hasBinaries()) return;
  await makeTemplate(join(preparedFolder, 'database'), { fill: migrate, log: createLog('error') });
}
