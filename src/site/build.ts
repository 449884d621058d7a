import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join, normalize, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild-wasm/lib/browser.js';
import type {
  BuildOptions,
  Loader,
  OnResolveArgs,
  OnResolveResult,
  OutputFile,
  Plugin,
} from 'esbuild-wasm/lib/browser.js';
import { assets, type Layout } from './layout.ts';
import { assetHeaders, pageHeaders, scriptHeaders } from './security.ts';
import { compress, type SiteFile, type SiteFiles } from './site-file.ts';

// esbuild as WebAssembly, in its build for browsers: it needs no program for this machine, and gets every file from the
// plugin `readFiles`.

const entry = /(<script type="module" src=")\.\/([\w.-]+)("><\/script>)/;

const common = {
  bundle: true,
  write: false,
  minify: true,
  metafile: true,
  platform: 'browser',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  absWorkingDir: '/',
  outdir: '/',
} as const satisfies BuildOptions;

/** Builds all of the layout from the folder web/ of the project at `root`. The bundler must be loaded. */
export async function buildSite(root: string, { pages, scripts }: Layout): Promise<SiteFiles> {
  const web = join(root, 'web');
  const files = new Map<string, SiteFile>();
  const htmls = await Promise.all(pages.map(({ html }) => readFile(join(web, html), 'utf8')));
  const entries = pages.map(({ html }, index) => entryOf(html, htmls[index] ?? ''));
  const { outputFiles, metafile } = await esbuild.build({
    ...common,
    entryPoints: entries.map((main) => ({ in: main, out: posix.dirname(main).replaceAll('/', '-') })),
    format: 'esm',
    splitting: true,
    publicPath: assets,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'file' },
    plugins: [readFiles(web)],
  });
  for (const file of outputFiles) files.set(posix.join(assets, file.path), await siteFile(file, assetHeaders));
  for (const [index, { html }] of pages.entries()) {
    const output = Object.entries(metafile.outputs).find(
      ([, { entryPoint }]) => entryPoint === `web:${entries[index]}`,
    );
    if (!output) throw new Error(`${html} has no program`);
    const text = withNames(htmls[index] ?? '', { script: output[0], style: output[1].cssBundle });
    files.set(html, { type: 'html', headers: pageHeaders, ...(await compress(Buffer.from(text))) });
  }
  for (const { entry: main, path } of scripts) files.set(path, await buildScript(web, main));
  return files;
}

// Its styles are text, because it puts them into a shadow tree.
async function buildScript(web: string, main: string): Promise<SiteFile> {
  const { outputFiles } = await esbuild.build({
    ...common,
    entryPoints: [main],
    format: 'iife',
    loader: { '.css': 'text', '.svg': 'dataurl' },
    plugins: [readFiles(web)],
  });
  const [script] = outputFiles;
  if (!script || outputFiles.length > 1) throw new Error(`${main} is not one file`);
  return siteFile(script, scriptHeaders);
}

async function siteFile({ path, contents }: OutputFile, headers: SiteFile['headers']): Promise<SiteFile> {
  return { type: extname(path).slice(1), headers, ...(await compress(Buffer.from(contents))) };
}

/** The program of an HTML page, relative to web/. */
function entryOf(html: string, text: string): string {
  const name = entry.exec(text)?.[2];
  if (name === undefined) throw new Error(`${html} names no program: <script type="module" src="./main.tsx"></script>`);
  return posix.join(posix.dirname(html), name);
}

function withNames(html: string, { script, style }: { script: string; style: string | undefined }): string {
  const link = style === undefined ? '' : `<link rel="stylesheet" href="${posix.join(assets, style)}">\n    `;
  return html.replace(
    entry,
    (_, before: string, __, after: string) => link + before + posix.join(assets, script) + after,
  );
}

const loaders: Readonly<Record<string, Loader>> = {
  '.tsx': 'tsx',
  '.ts': 'ts',
  '.js': 'js',
  '.mjs': 'js',
  '.json': 'json',
};

/** The esbuild plugin that reads files of web/, and of packages as Node finds them. */
function readFiles(web: string): Plugin {
  const { resolve } = createRequire(join(web, 'package.json'));

  function locate({ path, kind, importer, namespace }: OnResolveArgs): OnResolveResult {
    if (kind === 'entry-point') return { path: normalize(path), namespace: 'web' };
    if (!path.startsWith('.')) return { path: locatePackage(path), namespace: 'package' };
    return { path: join(dirname(importer), path), namespace };
  }

  // A package's build for imports, where it has one.
  function locatePackage(name: string): string {
    if (extname(name) === '.css') return resolve(name);
    return fileURLToPath(import.meta.resolve(name));
  }

  return {
    name: 'read-files',
    setup(bundler) {
      bundler.onResolve({ filter: /.*/ }, locate);
      bundler.onLoad({ filter: /.*/ }, async ({ path, namespace }) => {
        const file = namespace === 'web' ? join(web, path) : path;
        const loader = loaders[extname(path)] ?? bundler.initialOptions.loader?.[extname(path)] ?? 'css';
        return { contents: await readFile(file), loader };
      });
    },
  };
}
