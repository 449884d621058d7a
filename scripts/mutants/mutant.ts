import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, scopesOf } from './scopes.ts';

/** A mistake that is planted to see whether the tests notice it. */
export interface Mutant {
  /** Source file, from the project's root, and the part of it that is replaced. */
  file: string;
  start: number;
  end: number;
  replacement: string;
  /** Test files that should fail then, from the project's root; with `only`, their tests whose title contains it. */
  tests: string[];
  only?: string;
  /** Harm to users, or the change itself where nobody has judged it. */
  harm: string;
}

/** A mistake of test/mutants.json: found by the name of its function and its text, wherever that stands. */
export interface PlantedMutant {
  /** Function, method (`Class.method`) or declaration of a module. */
  within: string;
  /** Text that stands once in all parts of that name; white space counts as one blank. */
  text: string;
  replacement: string;
  /** Name of the test file, wherever it is; all of that name run. */
  test: string;
  only?: string;
  harm: string;
}

const sources = ['src/**/*.ts', 'web/**/*.{ts,tsx}', 'plugins/**/*.ts'];

/** Finds planted mistakes in the source. A mistake without exactly one place, or without its test, becomes a problem. */
export class PlantedMutants {
  readonly #byName = new Map<string, { file: string; start: number; text: string }[]>();
  readonly #tests: readonly string[];

  constructor(root: string) {
    this.#tests = globSync('test/**/*.test.ts', { cwd: root });
    for (const file of globSync(sources, { cwd: root })) this.#read(root, file);
  }

  /** Returns the mistake with its place, or says why it has none. */
  find({ within, text, test, ...rest }: PlantedMutant): Mutant | { problem: string } {
    const tests = this.#tests.filter((path) => basename(path) === test);
    const pattern = new RegExp(
      text
        .split(/\s+/)
        .map((part) => RegExp.escape(part))
        .join('\\s+'),
      'g',
    );
    const places = (this.#byName.get(within) ?? []).flatMap(({ file, start, text: part }) =>
      [...part.matchAll(pattern)].map((match) => ({
        file,
        start: start + match.index,
        end: start + match.index + match[0].length,
      })),
    );
    // A method in a class, or a function in a function, holds its text a second time.
    const distinct = new Map(places.map((place) => [`${place.file}:${place.start}`, place]));
    const [place] = distinct.values();
    if (place === undefined || distinct.size > 1)
      return { problem: `${within} has \`${text}\` ${distinct.size} times` };
    if (tests.length === 0) return { problem: `${within}: there is no test named ${test}` };
    return { ...place, ...rest, tests };
  }

  #read(root: string, file: string): void {
    const source = readFileSync(join(root, file), 'utf8');
    for (const { name, start, end } of scopesOf(parse(file, source))) {
      const parts = this.#byName.get(name) ?? [];
      this.#byName.set(name, [...parts, { file, start, text: source.slice(start, end) }]);
    }
  }
}
