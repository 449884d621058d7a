import { Store } from '../shared/store.ts';

/** Where the browser is: path and query. */
export interface Place {
  path: string;
  query: URLSearchParams;
}

/** The present place. */
export const place = new Store<Place>(readPlace());

/** Goes to an address of the console; with `replace`, in place of the present one in the history. */
export function go(address: string, { replace = false }: { replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', address);
  place.set(readPlace());
}

/** Changes the query of the present address; null removes a parameter. Filters of lists are kept there. */
export function setQuery(changes: Readonly<Record<string, string | number | null>>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, String(value));
  }
  const search = query.toString();
  go(location.pathname + (search === '' ? '' : `?${search}`), { replace: true });
}

/** Follows links to the console without loading the page anew; all others are the browser's. */
export function followLinks(): void {
  addEventListener('popstate', () => place.set(readPlace()));
  document.addEventListener('click', (event) => {
    const address = event.defaultPrevented || !isPlain(event) ? null : ownAddress(event.target);
    if (address === null) return;
    event.preventDefault();
    go(address);
  });
}

// Anything else opens a tab or a window, or a menu.
function isPlain({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}

function ownAddress(target: EventTarget | null): string | null {
  const link = target instanceof Element ? target.closest('a') : null;
  if (!link || link.target !== '' || link.hasAttribute('download')) return null;
  const { origin, pathname, search, hash } = new URL(link.href);
  const isOurs = origin === location.origin && (pathname === '/console' || pathname.startsWith('/console/'));
  return isOurs && hash === '' ? pathname + search : null;
}

/** The parameters of a path that matches the pattern (`/console/labels/:id`), else null. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.replace(/(?<=.)\/$/, '').split('/');
  if (wanted.length !== given.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? '';
    if (part.startsWith(':')) parameters[part.slice(1)] = decode(text);
    else if (part !== text) return null;
  }
  return parameters;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readPlace(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}
