import type { Page } from '../domain/small-rows.ts';

/** What a list tells about its pages: `count` records in all. */
export function pageMeta({ count, page, perPage }: Omit<Page<unknown>, 'rows'>) {
  return { count, current_page: page, total_pages: Math.max(1, Math.ceil(count / perPage)) };
}

/** The answer of a list that comes page by page. */
export function presentPage<Row, Shown>(page: Page<Row>, present: (row: Row) => Shown) {
  return { payload: page.rows.map(present), meta: pageMeta(page) };
}

/** The answer of a list that comes whole, as one page. */
export function presentWhole<Row, Shown>(rows: Row[], present: (row: Row) => Shown) {
  return presentPage({ rows, count: rows.length, page: 1, perPage: Math.max(1, rows.length) }, present);
}
