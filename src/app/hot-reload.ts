import { watch, type FSWatcher } from 'node:fs';
import type { Config } from '../config.ts';
import { pluginDirsOf } from '../packages/folders.ts';
import { readRegistry } from '../packages/registry.ts';
import type { SecretBox } from '../lib/secrets/secret-box.ts';
import type { Database } from '../postgres/database.ts';
import { installFolderPlugins } from './start/install-folders.ts';
import type { AppOptions, Phase } from './parts/mechanisms.ts';
import { projectRoot } from './project-root.ts';

// Editors write a file in several steps.
const settleMs = 200;

interface Reloaded {
  options: Pick<AppOptions, 'pluginRoot' | 'keptIn'>;
  config: Pick<Config, 'pluginDirs'>;
  databases: { requests: Database };
  phase: Phase;
  secretBox: Pick<SecretBox, 'seal'>;
  log: { info: (fields: object, message: string) => void; warn: (fields: object, message: string) => void };
  warn: (error: unknown) => void;
}

/**
 * Installs the plugins in folders again whenever a file there changes, without asking for approval: for the developer of a
 * plugin. The returned function ends that.
 */
export function reloadOnChange(parts: Reloaded): () => Promise<void> {
  const { config, warn } = parts;
  const root = parts.options.pluginRoot ?? projectRoot;
  let timer: NodeJS.Timeout | undefined;
  let reloading = Promise.resolve();
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reloading = reloading.then(() => reload(parts, root)).catch(warn);
    }, settleMs);
  };
  const watchers = pluginDirsOf(root, config.pluginDirs).flatMap(({ path }) => watchIfThere(path, changed));
  return async () => {
    for (const watcher of watchers) watcher.close();
    clearTimeout(timer);
    await reloading;
  };
}

function watchIfThere(path: string, changed: () => void): FSWatcher[] {
  try {
    return [watch(path, { recursive: true }, changed).on('error', () => undefined)];
  } catch {
    return [];
  }
}

async function reload({ options, config, databases, phase, secretBox, log }: Reloaded, root: string): Promise<void> {
  const registry = await readRegistry(root, { dirs: config.pluginDirs, keptIn: options.keptIn ?? [] });
  phase.leftOut = await installFolderPlugins(databases.requests, registry, { trusted: true, seal: secretBox.seal });
  for (const { directory, problems } of phase.leftOut) log.warn({ directory, problems }, 'plugin left out');
  log.info({ plugins: registry.list().map(({ id, manifest }) => `${id}@${manifest.version}`) }, 'plugins read again');
}
