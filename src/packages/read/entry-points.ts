import { posix } from 'node:path';
import { exports, imports } from 'resolve.exports';

/** The fields of a package.json, which may hold anything. */
export interface PackageManifest {
  readonly version?: unknown;
  readonly license?: unknown;
  readonly main?: unknown;
  readonly module?: unknown;
  readonly browser?: unknown;
  readonly sideEffects?: unknown;
  readonly dependencies?: unknown;
  readonly exports?: unknown;
  readonly imports?: unknown;
}

/** An import of a package: `subpath` is `.`, or `./…` below it. */
interface Entry {
  name: string;
  subpath: string;
  isRequire: boolean;
}

/**
 * The files that the `exports` of a package name for an import, the best first; none if it exports no such thing. Null for a
 * package without `exports`, whose files can be imported by their paths.
 */
export function entryPoints(manifest: PackageManifest, { name, subpath, isRequire }: Entry): string[] | null {
  if (manifest.exports === undefined || manifest.exports === null) return null;
  const known = { name, exports: manifest.exports } as Parameters<typeof exports>[0];
  return orNone(() => exports(known, subpath, optionsFor(isRequire))).filter((path) => path.startsWith('./'));
}

/** The targets of an import that begins with `#`: files (`./…`) or names of packages. */
export function importTargets(manifest: PackageManifest, specifier: string, isRequire: boolean): string[] {
  const known = { name: '', imports: manifest.imports } as Parameters<typeof imports>[0];
  return orNone(() => imports(known, specifier, optionsFor(isRequire)));
}

/**
 * Returns the replacement of a file (`./…`) or a package by the `browser` map of a package: the name of another one, false for nothing,
 * undefined where it says nothing.
 */
export function replacementFor({ browser }: PackageManifest, wanted: string): string | false | undefined {
  if (typeof browser !== 'object' || browser === null) return undefined;
  const names = wanted.startsWith('./') ? [wanted, wanted.slice(2), wanted.replace(/\.\w+$/, '')] : [wanted];
  for (const name of names) {
    const found: unknown = Object.hasOwn(browser, name) ? (browser as Record<string, unknown>)[name] : undefined;
    if (found === false) return false;
    if (typeof found === 'string') return wanted.startsWith('./') ? posix.normalize(found) : found;
  }
  return undefined;
}

function optionsFor(isRequire: boolean) {
  const conditions = [isRequire ? 'require' : 'import', ...(isRequire ? [] : ['module']), 'browser', 'production'];
  return { unsafe: true, conditions };
}

// The library throws where nothing is exported, and for maps that are none.
function orNone(find: () => string[] | void): string[] {
  try {
    const found = find() ?? [];
    return found.filter((target) => typeof target === 'string');
  } catch {
    return [];
  }
}
