import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf } from '../sandbox/helpers.ts';

/** What a hostile package tries, and what must be said about it. */
export interface Attempt {
  title: string;
  /** The name of its package. */
  name: string;
  /** How the sentence may begin: with the file at fault, where the package tries several things. */
  begins: readonly string[];
  /** Part of the sentence. */
  refusal: string;
}

/** A package that must be refused. */
export interface HostilePackage {
  name: string;
  files: Readonly<Record<string, string>>;
  /** Makes what no text can be, in the package's folder. */
  make?: (folder: string) => void;
}

/** What no package may learn: it stands in `.data/secret.json`, beside `bots` and in it. */
export const secret = 'the-secret-beside-the-packages';

const patterns = 'patterns are not expanded';
const outside = "outside the package's folder";
const kinds = 'must name a .ts, .js or .json file';
const irregular = 'is not a regular file';
const bare = 'cannot be imported: a bot imports';
const nesting = 'nested too deeply';

function code(text: string): Record<string, string> {
  return { 'bot.ts': text };
}

function manifest(changes: Record<string, unknown>): Record<string, string> {
  return { 'plugin.json': JSON.stringify(manifestOf(changes)), ...code('export default {}') };
}

const doubling = (times: number): string =>
  Array.from({ length: times }, (_, index) => `a${index + 1} = a${index} + a${index}`).join(', ');
const manyFiles = (count: number, text: string): Record<string, string> => ({
  ...code(Array.from({ length: count }, (_, index) => `import './f${index}.js';`).join('\n')),
  ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}.js`, text])),
});
const replace = (file: string, by: (path: string) => void) => (folder: string) => {
  rmSync(join(folder, file), { recursive: true, force: true });
  by(join(folder, file));
};
const fifo = (path: string): void => void execFileSync('mkfifo', [path]);
// The file of a socket stays when its server is ended without being closed.
const socket = (path: string): void => {
  const program = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  try {
    execFileSync(process.execPath, ['-e', program, path]);
  } catch {
    // It was killed.
  }
};
const linkTo =
  (target: string) =>
  (path: string): void =>
    symlinkSync(target, path);

const endless = 'code that backtracks for ever';
const rows: [title: string, files: Record<string, string>, refusal: string, make?: (folder: string) => void][] = [
  ['a template in import()', code('export default (x) => import(`../../.data/${x}.json`)'), patterns],
  ['a sum in import()', code('export default (x) => import("../../.data/" + x + ".json")'), patterns],
  ['a template in require()', code('export default (x) => require(`../../.data/${x}.json`)'), patterns],
  ['a sum in require()', code('export default (x) => require("../../.data/" + x)'), patterns],
  [
    'a pattern over the whole disk',
    code('export default (x, y) => import(`../../../../../../../../${x}/${y}`)'),
    patterns,
  ],
  ['a pattern over the package itself', code('export default (x) => import(`./${x}.json`)'), patterns],
  ['a pattern of the working directory', code('export default (x) => require("./" + x)'), patterns],
  ['an absolute pattern', code('export default (x) => import(`/etc/${x}`)'), patterns],
  ['a pattern in the name of a module', code('export default (x) => import(`node:${x}`)'), patterns],
  ['a variable in import()', code('export default (x) => import(x)'), patterns],
  ['a variable in require()', code('export default (x) => require(x)'), patterns],
  [
    'a pattern of constants of an enum',
    code('const enum E { p = "../../.data/" }; export default (x) => import(E.p + x)'),
    patterns,
  ],
  [
    'a pattern that a link inside would answer',
    code('export default (x) => import(`./data/${x}.json`)'),
    patterns,
    (folder) => symlinkSync('../../.data', join(folder, 'data')),
  ],
  [
    'a folder that is a link to outside',
    code('import x from "./data/secret.json"; export default x'),
    'is a link to a file outside',
    (folder) => symlinkSync('../../.data', join(folder, 'data')),
  ],
  [
    'a link to outside',
    code('import x from "./secret.json"; export default x'),
    'is a link to a file outside',
    (folder) => symlinkSync('../../.data/secret.json', join(folder, 'secret.json')),
  ],
  [
    'a link in a circle',
    code('import "./round.js"'),
    'cannot be read: ELOOP',
    (f) => symlinkSync('round.js', join(f, 'round.js')),
  ],
  [
    'a link to a file of another kind',
    { ...code('import x from "./notes.json"; export default x'), 'notes.txt': 'text' },
    kinds,
    (folder) => symlinkSync('notes.txt', join(folder, 'notes.json')),
  ],
  [
    'a link to a device',
    code('import x from "./zero.json"; export default x'),
    outside,
    (f) => symlinkSync('/dev/zero', join(f, 'zero.json')),
  ],
  ['constants that name a file outside', code('export default import("../../.data/" + "secret.json")'), outside],
  [
    'one of two files outside',
    code('export default (x) => import(x ? "./bot.ts" : "../../.data/secret.json")'),
    outside,
  ],
  ['import = require of TypeScript', code('import x = require("../../.data/secret.json"); export default x'), outside],
  ['export from outside', code('export * from "../../.data/secret.json"'), outside],
  ['an absolute path', code('import "/etc/passwd.json"'), bare],
  ['a file URL', code('import "file:///etc/passwd"'), bare],
  ['a data URL', code('import "data:application/json,{}"'), bare],
  ['a URL', code('import "https://example.com/x.js"'), bare],
  ['a path of a module', code('import "koa/package.json"'), bare],
  [
    'the bare name of what lies in node_modules',
    { ...code('import "evil"'), 'node_modules/evil/index.js': 'export {}' },
    bare,
  ],
  ['an escaped path', code('import "./%2e%2e/%2e%2e/.data/secret.json"'), 'There is no file'],
  ['a path with a NUL character', code('import "./bot.ts\\0.json"'), 'There is no file'],
  ['a path with backslashes', code('import ".\\\\..\\\\..\\\\.data\\\\secret.json"'), bare],
  ['a query behind the path', code('import "./bot.ts?raw"'), kinds],
  ['an extension in capitals', { ...code('import "./other.JS"'), 'other.JS': '' }, kinds],
  ['a name in capitals', code('import "./BOT.ts"'), 'There is no file'],
  ['a folder by its name', { ...code('import "./lib"'), 'lib/index.js': '' }, kinds],
  ['a folder that is named like a file', { ...code('import "./index.js"'), 'index.js/index.js': '' }, irregular],
  ['the folder of the package', code('import "../"'), outside],
  ['a style sheet', { ...code('import "./x.css"'), 'x.css': '@import url(../../.data/secret.json)' }, kinds],
  ['WebAssembly', { ...code('import "./x.wasm"'), 'x.wasm': '' }, kinds],
  ['a native addon', { ...code('import "./x.node"'), 'x.node': '' }, kinds],
  ['a text', { ...code('import "./x.txt"'), 'x.txt': '' }, kinds],
  ['JSX', { ...code('import "./x.tsx"'), 'x.tsx': '' }, kinds],
  [
    'a file as text',
    { ...code('import t from "./d.json" with { type: "text" }; export default t'), 'd.json': '{}' },
    'import attribute',
  ],
  [
    'a file as bytes',
    { ...code('import t from "./d.json" with { type: "bytes" }; export default t'), 'd.json': '{}' },
    'import attribute',
  ],
  ['code as JSON', code('import t from "./bot.ts" with { type: "json" }; export default t'), 'import attribute'],
  [
    'a deferred import',
    { ...code('import defer * as x from "./d.json"; export default x'), 'd.json': '{}' },
    'Deferred imports',
  ],
  ['Node.js', code('import { readFileSync } from "node:fs"; export default readFileSync'), 'part of Node.js'],
  ['Node.js by require()', code('export default require("child_process")'), 'part of Node.js'],
  ['Node.js by import()', code('export default import("fs/promises")'), 'part of Node.js'],
  [
    'paths of a tsconfig.json',
    {
      ...code('import x from "data/secret.json"; export default x'),
      'tsconfig.json':
        '{ "extends": "../../.data/secret.json", "compilerOptions": { "baseUrl": "../../.data", "paths": { "data/*": ["../../.data/*"] } } }',
    },
    bare,
  ],
  [
    'imports of a package.json',
    {
      ...code('import x from "#data"; export default x'),
      'package.json': '{ "imports": { "#data": "../../.data/secret.json" } }',
    },
    bare,
  ],
  [
    'main of a package.json inside',
    {
      ...code('import "./lib/"'),
      'lib/package.json': '{ "main": "../../../.data/secret.json", "browser": "../../../.data/secret.json" }',
    },
    kinds,
  ],
  ['a main file outside', manifest({ main: '../../.data/secret.ts' }), outside],
  ['an absolute main file', manifest({ main: '/etc/hosts.ts' }), outside],
  ['a pattern as main file', manifest({ main: '../../**/*.ts' }), outside],
  ['a pattern inside as main file', manifest({ main: '*.ts' }), 'There is no file'],
  ['a main file that is missing', manifest({ main: 'nothing.ts' }), 'There is no file'],
  ['a main file that is no text', manifest({ main: 7 }), 'main'],
  ['a FIFO as main file', code(''), irregular, replace('bot.ts', fifo)],
  ['a socket as main file', code(''), irregular, replace('bot.ts', socket)],
  ['a folder as main file', code(''), irregular, replace('bot.ts', (path) => mkdirSync(path))],
  ['a link to a device as main file', code(''), outside, replace('bot.ts', linkTo('/dev/zero'))],
  ['a link to the terminal as main file', code(''), 'cannot be read', replace('bot.ts', linkTo('/dev/stdin'))],
  [
    'a linked plugin.json',
    code('export default {}'),
    'is a link to a file outside',
    replace('plugin.json', linkTo('../../.data/secret.json')),
  ],
  [
    'a plugin.json that is linked to nothing',
    code('export default {}'),
    'There is no file',
    replace('plugin.json', linkTo('nowhere')),
  ],
  ['a FIFO as plugin.json', code('export default {}'), irregular, replace('plugin.json', fifo)],
  ['a folder as plugin.json', code('export default {}'), irregular, replace('plugin.json', (path) => mkdirSync(path))],
  ['a plugin.json that is no JSON', { ...code(''), 'plugin.json': 'id: x' }, 'is not JSON'],
  ['an empty plugin.json', { ...code(''), 'plugin.json': '' }, 'is not JSON'],
  ['a plugin.json that is no object', { ...code(''), 'plugin.json': 'null' }, 'object'],
  ['a large plugin.json', { ...code(''), 'plugin.json': `"${'x'.repeat(70_000)}"` }, 'larger than 65536 bytes'],
  ['a deep plugin.json', { ...code(''), 'plugin.json': '['.repeat(30_000) + ']'.repeat(30_000) }, 'nested'],
  [
    'a plugin.json in another encoding',
    code(''),
    'is not UTF-8',
    replace('plugin.json', (p) => writeFileSync(p, Buffer.from('{"id":"\xff"}', 'latin1'))),
  ],
  [
    'code in another encoding',
    code(''),
    'is not UTF-8',
    replace('bot.ts', (p) => writeFileSync(p, Buffer.from('export default "\xff"', 'latin1'))),
  ],
  ['JSON that is none', { ...code('import x from "./d.json"; export default x'), 'd.json': `${secret} {` }, 'd.json:1'],
  ['an id that is not the folder', manifest({ id: 'somebody-else' }), 'must be the name of the folder'],
  [endless, code(`export default ${'a?(b):c=>d?'.repeat(24)}0`), 'more than 10 s of processor time'],
  ['450,000 nested brackets', code(`export default ${'['.repeat(450_000)}${']'.repeat(450_000)}`), nesting],
  ['450,000 open brackets', code(`export default ${'('.repeat(450_000)}`), nesting],
  ['nested templates', code(`export default ${'`${'.repeat(100_000)}1${'}`'.repeat(100_000)}`), nesting],
  [
    'nested JSON',
    { ...code('import x from "./d.json"; export default x'), 'd.json': `${'['.repeat(450_000)}${']'.repeat(450_000)}` },
    nesting,
  ],
  [
    'an enum that doubles a text',
    code(`enum E { a0 = "${'x'.repeat(1000)}", ${doubling(40)} } export default E`),
    'more memory',
  ],
  [
    'an enum that doubles a text a little',
    code(`enum E { a0 = "${'x'.repeat(1000)}", ${doubling(10)} } export default E`),
    'more than 524288 characters',
  ],
  ['200 files of 1 MB', manyFiles(200, ' '.repeat(1_000_000)), 'more than 2097152 bytes together'],
  ['very many small files', manyFiles(300, ''), 'more than 200 files'],
  ['a large file', code(' '.repeat(1_100_000)), 'larger than 1048576 bytes'],
  [
    'a huge file with holes',
    code(''),
    'larger than 1048576 bytes',
    replace('bot.ts', (path) => execFileSync('truncate', ['-s', '1T', path])),
  ],
  ['too much code', code(`export default '${'x'.repeat(600_000)}'`), 'more than 524288 characters'],
  ['a path longer than any', code(`import "./${'deep/'.repeat(20_000)}x.js"`), 'There is no file "./deep/deep/'],
  ['broken code', code('export default {'), 'Expected identifier'],
  ['await at the top', code('await 1; export default 1'), 'await'],
  ['escape sequences in a name', code('import "./\\u001b[2J\\u202e.js"'), '\\u{1b}[2J\\u{202e}'],
];

// What is small is tried together with others, each in a folder of its own: a process for each would take long.
const smallChars = 1000;
const smallFiles = 5;
const rowsPerPackage = 15;

type Row = (typeof rows)[number];

function isSmall([title, files]: Row): boolean {
  const texts = Object.values(files);
  const isPackages = title === endless || /plugin\.json|main file/.test(title) || files['plugin.json'] !== undefined;
  return !isPackages && texts.length < smallFiles && texts.join('').length < smallChars;
}

function pack(small: readonly Row[], index: number): { package: HostilePackage; attempts: Attempt[] } {
  const name = `together-${index}`;
  const main = small.map((_, number) => `import './r${number}/bot.ts';`).join('\n');
  const texts = small.flatMap(([, files], number) =>
    Object.entries(files).map(([path, text]) => [`r${number}/${path}`, text]),
  );
  const make = (folder: string): void => {
    for (const [number, [, , , makeOne]] of small.entries()) makeOne?.(join(folder, `r${number}`));
  };
  return {
    package: { name, files: { 'bot.ts': main, ...(Object.fromEntries(texts) as Record<string, string>) }, make },
    // What is wrong with the file itself is told of the line that imports it.
    attempts: small.map(([title, , refusal], number) => {
      return { title, name, begins: [`r${number}/`, `bot.ts:${number + 1}: `], refusal };
    }),
  };
}

const small = rows.filter(isSmall);
const packed = Array.from({ length: Math.ceil(small.length / rowsPerPackage) }, (_, index) =>
  pack(small.slice(index * rowsPerPackage, (index + 1) * rowsPerPackage), index),
);
const alone = rows
  .filter((row) => !isSmall(row))
  .map(([title, files, refusal, make], index) => {
    const name = `alone-${index}`;
    return { package: { name, files, ...(make ? { make } : {}) }, attempts: [{ title, name, begins: [''], refusal }] };
  });

/** Every package of the corpus. */
export const packages: readonly HostilePackage[] = [...packed, ...alone].map((each) => each.package);
/** Everything that they try. */
export const attempts: readonly Attempt[] = [...packed, ...alone].flatMap((each) => each.attempts);

/** Writes a package of the corpus below a folder `bots`; where plugin.json is not its point, it has a good one. */
export function writePackage(bots: string, { name, files, make }: HostilePackage): void {
  const folder = join(bots, name);
  mkdirSync(folder, { recursive: true });
  const given = files['plugin.json'];
  const own = given?.includes('"id":"sample"') ? given.replace('"id":"sample"', `"id":"${name}"`) : given;
  writeFileSync(join(folder, 'plugin.json'), own ?? JSON.stringify(manifestOf({ id: name })));
  for (const [path, text] of Object.entries(files)) {
    if (path === 'plugin.json') continue;
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  make?.(folder);
}
