import { setQuery } from '../router.ts';

interface PagesProps {
  meta: { count: number; current_page: number; total_pages: number };
}

/** The way through a list by pages; the page is kept in the address as `page`. */
export function Pages({ meta }: PagesProps) {
  const { count, current_page: current, total_pages: total } = meta;
  if (total <= 1) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={current <= 1} onClick={() => setQuery({ page: current - 1 })}>
        Previous
      </button>
      <span>
        Page {current} of {total} ({count} total)
      </span>
      <button type="button" disabled={current >= total} onClick={() => setQuery({ page: current + 1 })}>
        Next
      </button>
    </nav>
  );
}

/** The page that the address names. */
export function pageOf(query: URLSearchParams): number {
  const page = Number(query.get('page'));
  return Number.isSafeInteger(page) && page > 0 ? page : 1;
}
