import { setTimeout as wait } from 'node:timers/promises';
import { findBundle, readRevision, readRunnable, type Runnable } from '../domain/plugins/registry.ts';
import { readStoredManifest, type Manifest } from '../packages/manifest/manifest.ts';
import { bundleOf } from '../packages/manifest/parts.ts';
import type { Database } from '../postgres/database.ts';
import type { BotPart } from '../records/bots/part.ts';
import type { Bundle } from '../sandbox/run.ts';

/** A part of a plugin that bots can run. */
export interface InstalledPlugin {
  id: string;
  manifest: Manifest;
  bundle: Bundle;
}

interface InstalledPluginsOptions {
  database: Database;
  /** Milliseconds between two checks for changed plugins whose announcement was missed. */
  pollMs: number;
  /** Characters of code and manifests that are kept in memory, of the plugins that ran last. */
  maxChars: number;
  failed: (error: unknown) => void;
}

// Characters that a plugin takes besides its texts, mainly for its compiled settings.
const overheadChars = 32 * 1024;

/**
 * The plugins of the service as this process knows them: which code each runs, read again when plugins have changed, and
 * the code of those that ran lately. The others are read from the database when they run.
 */
export class InstalledPlugins {
  readonly #options: InstalledPluginsOptions;
  readonly #stopping = new AbortController();
  #revision = -1;
  #runnable: ReadonlyMap<string, Runnable> = new Map();
  // In the order of their last use.
  readonly #loaded = new Map<string, { parts: readonly InstalledPlugin[]; chars: number }>();
  #chars = 0;
  #polling: Promise<void> = Promise.resolve();

  constructor(options: InstalledPluginsOptions) {
    this.#options = options;
  }

  /** Follows changes until `stop`. */
  start(): void {
    this.#polling = this.#poll();
  }

  /** Looks at once whether plugins have changed. */
  poke(): void {
    void this.refresh().catch(this.#options.failed);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#polling;
  }

  /** The part in the version of the plugin that runs; null if the plugin is not installed, not approved or disabled. */
  async find(id: string, part: BotPart): Promise<InstalledPlugin | null> {
    if (!this.#runnable.has(id)) await this.refresh();
    const hash = this.#runnable.get(id)?.hash;
    if (hash === undefined) return null;
    return (await this.#load(hash)).find(({ manifest }) => manifest.kind === part) ?? null;
  }

  // None when they are not stored any more.
  async #load(hash: string): Promise<readonly InstalledPlugin[]> {
    const known = this.#loaded.get(hash);
    if (known) {
      this.#loaded.delete(hash);
      this.#loaded.set(hash, known);
      return known.parts;
    }
    const found = await findBundle(this.#options.database.sql, hash);
    if (!found) return [];
    const { id, parts } = readStoredManifest(found.manifest);
    const bundle = { hash, code: found.code };
    const plugins = parts.map((manifest) => ({ id, manifest, bundle: bundleOf(bundle, manifest) }));
    this.#keep(hash, plugins, found.code.length + found.manifest.length + overheadChars);
    return plugins;
  }

  /** The plugins that can run, as `id@version`, ordered. */
  async list(): Promise<string[]> {
    await this.refresh();
    return this.known;
  }

  /** Like `list`, as far as this process has heard. */
  get known(): string[] {
    return [...this.#runnable].map(([id, { version }]) => `${id}@${version}`);
  }

  /** Reads the active plugins again if any have changed. */
  async refresh(): Promise<void> {
    const sql = this.#options.database.sql;
    const revision = await readRevision(sql);
    if (revision <= this.#revision) return;
    const runnable = await readRunnable(sql);
    // Another look may have read later.
    if (revision <= this.#revision) return;
    this.#runnable = runnable;
    this.#revision = revision;
  }

  #keep(hash: string, parts: readonly InstalledPlugin[], chars: number): void {
    if (this.#loaded.has(hash)) return;
    this.#loaded.set(hash, { parts, chars });
    this.#chars += chars;
    for (const [oldest, entry] of this.#loaded) {
      if (this.#chars <= this.#options.maxChars || oldest === hash) return;
      this.#loaded.delete(oldest);
      this.#chars -= entry.chars;
    }
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.refresh().catch(this.#options.failed);
      await wait(this.#options.pollMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
