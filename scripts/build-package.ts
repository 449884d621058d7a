// `npm pack` runs this first (prepack): writes src/ as JavaScript to dist/, because Node strips no types below
// node_modules, and the declarations of what bots and their tests import. postpack deletes dist/ again.
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadOrBuild } from '../src/site/site.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
const target = join(root, 'dist');
/** The modules that `exports` of package.json publishes. */
const published = ['packages/bot-api.ts', 'testing/testing.ts'];
const specifier = /((?:\bfrom|\bimport|\bimport\s*\()\s*)'(\.{1,2}\/[^']+)\.ts'/g;

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function withJsImports(text: string): string {
  return text.replace(specifier, "$1'$2.js'");
}

/** Strips the types: they become spaces, so that lines and columns of stack traces are those of the source. */
function writeCode(): void {
  for (const file of globSync('**/*.ts', { cwd: source })) {
    const code = stripTypeScriptTypes(readFileSync(join(source, file), 'utf8'));
    write(join(target, file.replace(/\.ts$/, '.js')), withJsImports(code));
  }
}

/** Writes the declarations of the published modules, and of what these import; they may import nothing else. */
function writeDeclarations(): void {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-declarations-'));
  try {
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        typeRoots: [join(root, 'node_modules/@types')],
        types: ['node'],
        rootDir: root,
        outDir: folder,
      },
      include: [],
      files: published.map((file) => join(source, file)),
    };
    const project = join(folder, 'tsconfig.json');
    writeFileSync(project, JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8', cwd: root });
    if (status !== 0) throw new Error(`tsc could not write the declarations:\n${stdout}`);
    const wanted = published.map((file) => file.replace(/\.ts$/, '.d.ts'));
    for (const file of wanted) wanted.push(...copyDeclaration(join(folder, 'src'), file, wanted));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies a declaration; returns those it imports that are not among `known`. */
function copyDeclaration(from: string, file: string, known: readonly string[]): string[] {
  const text = readFileSync(join(from, file), 'utf8');
  write(join(target, file), withJsImports(text));
  const imported = [...text.matchAll(specifier)].map(([, , path]) =>
    relative(from, join(from, dirname(file), `${path}.d.ts`)),
  );
  return [...new Set(imported)].filter((path) => !known.includes(path));
}

rmSync(target, { recursive: true, force: true });
writeCode();
writeDeclarations();
// Into web/dist, from where they are packed.
await loadOrBuild(root);
// Into dist/prepared: plugins as the packed code reads them.
const packed = (await import(join(target, 'cli/prepare.js'))) as { preparePlugins: () => Promise<void> };
await packed.preparePlugins();
