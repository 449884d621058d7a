import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { builtinModules, createRequire } from 'node:module';
import { dirname, extname } from 'node:path';
import esbuild from 'esbuild-wasm/lib/browser.js';
import type {
  BuildFailure,
  Loader,
  Message,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  Plugin,
} from 'esbuild-wasm/lib/browser.js';
import { FileProblem } from '../files.ts';
import type { PackageSource } from '../files.ts';
import { runBounds } from '../../sandbox/run.ts';
import { withoutMap } from '../../sandbox/source-map.ts';

// This is esbuild as WebAssembly, in its build for browsers: it has no file system, no process and no network, and gets
// every file from the plugin `confine`. esbuild for Node would expand patterns such as import(`../${x}`) over the disk
// before it asks any plugin.

/** The result of bundling: the script, or every problem that prevents it. */
export type Bundling = { code: string } | { problems: string[] };

const botApi = 'switchboard/bot';
// In the package that `npm pack` makes, and where types were stripped, this is JavaScript.
const extension = extname(import.meta.filename);
const functions = readFileSync(new URL(`../bundled-functions${extension}`, import.meta.url), 'utf8');
const botApiCode = `export const defineBot = (bot) => bot;\n${functions}`;
const loaders: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.js': 'js', '.json': 'json' };
const patternProblem = 'import() and require() take the path of one file as plain text: patterns are not expanded';
const patternIds = new Set(['unsupported-dynamic-import', 'unsupported-require-call']);
const nestingProblem = 'The code is nested too deeply';

// The script's value is the namespace of the main file.
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
  logOverride: { 'unsupported-dynamic-import': 'error', 'unsupported-require-call': 'error' },
  tsconfigRaw: '{}',
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

function refuseBare(specifier: string): OnResolveResult {
  const isBuiltin = specifier.startsWith('node:') || builtinModules.includes(specifier);
  if (isBuiltin) return refusal(`"${specifier}" is part of Node.js; a bot has no access to the machine it runs on`);
  return refusal(`"${specifier}" cannot be imported: a bot imports "${botApi}" and files of its own package ("./…")`);
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

/** The esbuild plugin that resolves files of the package and the bot API, and refuses every other import. */
function confine(files: PackageSource, main: string): Plugin {
  const namespace = 'package';
  const locate = (path: string, from?: string): OnResolveResult =>
    asResult(() => ({ path: files.locate(path, from), namespace }));

  function resolveImport({ path, kind, importer, with: attributes }: OnResolveArgs): OnResolveResult {
    if (kind === 'entry-point') return locate(main);
    const isOwnFile = path.startsWith('./') || path.startsWith('../');
    const refused = refuseAttributes(path, attributes);
    if (refused) return refused;
    if (path === botApi) return { path, namespace: 'bot-api' };
    return isOwnFile ? locate(path, dirname(importer)) : refuseBare(path);
  }

  function load(path: string): OnLoadResult {
    return asResult(() => ({ contents: files.read(path), loader: loaders[extname(path)] ?? 'js' }));
  }

  return {
    name: 'confine-to-package',
    setup(bundler) {
      bundler.onResolve({ filter: /.*/ }, resolveImport);
      bundler.onLoad({ filter: /.*/, namespace: 'bot-api' }, () => ({ contents: botApiCode, loader: 'ts' }));
      bundler.onLoad({ filter: /.*/, namespace }, ({ path }) => load(path));
      bundler.onLoad({ filter: /.*/ }, ({ path }) => refusal(`"${path}" is not a file of the package`));
    },
  };
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

function describe({ id, location, text }: Message): string {
  // For a pattern that begins with "./" or "../", esbuild reports that the folder to search does not exist.
  const isPattern = patternIds.has(id) || /^Could not resolve (import|require)\(/.test(text);
  const file = location?.file.replace(/^package:/, '');
  return `${location ? `${file}:${location.line}: ` : ''}${isPattern ? patternProblem : text}`;
}

function problemsOf(error: unknown): string[] {
  if (error instanceof RangeError) return [nestingProblem];
  if (!isBuildFailure(error)) return [error instanceof Error ? error.message : String(error)];
  const told = error.errors.filter(({ text }) => !text.startsWith('Cannot read directory '));
  return told.length > 0 ? told.map(describe) : ['The code cannot be bundled'];
}

/** Bundles the main file and its imports into one script; imports are files of the package and `switchboard/bot`. */
export async function bundle(files: PackageSource, main: string): Promise<Bundling> {
  try {
    const { outputFiles } = await esbuild.build({
      entryPoints: ['main'],
      plugins: [confine(files, main)],
      ...scriptOptions,
    });
    const [script] = outputFiles;
    // A UTF-16 code unit takes three bytes at most, and its place in the source map less than another eight; this check
    // spares decoding a script that is too long anyway.
    const isTooLong = !script || script.contents.length > 11 * runBounds.bundleChars;
    const code = isTooLong ? '' : withoutMap(script.text);
    if (isTooLong || code.length > runBounds.bundleChars) {
      return { problems: [`The bundled code has more than ${runBounds.bundleChars} characters`] };
    }
    return { code: script.text.length > 2 * runBounds.bundleChars ? code : script.text };
  } catch (error) {
    return { problems: problemsOf(error) };
  }
}
