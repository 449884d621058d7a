import { options } from 'preact';
import { Store } from '../shared/store.ts';

/** Where the browser is. */
export interface Place {
  path: string;
  /** Without the account: it is of the whole console, and no filter of a view. */
  query: URLSearchParams;
  /** The account that the address names; null for none. */
  account: string | null;
}

const accountName = 'account';

/** The present place. */
export const place = new Store<Place>(readPlace());

/**
 * Goes to an address of the console, in the present account unless it names one; with `replace`, in place of the present
 * address in the history.
 */
export function go(address: string, { replace = false }: { replace?: boolean } = {}): void {
  if (!replace) position += 1;
  history[replace ? 'replaceState' : 'pushState']({ index: position }, '', withAccount(address));
  place.set(readPlace());
}

/** Changes the query of the present address; null removes a parameter. Filters of lists are kept there. */
export function setQuery(changes: Readonly<Record<string, string | number | null>>): void {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, String(value));
  }
  const search = query.toString();
  go(location.pathname + (search === '' ? '' : `?${search}`), { replace: true });
}

/** Goes on in another account, without the filters, which are of this one. */
export function goToAccount(id: number): void {
  go(`${location.pathname}?${accountName}=${id}`);
}

/** Has every link within the console lead to the account that the present address names, in new tabs too. */
export function keepAccountInLinks(): void {
  options.vnode = ({ type, props }) => {
    if (type !== 'a' || !('href' in props)) return;
    const { href } = props;
    // Text written by strangers may not be an address.
    if (typeof href === 'string' && href.startsWith('/console')) Object.assign(props, { href: withAccount(href) });
  };
}

function withAccount(address: string): string {
  const { account } = place.value;
  const url = new URL(address, location.origin);
  if (account === null || url.searchParams.has(accountName)) return address;
  url.searchParams.set(accountName, account);
  return url.pathname + url.search + url.hash;
}

/**
 * Follows links to the console without loading the page anew; all others are the browser's. `mayLeave` is asked before links
 * and steps through the history leave the page.
 */
export function followLinks(mayLeave: () => boolean | Promise<boolean>): void {
  followSteps(mayLeave);
  document.addEventListener('click', (event) => {
    const address = event.defaultPrevented || !isPlain(event) ? null : ownAddress(event.target);
    if (address === null) return;
    event.preventDefault();
    const allowed = mayLeave();
    if (allowed === true) go(address);
    else if (allowed !== false) void allowed.then((may) => may && go(address));
  });
}

// The browser has taken the step before anybody can ask: it is taken back, and repeated when the answer is yes.
function followSteps(mayLeave: () => boolean | Promise<boolean>): void {
  let isAllowed = false;
  addEventListener('popstate', () => {
    const step = indexOf(history.state) - position;
    const allowed = isAllowed || step === 0 || mayLeave();
    isAllowed = false;
    if (allowed === true) {
      position += step;
      place.set(readPlace());
      return;
    }
    history.go(-step);
    if (allowed !== false) {
      void allowed.then((may) => {
        isAllowed = may;
        return may && history.go(step);
      });
    }
  });
}

// Position of the present entry in the history of the tab.
let position = indexOf(history.state);

function indexOf(state: unknown): number {
  return (state as { index?: number } | null)?.index ?? 0;
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
  const query = new URLSearchParams(location.search);
  const account = query.get(accountName);
  query.delete(accountName);
  return { path: location.pathname, query, account };
}
