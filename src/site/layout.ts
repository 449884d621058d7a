/** An HTML page of web/, and the paths at which it is shown; a path that ends with `*` stands for all that begin so. */
export interface Page {
  html: string;
  paths: readonly string[];
}

/** A program of web/ that pages of others load: one file at a path that never changes, readable from every origin. */
interface Script {
  entry: string;
  path: string;
}

/** Pages and scripts that are built from web/, and where they are served. */
export interface Layout {
  pages: readonly Page[];
  scripts: readonly Script[];
}

/** Where the page of the built-in receiver is shown, which is there with the demonstration's data only. */
export const playPath = '/play';

/** The service's own layout. */
export const layout: Layout = {
  pages: [
    { html: 'console/index.html', paths: ['/console', '/console/*'] },
    { html: 'widget/page/index.html', paths: ['/chat/*'] },
    { html: 'play/index.html', paths: [playPath] },
  ],
  scripts: [{ entry: 'widget/main.tsx', path: '/widget.js' }],
};

/** Where files with a hash in their name are. */
export const assets = '/assets/';

/** The page shown at a path, or null. */
export function pageAt({ pages }: Layout, path: string): Page | null {
  const matches = (pattern: string): boolean =>
    pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
  return pages.find(({ paths }) => paths.some(matches)) ?? null;
}

/** Whether the path is one of the site's, built or not. */
export function belongsToSite(shown: Layout, path: string): boolean {
  return (
    path.startsWith(assets) || pageAt(shown, path) !== null || shown.scripts.some((script) => script.path === path)
  );
}
