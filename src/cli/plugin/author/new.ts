import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../../lib/operator-error.ts';
import { findProblems } from '../../../schemas.ts';
import { projectFilesOf } from './project-files.ts';

export interface NewOptions {
  template: string;
  json?: boolean;
}

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const templates = join(root, 'templates');
const manifestName = 'plugin.json';

/** Returns the templates of `plugin new`. */
export function templateNames(): string[] {
  return readdirSync(templates);
}

/** The command `plugin new`: makes the folder of a plugin with a test from a template. Throws OperatorError. */
export function makePlugin(directory: string, { template, json = false }: NewOptions): void {
  const path = resolve(directory);
  const id = basename(path);
  refuseBadId(id);
  if (!templateNames().includes(template)) {
    throw new OperatorError(`There is no template ${template}: ${templateNames().join(', ')}`);
  }
  if (existsSync(path) && readdirSync(path).length > 0) {
    throw new OperatorError(`${directory} is not empty: name a folder that does not exist yet`);
  }
  mkdirSync(path, { recursive: true });
  cpSync(join(templates, template), path, { recursive: true });
  const isOutside = !isInOurRepository(path);
  writeManifest(path, { id, template, isOutside });
  if (isOutside) {
    for (const [name, text] of Object.entries(projectFilesOf(path, id))) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text);
    }
  }
  const files = readdirSync(path, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)))
    .sort();
  if (json) console.log(JSON.stringify({ id, directory: path, template, files }, null, 2));
  else {
    const isInstalled = !isOutside || existsSync(installedAbove(path));
    console.log(words(directory, { files, isInstalled, hasChat: template !== 'channel' }));
  }
}

function refuseBadId(id: string): void {
  const sample = { id, name: 'x', version: '1.0.0', apiVersion: '1', main: 'bot.ts', events: ['message_created'] };
  const [problem] = findProblems('runtime/plugin', sample, 'The file');
  if (problem) throw new OperatorError(`The name of the folder becomes the id of the plugin: ${problem.message}`);
}

function writeManifest(
  path: string,
  { id, template, isOutside }: { id: string; template: string; isOutside: boolean },
) {
  const file = join(path, manifestName);
  const name = id.replaceAll('-', ' ').replace(/^./, (letter) => letter.toUpperCase());
  const schema = join(relative(path, isOutside ? installedAbove(path) : root), 'schemas/runtime/plugin.json');
  const text = readFileSync(file, 'utf8')
    .replace(/"\$schema": "[^"]*"/, `"$schema": "${schema.startsWith('.') ? schema : `./${schema}`}"`)
    .replace(`"id": "${template}"`, `"id": "${id}"`)
    .replace(/"name": "[^"]*"/, `"name": "${name}"`);
  writeFileSync(file, text);
}

/** Returns whether `switchboard/bot` resolves to this repository's source from there: the next package.json above is ours. */
function isInOurRepository(path: string): boolean {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const file = join(at, 'package.json');
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === 'switchboard';
  }
  return false;
}

/** Returns the folder of the installed package for a project, or of a later installation in the project itself. */
function installedAbove(path: string): string {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const installed = join(at, 'node_modules/switchboard');
    if (existsSync(installed)) return installed;
  }
  return join(path, 'node_modules/switchboard');
}

function words(
  directory: string,
  { files, isInstalled, hasChat }: { files: readonly string[]; isInstalled: boolean; hasChat: boolean },
): string {
  return [
    `Made ${directory}: ${files.join(', ')}`,
    '',
    'Next:',
    ...(isInstalled ? [] : [`  npm install --prefix ${directory}                what its tests and its editor need`]),
    `  npx switchboard plugin check ${directory}    types, permissions, and a try in the sandbox`,
    `  npx switchboard plugin test ${directory}     its tests`,
    ...(hasChat ? [`  npx switchboard plugin dev ${directory}      a chat with it, read again at each change`] : []),
  ].join('\n');
}
