import { busy } from '../../errors.ts';
import { findLoadProblems } from '../read/load-check.ts';
import { PluginError } from '../plugin-error.ts';
import { readArchiveInProcess, type PackageReader } from '../read/read-in-process.ts';
import { acceptReading, type ReadPackage } from '../read/read.ts';
import { findSigner } from './signature.ts';
import type { ArchiveBounds } from './unpack.ts';
import type { Sandbox } from '../../sandbox/run.ts';

/** The package in an archive, which loads. */
export interface ArchivePackage extends ReadPackage {
  /** The SHA-256 of the names and contents of its files. */
  filesHash: string;
  /** The trusted key that signed it; null for none. */
  signedBy: string | null;
}

export interface ArchiveOptions {
  bounds: ArchiveBounds;
  /** Public keys of Ed25519, in base64. */
  trustedKeys: readonly string[];
  signatures: 'off' | 'warn' | 'require';
  log: { warn: (fields: object, message: string) => void };
  /** Reads an archive; by default in a process of its own. */
  read?: PackageReader['archive'] | undefined;
  /** Where packages are tried; by default in a sandbox of their own. */
  sandbox?: Sandbox;
}

/** Reads a plugin from an archive made by npm pack. Throws a PluginError that names every problem. */
export type ReadArchive = (archive: Buffer) => Promise<ArchivePackage>;

// Each takes a process with up to 512 MiB of memory.
const readersAtOnce = 2;
/** Archives that wait for their turn at most, each in memory. */
const maxWaiting = 20;

/** The function that reads archives, a few at once. It throws a 503 `busy` when too many wait for their turn. */
export function createArchiveReader(options: ArchiveOptions): ReadArchive {
  let reading = 0;
  const waiting: (() => void)[] = [];
  return async (archive) => {
    if (waiting.length >= maxWaiting) throw busy();
    if (reading >= readersAtOnce) await new Promise<void>((resolve) => void waiting.push(resolve));
    else reading += 1;
    try {
      return await readArchive(archive, options);
    } finally {
      // The next one takes this one's place.
      const next = waiting.shift();
      if (next) next();
      else reading -= 1;
    }
  };
}

async function readArchive(archive: Buffer, options: ArchiveOptions): Promise<ArchivePackage> {
  const { read = readArchiveInProcess, bounds } = options;
  const { reading, seal } = await read(archive, bounds);
  const pack = await acceptReading(reading);
  if (!seal) throw new PluginError(['The process that reads packages broke its protocol']);
  const { filesHash, signature } = seal;
  const signedBy = checkSignature(pack, { filesHash, signature }, options);
  const problem = (await findLoadProblems([pack], options.sandbox)).get(pack);
  if (problem !== undefined) throw new PluginError([problem]);
  return { ...pack, filesHash, signedBy };
}

function checkSignature(
  { manifest: { id, version } }: ReadPackage,
  { filesHash, signature }: { filesHash: string; signature: string | null },
  { trustedKeys, signatures, log }: ArchiveOptions,
): string | null {
  if (signatures === 'off') return null;
  const signedBy = findSigner(filesHash, signature, trustedKeys);
  if (signedBy !== null) return signedBy;
  const problem = signature === null ? 'The package is not signed' : 'No key of PLUGIN_TRUSTED_KEYS made the signature';
  if (signatures === 'require') throw new PluginError([`plugin.sig: ${problem}`]);
  log.warn({ plugin: id, version }, `this plugin is installed without a trusted signature: ${problem}`);
  return null;
}
