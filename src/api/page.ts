import type { Page } from '../domain/small-rows.ts';

/** The `meta` of a page; `count` is the number of records on all pages. */
export function pageMeta({ count, page, perPage }: Omit<Page<unknown>, 'rows'>) {
  return { count, current_page: page, total_pages: Math.max(1, Math.ceil(count / perPage)) };
}

/** The answer of a paged list. */
export function presentPage<Row, Shown>(page: Page<Row>, present: (row: Row) => Shown) {
  return { payload: page.rows.map(present), meta: pageMeta(page) };
}

/** The answer of a list that is not paged, as its only page. */
export function presentWhole<Row, Shown>(rows: Row[], present: (row: Row) => Shown) {
  return presentPage({ rows, count: rows.length, page: 1, perPage: Math.max(1, rows.length) }, present);
}
