import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Finding } from './compare-uses.ts';
import { sandboxGlobals } from './sandbox-globals.ts';

// Source in a clone, declarations in the package that `npm pack` makes.
const isSource = extname(import.meta.filename) === '.ts';
const botApi = fileURLToPath(new URL(`../../packages/bot-api${isSource ? '.ts' : '.d.ts'}`, import.meta.url));
const problemPattern = /^(.+?)\((\d+),\d+\): error (TS\d+): (.+)$/;

/** Replacements of globals of Node and browsers that bots look for. */
const remedies: Readonly<Record<string, string>> = {
  fetch: ', use `ctx.fetch`',
  console: ', use `ctx.log`',
  process: ', use `ctx.config` or `secret(name)` for settings',
  setTimeout: ', use `ctx.schedule`',
  setInterval: ', use `ctx.schedule`',
  localStorage: ', use `ctx.storage`',
  sessionStorage: ', use `ctx.storage`',
};

/** The type errors of a package's main files and their imports; null where no TypeScript is installed. */
export async function checkTypes(directory: string, mains: readonly string[]): Promise<Finding[] | null> {
  const path = resolve(directory);
  const compiler = findCompiler(path);
  if (compiler === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-types-'));
  try {
    const project = join(folder, 'tsconfig.json');
    const globals = join(folder, 'globals.d.ts');
    writeFileSync(globals, sandboxGlobals);
    writeFileSync(project, JSON.stringify(projectFor(path, [...mains.map((main) => join(path, main)), globals])));
    const args = ['--disable-sigusr1', compiler, '--project', project, '--pretty', 'false'];
    const child = spawn(process.execPath, args, { cwd: path, stdio: ['ignore', 'pipe', 'ignore'] });
    return (await text(child.stdout)).split('\n').flatMap(toFinding);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// The author's own settings count, but for what the sandbox decides: there is no DOM, and no Node.
function projectFor(path: string, files: readonly string[]): object {
  const own = join(path, 'tsconfig.json');
  return {
    ...(existsSync(own) ? { extends: own } : {}),
    compilerOptions: {
      ...(existsSync(own) ? {} : { strict: true }),
      target: 'es2024',
      lib: ['es2024'],
      module: 'nodenext',
      types: [],
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      resolveJsonModule: true,
      allowJs: true,
      paths: { 'switchboard/bot': [botApi] },
    },
    include: [],
    files,
  };
}

/**
 * The program of the TypeScript that is installed where the command is called, else of ours; null for none. What lies in the
 * package may be a stranger's, and must not run.
 */
function findCompiler(path: string): string | null {
  const here = process.cwd();
  const trusted = here === path || here.startsWith(`${path}/`) ? [] : [join(here, 'package.json')];
  for (const from of [...trusted, import.meta.filename]) {
    try {
      return join(dirname(createRequire(from).resolve('typescript/package.json')), 'bin/tsc');
    } catch {
      // Not installed there.
    }
  }
  return null;
}

function toFinding(line: string): Finding[] {
  const [, file, at, code, message] = problemPattern.exec(line) ?? [];
  if (file === undefined || message === undefined) return [];
  return [{ level: 'error', file, line: Number(at), message: `${explain(message)} (${code})` }];
}

/** Replaces TypeScript's advice to install types by the truth: the sandbox has no such global. */
function explain(message: string): string {
  const [begin, name = ''] = /^Cannot find name '(\w+)'/.exec(message) ?? [];
  const isAdvised = /Do you need to (?:install type definitions|change your target library)/.test(message);
  if (begin === undefined || !(isAdvised || Object.hasOwn(remedies, name))) return message;
  return `${begin}: it is not in the sandbox${remedies[name] ?? ''}`;
}
