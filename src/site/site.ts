import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { bundlerFlags } from '../packages/read/bundler-flags.ts';
import { belongsToSite, layout, pageAt } from './layout.ts';
import { readSite, type SiteFile, type SiteFiles } from './site-file.ts';
import { hashSources } from './sources.ts';

export interface SiteOptions {
  /** The project's folder, with web/. */
  root: string;
  /** Whether the sources may change while the service runs: for developers. */
  watch: boolean;
}

interface Built {
  /** The hash of the sources; null for a site that came without them. */
  hash: string | null;
  files: SiteFiles;
}

const run = promisify(execFile);
const flags = ['--disable-sigusr1', '--disable-warning=ExperimentalWarning', ...bundlerFlags];
const buildMs = 60_000;
const maxBytes = 32 * 1024 * 1024;

/**
 * The pages of the service: the console and what else is built from web/. They are built once, in a process of their own, and
 * kept in web/dist, where the next start finds them.
 */
export class Site {
  readonly #options: SiteOptions;
  #built: Promise<Built | null> | null = null;

  constructor(options: SiteOptions) {
    this.#options = options;
  }

  /** Builds the site, unless that is done already. */
  async prepare(): Promise<void> {
    await this.#current();
  }

  /** The file that is shown at a path; null where the site has none, or was neither built nor came with its sources. */
  async find(path: string): Promise<SiteFile | null> {
    if (!belongsToSite(layout, path)) return null;
    const page = pageAt(layout, path);
    const built = await this.#current(page !== null);
    return built?.files.get(page?.html ?? path) ?? null;
  }

  #current(mayBeNew = false): Promise<Built | null> {
    if (mayBeNew && this.#options.watch) this.#built = this.#renewed(this.#built);
    this.#built ??= loadOrBuild(this.#options.root);
    const built = this.#built;
    // Tried again at the next call.
    built.catch(() => {
      if (this.#built === built) this.#built = null;
    });
    return built;
  }

  async #renewed(before: Promise<Built | null> | null): Promise<Built | null> {
    const built = await before?.catch(() => null);
    const isSame = built && built.hash === (await hashSources(this.#options.root));
    return isSame ? built : loadOrBuild(this.#options.root);
  }
}

/** The site as it was kept, if it is of the present sources; else it is built and kept. */
export async function loadOrBuild(root: string): Promise<Built | null> {
  const folder = join(root, 'web/dist');
  const file = join(folder, 'site.json');
  const [hash, kept] = await Promise.all([hashSources(root), readKept(file)]);
  if (hash === null) return kept;
  if (kept?.hash === hash) return kept;
  // Where types cannot be stripped, in node_modules, there are no sources of the site either.
  const program = join(import.meta.dirname, `build-process${extname(import.meta.filename)}`);
  const { stdout } = await run(process.execPath, [...flags, program, root, hash], {
    timeout: buildMs,
    maxBuffer: maxBytes,
  });
  await keep(folder, file, stdout);
  return readSite(stdout);
}

async function readKept(file: string): Promise<Built | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  try {
    return text === null ? null : readSite(text);
  } catch {
    return null;
  }
}

// Where the project's folder is read-only, each start builds.
async function keep(folder: string, file: string, text: string): Promise<void> {
  const own = `${file}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(own, text);
    await rename(own, file);
  } catch {
    return;
  }
}
