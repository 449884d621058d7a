/** What a list tells about its pages: `count` records in all. */
export function pageMeta(count: number, page: number, perPage: number) {
  return { count, current_page: page, total_pages: Math.max(1, Math.ceil(count / perPage)) };
}
