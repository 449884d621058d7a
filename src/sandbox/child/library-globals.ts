import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { asFunction } from './isolate-code.ts';

/** Globals that take a library. An isolate gets them only if the bot's code names one of them: loading takes some milliseconds. */
export interface IsolateLibrary {
  mention: RegExp;
  filename: string;
  /** Defines the globals. */
  script: string;
}

/** Returns the libraries whose globals the code of a bot names. */
export function librariesFor(code: string): IsolateLibrary[] {
  return libraries.filter(({ mention }) => mention.test(code));
}

const require = createRequire(import.meta.url);
const requirePattern = /\brequire\((["'])([^"']+)\1\)/g;
/**
 * Modules that are loaded when they are needed. Names of hosts in ASCII need no table of Unicode, as the URL Standard says: it
 * and its patterns take more time than everything else.
 */
const late: Readonly<Record<string, (loading: string) => string>> = {
  tr46: (loading) => `({ toASCII: (domain, options) => /^[\\0-\\x7f]*$/.test(domain) && !/(?:^|\\.)xn--/i.test(domain)
  ? domain.toLowerCase() : ${loading}.toASCII(domain, options) })`,
};
// All are read when the process starts: later it may read no file.
const libraries: readonly IsolateLibrary[] = [
  libraryOf(require.resolve('whatwg-url'), { URL: 'library.URL', URLSearchParams: 'library.URLSearchParams' }),
  libraryOf(require.resolve('@ungap/structured-clone'), { structuredClone: '(value) => library.default(value)' }),
];

function libraryOf(path: string, globals: Readonly<Record<string, string>>): IsolateLibrary {
  const names = Object.keys(globals);
  const defined = names.map(
    (name) =>
      `Object.defineProperty(globalThis, '${name}', { value: ${globals[name]}, writable: true, configurable: true });`,
  );
  const script = `(() => { ${asFunction('encoding')}
const [TextEncoder, TextDecoder] = [file_encoding.textEncoder(), file_encoding.textDecoder()];
const library = ${packageCode(path)};
${defined.join('\n')} })()`;
  const mention = new RegExp(`\\b(?:${names.join('|')})\\b`);
  return { mention, filename: `switchboard:${names.join()}`, script };
}

/** A package of CommonJS modules, and those that it requires, as an expression: the value is what the package exports. */
function packageCode(main: string): string {
  const numbers = new Map<string, number>();
  const modules: string[] = [];
  const add = (path: string): number => {
    const known = numbers.get(path);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(path, number);
    const { resolve } = createRequire(path);
    const text = readFileSync(path, 'utf8');
    const loading = (wanted: string) => `require(${add(resolve(wanted))})`;
    const body =
      extname(path) === '.json'
        ? `module.exports = ${text};`
        : text.replaceAll(
            requirePattern,
            (_, __, wanted: string) => late[wanted]?.(loading(wanted)) ?? loading(wanted),
          );
    modules[number] = `(module, exports, require) => {${body}\n}`;
    return number;
  };
  add(main);
  return `((modules) => {
  const loaded = [];
  const require = (number) => {
    if (!loaded[number]) modules[number](loaded[number] = { exports: {} }, loaded[number].exports, require);
    return loaded[number].exports;
  };
  return require(0);
})([${modules.join(',\n')}])`;
}
