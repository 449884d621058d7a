import manifest from '../../package.json' with { type: 'json' };
import { codeOf, importsOf, isInside, type Sources } from './source-code.ts';

/** The packages that run in browsers: pages are built where nothing for development is installed. */
const packages = ['preact', 'uplot', 'uqr'].filter((name) => Object.hasOwn(manifest.dependencies, name));
const contract = 'schemas/types.ts';

/** What pages must not do: texts of customers, bots and receivers pass through them. */
const forbidden: readonly { what: string; code: RegExp; allowed?: (path: string) => boolean }[] = [
  {
    what: 'makes markup of text',
    code: /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\s*\.\s*write|DOMParser|createContextualFragment)\b/,
  },
  { what: 'makes code of text', code: /(?<![.\w])eval\s*\(|\bnew\s+Function\b|\bset(?:Timeout|Interval)\s*\(\s*['"`]/ },
  // The widget may keep its contact's token, in the page that it is part of; the console keeps drafts, in one file, and the token
  // of a link, in its tab.
  {
    what: 'keeps something in the browser',
    code: /\b(?:localStorage|sessionStorage|indexedDB|document\s*\.\s*cookie)\b/,
    allowed: (path) =>
      isInside('web/widget', path) ||
      ['web/console/kit/kept-drafts.ts', 'web/console/shared-webhook.ts'].includes(path),
  },
];

/** Files of web/ that import more than their own room, web/shared and the contract's types, or do what pages must not. */
export function findWebProblems(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => isInside('web', path))
    .flatMap(([path, text]) => [...findForeignImports(path, text), ...findForbidden(path, text)]);
}

function findForeignImports(path: string, text: string): string[] {
  const room = path.split('/').slice(0, 2).join('/');
  return importsOf(path, text)
    .filter(({ target, isFile, typeOnly }) => {
      if (!isFile) return !packages.some((name) => target === name || target.startsWith(`${name}/`));
      return !isInside(room, target) && !isInside('web/shared', target) && !(typeOnly && target === contract);
    })
    .map(({ target }) => `${path} imports ${target}, which is not for browsers`);
}

function findForbidden(path: string, text: string): string[] {
  const code = codeOf(text);
  return forbidden
    .filter(({ code: pattern, allowed }) => pattern.test(code) && !allowed?.(path))
    .map(({ what }) => `${path} ${what}`);
}
