import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { extname, isAbsolute, relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';
import type { BuildFailure, Loader, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from 'esbuild';
import { PluginError } from './manifest.ts';
import { runBounds } from './run-types.ts';
import type { Bundle } from './run-types.ts';

const botApi = 'switchboard/bot';
const botApiCode = 'export const defineBot = (bot) => bot;';
const maxSourceBytes = 1024 * 1024;
const loaders: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.js': 'js', '.json': 'json' };

function refusal(text: string): OnResolveResult {
  return { errors: [{ text }] };
}

function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function resolveFile(directory: string, specifier: string, from: string): Promise<OnResolveResult> {
  const wanted = resolve(from, specifier);
  if (!isInside(directory, wanted)) return refusal(`"${specifier}" is outside the package directory`);
  if (!Object.hasOwn(loaders, extname(wanted))) return refusal(`"${specifier}" must name a .ts, .js or .json file`);
  const real = await realpath(wanted).catch(() => null);
  if (real === null) return refusal(`There is no file "${specifier}"`);
  if (!isInside(directory, real)) return refusal(`"${specifier}" is a link to a file outside the package directory`);
  return { path: real };
}

function refuseBare(specifier: string): OnResolveResult {
  const isBuiltin = specifier.startsWith('node:') || builtinModules.includes(specifier);
  if (isBuiltin) return refusal(`"${specifier}" is part of Node.js; a bot has no access to the machine it runs on`);
  return refusal(`"${specifier}" cannot be imported: a bot imports "${botApi}" and files of its own package ("./…")`);
}

async function loadFile(path: string): Promise<OnLoadResult> {
  const { size } = await stat(path);
  if (size > maxSourceBytes) return { errors: [{ text: `The file is larger than ${maxSourceBytes} bytes` }] };
  return { contents: await readFile(path, 'utf8'), loader: loaders[extname(path)] ?? 'default' };
}

// The script's value is the namespace of the main file.
const scriptOptions = {
  bundle: true,
  write: false,
  format: 'iife',
  globalName: 'bot',
  footer: { js: 'bot;' },
  platform: 'neutral',
  target: 'es2024',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  tsconfigRaw: '{}',
} as const;

/** Lets the bundler see the package directory and the bot API, and nothing else. */
function confine(directory: string): Plugin {
  return {
    name: 'confine-to-package',
    setup(bundler) {
      bundler.onResolve({ filter: /.*/ }, ({ path, kind, resolveDir }: OnResolveArgs) => {
        if (path === botApi) return { path: botApi, namespace: 'bot-api' };
        if (kind === 'entry-point') return resolveFile(directory, path, directory);
        const isOwnFile = path.startsWith('./') || path.startsWith('../');
        return isOwnFile ? resolveFile(directory, path, resolveDir) : refuseBare(path);
      });
      bundler.onLoad({ filter: /.*/, namespace: 'bot-api' }, () => ({ contents: botApiCode, loader: 'js' }));
      bundler.onLoad({ filter: /.*/ }, ({ path }) => loadFile(path));
    },
  };
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

function problemsOf(error: unknown): string[] {
  if (!isBuildFailure(error)) return [error instanceof Error ? error.message : String(error)];
  return error.errors.map(({ location, text }) => (location ? `${location.file}:${location.line}: ${text}` : text));
}

async function buildCode(directory: string, main: string): Promise<string> {
  try {
    const { outputFiles } = await build({
      entryPoints: [main],
      absWorkingDir: directory,
      plugins: [confine(directory)],
      ...scriptOptions,
    });
    return outputFiles[0]?.text ?? '';
  } catch (error) {
    throw new PluginError(problemsOf(error));
  }
}

/**
 * Makes one script of a package's main file and what it imports from its own directory; `switchboard/bot` is the only
 * other import there is. Throws a PluginError that names every problem.
 */
export async function bundlePlugin(directory: string, main: string): Promise<Bundle> {
  const code = await buildCode(await realpath(directory), main);
  if (code.length > runBounds.bundleChars) {
    throw new PluginError([`The bundled code has ${code.length} characters; ${runBounds.bundleChars} are allowed`]);
  }
  return { code, hash: createHash('sha256').update(code).digest('hex') };
}
