import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { FileProblem, isOfDependency, quotedPath, type PackageSource } from '../files.ts';
import { entryPoints, importTargets, replacementFor, type PackageManifest } from './entry-points.ts';

/** An import that does not name a file of the plugin itself. */
export interface ForeignImport {
  specifier: string;
  /** The importing file, relative to the plugin's folder. */
  importer: string;
  /** Whether it is a call of `require`. */
  isRequire: boolean;
}

/** The file that an import means; null for one that its package replaces by nothing. */
export type ForeignFile = { path: string; sideEffects: boolean } | null;

/** An npm package that the code of a plugin uses. */
export interface UsedPackage {
  /** Its folder, relative to that of the plugin: `node_modules/NAME`. */
  folder: string;
  name: string;
  version: string;
  /** The licence that its package.json names; null for none. */
  license: string | null;
  /** The files that resolving and bundling it need. */
  files: readonly string[];
}

/** An npm package in a bundle. */
export interface BundledPackage extends UsedPackage {
  /** The part of the bundle that is its code. */
  bytes: number;
}

const packageName = /^((?:@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]*)(\/.+)?$/;
const suffixes = ['', '.js', '.mjs', '.cjs', '.json'];
const indexes = ['index.js', 'index.mjs', 'index.cjs', 'index.json'];
const builtins = new Set(builtinModules);
const imports =
  'a bot imports "switchboard/bot", files of its own package ("./…") and npm packages of its dependencies';

/**
 * The npm packages of one plugin, in `node_modules` as npm lays them out. Resolves imports by Node's rules, with the conditions
 * of a place that is neither Node nor a browser with a page: `import` or `require`, `module`, `browser`, `production`.
 */
export class Dependencies {
  readonly #files: PackageSource;
  readonly #manifests = new Map<string, PackageManifest>();
  readonly #importers = new Map<string, string>();
  readonly #used = new Map<string, Set<string>>();

  constructor(files: PackageSource) {
    this.#files = files;
  }

  /** Throws a FileProblem that names the package at fault, and the file that imports it. */
  resolve(wanted: ForeignImport): ForeignFile {
    const found = this.#find(wanted);
    if (found === null) return null;
    const folder = packageFolderOf(found);
    this.#note(found);
    return { path: this.#files.locate(found), sideEffects: this.#manifestOf(folder).sideEffects !== false };
  }

  /** The packages that imports were resolved to, ordered by their folders. */
  used(): UsedPackage[] {
    return [...this.#used]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([folder, files]) => {
        const { version, license } = this.#manifestOf(folder);
        return {
          folder,
          name: nameOf(folder),
          version: textOr(version, '?'),
          license: licenseIn(license),
          files: [...files].toSorted(),
        };
      });
  }

  /** Names the package of a file and who imports it, for a sentence about the file; empty for a file of the plugin. */
  blame(file: string): string {
    if (!isOfDependency(file)) return '';
    const folder = packageFolderOf(file);
    const importer = this.#importers.get(folder);
    return ` (in the npm package ${nameOf(folder)}${importer === undefined ? '' : `, which ${importer} imports`})`;
  }

  #find(wanted: ForeignImport): string | null {
    const { specifier, importer } = wanted;
    if (!isOfDependency(importer)) return this.#package(wanted, '');
    const folder = packageFolderOf(importer);
    if (/^\.{1,2}(?:\/|$)/.test(specifier))
      return this.#fileOf(folder, posix.join(posix.dirname(importer), specifier), wanted);
    const manifest = this.#manifestOf(folder);
    const replaced = replacementFor(manifest, specifier);
    if (replaced === false) return null;
    const name = replaced ?? specifier;
    const [target] = name.startsWith('#') ? importTargets(manifest, name, wanted.isRequire) : [name];
    if (target === undefined) throw new FileProblem(`${quotedPath(specifier)} is not among \`imports\` of its package`);
    return target.startsWith('./')
      ? this.#fileOf(folder, posix.join(folder, target), wanted)
      : this.#package({ ...wanted, specifier: target }, folder);
  }

  /** The file that the name of a package means for a file in another one, or in the plugin (`from` is empty). */
  #package(wanted: ForeignImport, from: string): string | null {
    const { specifier, importer } = wanted;
    const { name, below, isBuiltin } = this.#parse(specifier, from);
    const folder = this.#folderOf(name, from);
    if (folder === null) throw isBuiltin ? builtin(specifier) : notInstalled(name);
    if (!this.#importers.has(folder)) this.#importers.set(folder, importer);
    return this.#entryOf(folder, `.${below}`, wanted);
  }

  /** The name of a package and the path below it. Throws a FileProblem for what may not be imported. */
  #parse(specifier: string, from: string): { name: string; below: string; isBuiltin: boolean } {
    const [, name = '', below = ''] = packageName.exec(specifier) ?? [];
    if (specifier.startsWith('node:')) throw builtin(specifier);
    if (name === '') throw new FileProblem(`${quotedPath(specifier)} cannot be imported: ${imports}`);
    // A package may have the name of a module of Node: bundles for browsers have such ones.
    const isBuiltin = builtins.has(specifier);
    if (from !== '' || this.#isDeclared(name)) return { name, below, isBuiltin };
    throw isBuiltin ? builtin(specifier) : undeclared(specifier, name);
  }

  #entryOf(folder: string, subpath: string, wanted: ForeignImport): string | null {
    const manifest = this.#manifestOf(folder);
    const targets = entryPoints(manifest, { name: nameOf(folder), subpath, isRequire: wanted.isRequire });
    if (targets !== null) {
      const path = targets.map((target) => posix.join(folder, target)).find((each) => this.#isFile(each));
      if (path === undefined) throw new FileProblem(`${quotedPath(wanted.specifier)} is not exported by its package`);
      return this.#replaced(folder, path, wanted);
    }
    return this.#fileOf(folder, posix.join(folder, subpath), wanted);
  }

  /** The file of a package that a path without its suffix means, or the main file of a folder. */
  #fileOf(folder: string, path: string, wanted: ForeignImport): string | null {
    if (packageFolderOf(`${path}/`) !== folder) throw outside(wanted);
    const found = this.#probe(path) ?? this.#mainOf(path, wanted.isRequire);
    if (found !== null) return this.#replaced(folder, found, wanted);
    throw new FileProblem(`There is no file ${quotedPath(wanted.specifier)}`);
  }

  #replaced(folder: string, path: string, wanted: ForeignImport): string | null {
    if (packageFolderOf(path) !== folder) throw outside(wanted);
    const replaced = replacementFor(this.#manifestOf(folder), `./${posix.relative(folder, path)}`);
    if (replaced === false) return null;
    if (replaced === undefined) return path;
    const other = this.#probe(posix.join(folder, replaced));
    if (other !== null && packageFolderOf(other) === folder) return other;
    throw new FileProblem(`There is no file ${quotedPath(wanted.specifier)}`);
  }

  #probe(path: string): string | null {
    return suffixes.map((suffix) => `${path}${suffix}`).find((each) => this.#isFile(each)) ?? null;
  }

  #mainOf(folder: string, isRequire: boolean): string | null {
    if (this.#files.kindOf(folder) !== 'folder') return null;
    const { main, module, browser } = this.#isFile(`${folder}/package.json`) ? this.#manifestOf(folder) : {};
    const fields = isRequire ? [browser, main, module] : [browser, module, main];
    for (const field of fields.filter((each) => typeof each === 'string' && each !== '')) {
      const path = posix.join(folder, field as string);
      const found = this.#probe(path) ?? this.#indexOf(path);
      if (found !== null) return found;
    }
    return this.#indexOf(folder);
  }

  #indexOf(folder: string): string | null {
    return indexes.map((index) => posix.join(folder, index)).find((each) => this.#isFile(each)) ?? null;
  }

  #isFile(path: string): boolean {
    return isOfDependency(path) && this.#files.kindOf(path) === 'file';
  }

  /** The folder in which a package is installed for one in another folder, or for the plugin; null for nowhere. */
  #folderOf(name: string, from: string): string | null {
    for (let at = from; ; at = packageFolderOf(at.slice(0, at.lastIndexOf('node_modules/')))) {
      const folder = posix.join(at, 'node_modules', name);
      const kind = this.#files.kindOf(folder);
      if (kind === 'link')
        throw new FileProblem(
          `${quotedPath(folder)} is a link: packages must be installed as folders (npm install --install-links; pnpm: node-linker=hoisted)`,
        );
      if (kind === 'folder') return at === '' && from !== '' ? this.#besides(folder, from) : folder;
      if (at === '') return null;
    }
  }

  // A package of a folder above finds others beside itself there, and not those of the plugin.
  #besides(folder: string, from: string): string {
    if (this.#files.rankOf(folder) >= this.#files.rankOf(from)) return folder;
    throw new FileProblem(
      `${nameOf(folder)} is installed in two folders, and ${nameOf(from)} of the one above may need the other version: npm install --install-strategy=nested in the plugin's folder`,
    );
  }

  #isDeclared(name: string): boolean {
    const { dependencies } = this.#readManifest('package.json');
    return typeof dependencies === 'object' && dependencies !== null && Object.hasOwn(dependencies, name);
  }

  #manifestOf(folder: string): PackageManifest {
    const path = `${folder}/package.json`;
    if (!this.#manifests.has(path) && this.#isFile(path)) this.#note(path);
    return this.#readManifest(path);
  }

  #readManifest(path: string): PackageManifest {
    const known = this.#manifests.get(path);
    if (known) return known;
    const manifest = parse(this.#textOf(path), path);
    this.#manifests.set(path, manifest);
    return manifest;
  }

  #textOf(path: string): string {
    try {
      return this.#files.read(path);
    } catch (error) {
      if (error instanceof FileProblem && error.message.startsWith('There is no file')) return '{}';
      throw error;
    }
  }

  #note(path: string): void {
    const folder = packageFolderOf(path);
    const files = this.#used.get(folder) ?? new Set();
    this.#used.set(folder, files.add(path));
  }
}

function outside({ specifier }: ForeignImport): FileProblem {
  return new FileProblem(`${quotedPath(specifier)} is outside the folder of its npm package`);
}

function undeclared(specifier: string, name: string): FileProblem {
  return new FileProblem(
    `${quotedPath(specifier)} cannot be imported: ${imports}, and its package.json does not list ${name} there: npm install --save-prod ${name}`,
  );
}

function notInstalled(name: string): FileProblem {
  return new FileProblem(
    `The npm package ${name} is not installed in \`node_modules\` of the plugin: run npm install there; an archive must hold it, as those of \`plugin pack\` do`,
  );
}

function builtin(specifier: string): FileProblem {
  return new FileProblem(`${quotedPath(specifier)} is part of Node.js; a bot has no access to the machine it runs on`);
}

function parse(text: string, path: string): PackageManifest {
  try {
    const fields: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (typeof fields === 'object' && fields !== null) return fields;
  } catch {
    // Said below, without the text.
  }
  throw new FileProblem(`${quotedPath(path)} is not a JSON object`);
}

/** The folder of the innermost npm package of a path; empty for a path of the plugin. */
function packageFolderOf(path: string): string {
  return /^(?:.*\/)?node_modules\/(?:@[^/]*\/)?[^/]+(?=\/|$)/.exec(path)?.[0] ?? '';
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function licenseIn(license: unknown): string | null {
  const named = typeof license === 'object' && license !== null ? (license as { type?: unknown }).type : license;
  return typeof named === 'string' && named !== '' ? textOr(named, '') : null;
}

/** A short text of a stranger; cut to what lists show. */
function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value.slice(0, 100).toWellFormed() : fallback;
}
