import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { projectRoot } from '../../app/project-root.ts';
import { pluginDirsIn } from '../../config.ts';
import { printable } from '../../lib/text/printable.ts';
import { FileProblem, PackageFiles } from '../../packages/files.ts';
import { pluginDirsOf } from '../../packages/folders.ts';
import { PluginError } from '../../packages/plugin-error.ts';
import { findMisnaming, findRivalry, type ReadPackage } from '../../packages/read/read.ts';
import type { Finding } from './compare-uses.ts';
import { lineOfJson } from './json-lines.ts';

type Described = Pick<ReadPackage, 'manifest' | 'manifestText'>;

/** The name of npm's packages: https://docs.npmjs.com/cli/configuring-npm/package-json#name */
const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const maxNameChars = 214;
const semanticVersion = /^v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;

/**
 * Returns findings about the folder of a valid package: its name and its package.json. Throws a PluginError for a folder that
 * the service refuses, because it is among those of PLUGIN_DIRS and has another name than the id, or claims the id of another.
 */
export async function lookAtFolder(directory: string, pack: Described): Promise<Finding[]> {
  const { id } = pack.manifest;
  const misnaming = await findMisnaming(directory, id);
  if (misnaming && (misnaming.isTaken || isInPluginDirs(directory))) throw new PluginError([misnaming.problem]);
  const rivalry = await findRivalry(directory, id, pluginDirsIn());
  if (rivalry.length > 0) throw new PluginError(rivalry);
  return [...(misnaming ? [warningOfName(directory, pack)] : []), ...lookAtPackageJson(directory, pack)];
}

function isInPluginDirs(directory: string): boolean {
  const given = pluginDirsIn();
  const parent = dirname(resolve(directory));
  return pluginDirsOf(projectRoot, given.length > 0 ? given : undefined).some(({ path }) => path === parent);
}

function warningOfName(directory: string, { manifest: { id }, manifestText }: Described): Finding {
  const name = printable(basename(resolve(directory)));
  const message = `the id \`${id}\` is not the name of the folder, \`${name}\`: a service refuses it in a folder of PLUGIN_DIRS; \`plugin install\` takes it`;
  return { level: 'warning', file: 'plugin.json', line: lineOfJson(manifestText, ['id']) ?? 1, message };
}

/** Returns findings about the package.json, which a plugin need not have. */
function lookAtPackageJson(directory: string, { manifest }: Described): Finding[] {
  const read = readPackageJson(directory);
  if (read === null) return [];
  if ('problem' in read) return [finding('error', 1, read.problem)];
  const { text, fields } = read;
  const at = (name: string) => lineOfJson(text, [name]) ?? 1;
  const { name, version } = fields;
  const found: Finding[] = [];
  if (name !== undefined && !isPackageName(name)) {
    found.push(
      finding('warning', at('name'), 'npm publishes no package of this `name`: use lowercase letters, digits and -'),
    );
  }
  if (version !== undefined && !(typeof version === 'string' && semanticVersion.test(version))) {
    found.push(finding('warning', at('version'), 'npm publishes no package of this `version`: it must be like 1.2.3'));
  } else if (version !== undefined && version !== manifest.version) {
    const message = `the version ${version} is not the one of plugin.json, ${manifest.version}, by which services and archives go`;
    found.push(finding('warning', at('version'), message));
  }
  return found;
}

type PackageJson = { problem: string } | { text: string; fields: Record<string, unknown> };

/** Reads the package.json by the rules for files of packages; null when there is none. */
function readPackageJson(directory: string): PackageJson | null {
  const real = realpathSync(directory);
  if (lstatSync(join(real, 'package.json'), { throwIfNoEntry: false }) === undefined) return null;
  try {
    const text = new PackageFiles(real).read('package.json').replace(/^\uFEFF/, '');
    const fields: unknown = JSON.parse(text);
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) {
      return { text, fields: fields as Record<string, unknown> };
    }
    return { problem: 'it must be a JSON object' };
  } catch (error) {
    if (error instanceof FileProblem) return { problem: error.message };
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `it is not JSON: ${error.message}` };
  }
}

function isPackageName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= maxNameChars && packageName.test(name);
}

function finding(level: Finding['level'], line: number, message: string): Finding {
  return { level, file: 'package.json', line, message };
}
