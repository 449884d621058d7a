import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { largestArchiveBytes } from '../../../config.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { unpack } from '../../../packages/archive/unpack.ts';
import { runNpm } from './run-npm.ts';

/** A package of the npm registry that holds a plugin; `range` is a version, a range or a tag, null for the latest. */
export interface NpmSource {
  name: string;
  range: string | null;
}

/** The archive of a plugin from the registry, and what `plugin update` is to look for later. */
export interface NpmArchive {
  archive: Buffer;
  version: string;
  /** `npm:NAME@RANGE`. */
  origin: string;
}

const prefix = 'npm:';
const maxChars = 300;
const packageName = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/;
// Without slashes and colons: npm takes texts with them for folders, addresses or other packages.
const versionRange = /^[0-9A-Za-z^~<>=*][0-9A-Za-z.^~<>=|*+ -]*$/;
// npm takes names with these ends for files.
const fileName = /\.(?:tgz|tar\.gz|tar)$/i;
// Bytes of a file that npm may write while it fetches an archive; its own logs and indexes are far smaller.
const maxFileBytes = 32 * 1024 * 1024;

/** Whether `plugin install` gets this from the npm registry. */
export function isNpmSource(source: string): boolean {
  return source.startsWith(prefix);
}

/** Parses `npm:NAME` and `npm:NAME@RANGE`. Throws OperatorError for everything that npm could take for something else. */
export function parseNpmSource(source: string): NpmSource {
  const text = source.slice(prefix.length);
  const at = text.indexOf('@', 1);
  const [name, range] = at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
  const isGood =
    source.length <= maxChars &&
    [name, range ?? '1'].every((part) => !fileName.test(part)) &&
    packageName.test(name) &&
    versionRange.test(range ?? '1');
  if (isGood) return { name, range };
  throw new OperatorError(
    `${source} names no package of the npm registry: write npm:NAME, npm:@SCOPE/NAME or npm:NAME@RANGE, such as npm:@acme/faq@^1.`,
  );
}

/**
 * Fetches the archive that npm would install, by npm itself: registry, access and proxies are those of the npm configuration
 * that holds in the working directory. Its dependencies are not fetched, and none of its scripts is run. Throws OperatorError.
 */
export async function fetchFromNpm({ name, range }: NpmSource): Promise<NpmArchive> {
  const wanted = range === null ? name : `${name}@${range}`;
  const temporary = await mkdtemp(join(tmpdir(), 'switchboard-npm-'));
  try {
    const args = ['pack', wanted, '--prefer-online', '--pack-destination', temporary];
    await runNpm({ args, cwd: process.cwd(), refused: `npm did not fetch ${wanted}`, maxFileBytes });
    const [file] = (await readdir(temporary)).filter((each) => each.endsWith('.tgz'));
    if (file === undefined) throw new OperatorError(`npm fetched no archive of ${wanted}.`);
    const { size } = await stat(join(temporary, file));
    if (size > largestArchiveBytes)
      throw new OperatorError(
        `The archive of ${wanted} has ${size} bytes; plugins have at most ${largestArchiveBytes}.`,
      );
    const archive = await readFile(join(temporary, file));
    const version = versionOf(archive, wanted);
    return { archive, version, origin: `${prefix}${name}@${range ?? `^${version}`}` };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The versions of a package that its range and its tag `latest` name now; null where there is none. */
export async function lookAtNpm({ name, range }: NpmSource): Promise<{ wanted: string | null; latest: string | null }> {
  const view = async (spec: string): Promise<string[]> => {
    const args = ['view', spec, 'version', '--json', '--prefer-online'];
    const text = await runNpm({ args, cwd: process.cwd(), refused: `npm knows nothing about ${spec}` });
    const found: unknown = text.trim() === '' ? [] : JSON.parse(text);
    return [found].flat().filter((version) => typeof version === 'string');
  };
  const latest = (await view(`${name}@latest`)).at(-1) ?? null;
  const matching = range === null ? [] : await view(`${name}@${range}`);
  // As npm chooses: the latest one, unless it is outside the range.
  const isWanted = range === null || (latest !== null && matching.includes(latest));
  return { wanted: isWanted ? latest : (matching.at(-1) ?? null), latest };
}

/** The version of a plugin, which must be that of its package. Throws OperatorError for a package that is no plugin. */
function versionOf(archive: Buffer, wanted: string): string {
  const unpacked = unpack(archive, { unpackedBytes: 8 * largestArchiveBytes, entries: 100_000 });
  if ('problems' in unpacked)
    throw new OperatorError([`The archive of ${wanted} is no plugin's:`, ...unpacked.problems].join('\n  - '));
  const [own, manifest] = ['package.json', 'plugin.json'].map((name) => fieldsIn(unpacked.files.get(name)));
  if (!manifest) throw new OperatorError(`${wanted} is no plugin of Switchboard: there is no plugin.json in it.`);
  const { version } = manifest;
  if (typeof version === 'string' && version === own?.['version']) return version;
  throw new OperatorError(
    `${wanted} is version ${String(own?.['version'])} for npm and ${String(version)} in its plugin.json: its author has to give both the same.`,
  );
}

function fieldsIn(file: Buffer | undefined): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(new TextDecoder().decode(file ?? new Uint8Array()));
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
