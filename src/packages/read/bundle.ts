import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname } from 'node:path';
import esbuild from 'esbuild-wasm/lib/browser.js';
import type {
  BuildFailure,
  Loader,
  Message,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  OutputFile,
  Plugin,
} from 'esbuild-wasm/lib/browser.js';
import { Dependencies, type BundledPackage, type UsedPackage } from './dependencies.ts';
import { FileProblem, isOfDependency, tooMuch } from '../files.ts';
import type { PackageSource } from '../files.ts';
import { maxScriptChars } from './reader-message.ts';
import { runBounds } from '../../sandbox/run.ts';
import { withoutMap } from '../../sandbox/source-map.ts';

// This is esbuild as WebAssembly, in its build for browsers: it has no file system, no process and no network, and gets
// every file from the plugin `confine`. esbuild for Node would expand patterns such as import(`../${x}`) over the disk
// before it asks any plugin.

/** The result of bundling: the script and the npm packages in it, or every problem that prevents it. */
export type Bundling = { code: string; packages: BundledPackage[] } | { problems: string[] };

const botApi = 'switchboard/bot';
// In the package that `npm pack` makes, and where types were stripped, this is JavaScript.
const extension = extname(import.meta.filename);
const [functions, channelFunctions] = ['bundled-functions', 'define-channel'].map((name) =>
  readFileSync(new URL(`../${name}${extension}`, import.meta.url), 'utf8'),
);
const botApiCode = `export const defineBot = (bot) => bot;\nexport const defineAutomation = (automation) => automation;\n${functions}\n${channelFunctions}`;
const loaders: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.json': 'json' };
// The map of a file that has none: esbuild leaves the file out of the map of the bundle.
const withoutMapOf = (contents: string): string =>
  `${contents}\n//# sourceMappingURL=data:application/json;base64,${noMap}`;
const noMap = Buffer.from('{"version":3,"sources":[""],"mappings":"A"}').toString('base64');
const namespace = 'package';
const partsNamespace = 'parts';
const patternProblem = 'import() and require() take the path of one file as plain text: patterns are not expanded';
const patternIds = new Set(['unsupported-dynamic-import', 'unsupported-require-call']);
const evalProblem =
  'eval() could load what is not seen here: npm packages that call it are refused; `new Function` is not';
const nestingProblem = 'The code is nested too deeply';

/** The main file of a package, or those of its parts by kind. */
export type MainFiles = string | ReadonlyMap<string, string>;

// The script's value is the namespace of the main file, or has a function for each part that loads it: a run pays for one.
const scriptOptions = {
  bundle: true,
  write: false,
  absWorkingDir: '/',
  format: 'iife',
  globalName: 'bot',
  footer: { js: 'bot;' },
  platform: 'neutral',
  target: 'es2024',
  charset: 'utf8',
  legalComments: 'none',
  sourcemap: 'inline',
  sourcesContent: false,
  logLevel: 'silent',
  logOverride: { 'unsupported-dynamic-import': 'error', 'unsupported-require-call': 'error', 'direct-eval': 'warning' },
  tsconfigRaw: '{}',
  metafile: true,
  // Names that npm packages look at in bundles for browsers.
  define: { global: 'globalThis', 'process.env.NODE_ENV': '"production"' },
} as const;

/** The part of WebAssembly that is used here; @types/node does not declare it. */
interface Compiler {
  compile(bytes: Uint8Array): Promise<object>;
}

/** Loads esbuild. `died` is called when esbuild gives up, which happens when it runs out of memory. */
export async function loadBundler(died: () => void): Promise<void> {
  // The globals that esbuild can reach. It reports its own crash with `console.warn`, and in no other way.
  const reachable = { Array, Date, Error, Object, Uint8Array, crypto, performance, TextDecoder, TextEncoder };
  const silent = (): void => undefined;
  Object.assign(globalThis, { self: reachable, console: { log: silent, error: silent, warn: died } });
  const bytes = await readFile(createRequire(import.meta.url).resolve('esbuild-wasm/esbuild.wasm'));
  const { WebAssembly: compiler } = globalThis as unknown as { WebAssembly: Compiler };
  await esbuild.initialize({ wasmModule: await compiler.compile(bytes), worker: false });
}

function refusal(text: string): { errors: { text: string }[] } {
  return { errors: [{ text }] };
}

function refuseAttributes(specifier: string, attributes: Record<string, string>): OnResolveResult | null {
  const isPlain = Object.entries(attributes).every(([name, value]) => name === 'type' && value === 'json');
  if (isPlain && (Object.keys(attributes).length === 0 || specifier.endsWith('.json'))) return null;
  return refusal(`"${specifier}": the one import attribute there is, is "type": "json" of a .json file`);
}

/** Calls `work`; a FileProblem that it throws becomes a problem of the build. */
function asResult<Result>(work: () => Result): Result | { errors: { text: string }[] } {
  try {
    return work();
  } catch (error) {
    if (error instanceof FileProblem) return refusal(error.message);
    throw error;
  }
}

/** The form of a bundle: whether its map covers npm packages too, and whether it has no spaces that it can do without. */
interface Form {
  mapsPackages: boolean;
  minifyWhitespace: boolean;
}

/** State of a bundling: the files it reads, and why imports of npm packages were not resolved, by importer and specifier. */
interface Build extends Form {
  files: PackageSource;
  main: MainFiles;
  dependencies: Dependencies;
  unresolved: Map<string, string>;
  /** Files that were read, by their paths. */
  texts: Map<string, string>;
}

/** The esbuild plugin that resolves files of the package, npm packages and the bot API, and refuses every other import. */
function confine({ files, main, dependencies, unresolved, texts, mapsPackages }: Build): Plugin {
  const locate = (path: string, from?: string): OnResolveResult =>
    asResult(() => {
      const located = files.locate(path, from);
      if (!isOfDependency(located)) return { path: located, namespace };
      throw new FileProblem(`"${path}" is a file of an npm package: import it by the name of the package`);
    });

  function resolveForeign({ path, kind, importer }: OnResolveArgs): OnResolveResult | undefined {
    const isRequire = kind === 'require-call' || kind === 'require-resolve';
    try {
      const found = dependencies.resolve({ specifier: path, importer, isRequire });
      return found === null ? { path: 'nothing', namespace: 'nothing' } : { ...found, namespace };
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      const problem = `${error.message}${dependencies.blame(importer)}`;
      if (!isOfDependency(importer) || kind !== 'require-call') return refusal(problem);
      // esbuild says that it cannot be resolved, unless the package catches the failure of its require().
      unresolved.set(`${importer}\0${path}`, problem);
      return undefined;
    }
  }

  function resolveImport(args: OnResolveArgs): OnResolveResult | undefined {
    const { path, kind, importer, namespace: from, with: attributes } = args;
    if (kind === 'entry-point') return typeof main === 'string' ? locate(main) : { path, namespace: partsNamespace };
    if (from === partsNamespace) return locate(path);
    const refused = refuseAttributes(path, attributes);
    if (refused) return refused;
    if (path === botApi) return { path, namespace: 'bot-api' };
    const isOwnFile = !isOfDependency(importer) && (path.startsWith('./') || path.startsWith('../'));
    return isOwnFile ? locate(path, dirname(importer)) : resolveForeign(args);
  }

  function load(path: string): OnLoadResult {
    return asResult(() => {
      const text = texts.get(path) ?? files.read(path);
      texts.set(path, text);
      const isMapped = mapsPackages || !isOfDependency(path) || path.endsWith('.json');
      const contents = isMapped ? text : withoutMapOf(text);
      return { contents, loader: loaders[extname(path)] ?? 'js' };
    });
  }

  return {
    name: 'confine-to-package',
    setup(bundler) {
      bundler.onResolve({ filter: /.*/ }, resolveImport);
      bundler.onLoad({ filter: /.*/, namespace: 'bot-api' }, () => ({ contents: botApiCode, loader: 'ts' }));
      bundler.onLoad({ filter: /.*/, namespace: partsNamespace }, () => ({
        contents: codeOfParts(main),
        loader: 'js',
      }));
      bundler.onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({
        contents: 'module.exports = {};',
        loader: 'js',
      }));
      bundler.onLoad({ filter: /.*/, namespace }, ({ path }) => load(path));
      bundler.onLoad({ filter: /.*/ }, ({ path }) => refusal(`"${path}" is not a file of the package`));
    },
  };
}

function codeOfParts(main: MainFiles): string {
  const files = typeof main === 'string' ? [] : [...main];
  const calls = files.map(([kind, file]) => `${JSON.stringify(kind)}: () => require(${JSON.stringify(file)})`);
  return withoutMapOf(`module.exports = { ${calls.join(', ')} };`);
}

function describe({ id, location, text }: Message, { dependencies, unresolved }: Omit<Build, keyof Form>): string {
  // For a pattern that begins with "./" or "../", esbuild reports that the folder to search does not exist.
  const isPattern = patternIds.has(id) || /^Could not resolve (import|require)\(/.test(text);
  const file = location?.file.replace(/^package:/, '') ?? '';
  const wanted = /^Could not resolve "(.*)"$/s.exec(text)?.[1];
  const reason = unresolved.get(`${file}\0${wanted}`);
  const sentence = reason ?? `${isPattern ? patternProblem : text}${dependencies.blame(file)}`;
  if (text.startsWith(tooMuch)) return text;
  const place = location && !file.startsWith(partsNamespace) ? `${file}:${location.line}: ` : '';
  return `${place}${sentence.replaceAll('"package:', '"')}`;
}

function problemsOf(error: unknown, build: Omit<Build, keyof Form>): string[] {
  if (error instanceof RangeError) return [nestingProblem];
  if (!(error instanceof Error && 'errors' in error)) return [error instanceof Error ? error.message : String(error)];
  const told = (error as BuildFailure).errors.filter(({ text }) => !text.startsWith('Cannot read directory '));
  return told.length > 0
    ? [...new Set(told.map((message) => describe(message, build)))]
    : ['The code cannot be bundled'];
}

/** Bundles the main files and their imports into one script: files of the package, npm packages and `switchboard/bot`. */
export async function bundle(files: PackageSource, main: MainFiles): Promise<Bundling> {
  const known = { files, main, dependencies: new Dependencies(files), unresolved: new Map(), texts: new Map() };
  try {
    return await bundleShortest(known);
  } catch (error) {
    return { problems: problemsOf(error, known) };
  }
}

// npm packages that are too long as they are lose the places of their code first, then their spaces.
const forms = [
  { mapsPackages: true, minifyWhitespace: false },
  { mapsPackages: false, minifyWhitespace: false },
  { mapsPackages: false, minifyWhitespace: true },
];

async function bundleShortest(known: Omit<Build, keyof Form>): Promise<Bundling> {
  let packages: BundledPackage[] = [];
  let code: string | null = null;
  for (const form of forms) {
    const built = await buildScript({ ...known, ...form });
    ({ packages } = built);
    if (built.problems.length > 0) return { problems: built.problems };
    const { whole, bare } = textsOf(built.script);
    code ??= bare;
    if (bare !== null && whole !== null) return { code: whole, packages };
    if (packages.length === 0) break;
  }
  return code === null ? { problems: [tooLong(packages)] } : { code, packages };
}

/** The script with its source map and without; null where it is too long. */
function textsOf(script: OutputFile | undefined): { whole: string | null; bare: string | null } {
  // A UTF-16 code unit takes three bytes at most, and its place in the source map less than another eight; this check
  // spares decoding a script that is too long anyway.
  if (!script || script.contents.length > 11 * runBounds.bundleChars) return { whole: null, bare: null };
  const { text } = script;
  const code = withoutMap(text);
  return {
    whole: text.length > maxScriptChars ? null : text,
    bare: code.length > runBounds.bundleChars ? null : code,
  };
}

async function buildScript(
  build: Build,
): Promise<{ script: OutputFile | undefined; packages: BundledPackage[]; problems: string[] }> {
  const { dependencies, minifyWhitespace } = build;
  const { outputFiles, metafile, warnings } = await esbuild.build({
    entryPoints: ['main'],
    plugins: [confine(build)],
    ...scriptOptions,
    minifyWhitespace,
  });
  const evals = warnings.filter(
    ({ id, location }) => id === 'direct-eval' && isOfDependency(location?.file.replace(/^package:/, '') ?? ''),
  );
  return {
    script: outputFiles[0],
    packages: withBytes(dependencies.used(), Object.values(metafile.outputs)[0]?.inputs ?? {}),
    problems: evals.map((warning) => describe({ ...warning, text: evalProblem }, build)),
  };
}

function withBytes(
  used: readonly UsedPackage[],
  inputs: Readonly<Record<string, { bytesInOutput: number }>>,
): BundledPackage[] {
  return used.map((pack) => {
    const sizes = pack.files.map((file) => inputs[`${namespace}:${file}`]?.bytesInOutput ?? 0);
    return { ...pack, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  });
}

function tooLong(packages: readonly BundledPackage[]): string {
  const [largest] = packages.toSorted((one, other) => other.bytes - one.bytes);
  const share = largest ? `, ${largest.bytes} bytes of them of the npm package ${largest.name}` : '';
  return `The bundled code has more than ${runBounds.bundleChars} characters${share}`;
}
