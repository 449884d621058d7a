// Most clients accept 16 KB of headers, and the query occurs up to four times in them.
const maxQueryLength = 2048;

interface Meta {
  current_page: number;
  total_pages: number;
}

/**
 * The `Link` header (RFC 8288) of a page of a list: first, prev, next and last, as far as they exist. The links are
 * relative, since behind a proxy the service does not know its own host name. Null for replies without pages, and for
 * queries that would make the header too long.
 */
export function pageLinks(reply: unknown, path: string, querystring: string): string | null {
  const meta = findMeta(reply);
  if (!meta || querystring.length > maxQueryLength) return null;
  const { current_page: current, total_pages: total } = meta;
  const pages: [string, number | null][] = [
    ['first', 1],
    ['prev', current > 1 ? Math.min(current - 1, total) : null],
    ['next', current < total ? current + 1 : null],
    ['last', total],
  ];
  const query = new URLSearchParams(querystring);
  const links = pages.map(([relation, page]) => {
    if (page === null) return null;
    query.set('page', String(page));
    return `<${path}?${query.toString()}>; rel="${relation}"`;
  });
  return links.filter((link) => link !== null).join(', ');
}

function findMeta(reply: unknown): Meta | null {
  const { meta, data } = (reply ?? {}) as { meta?: Partial<Meta>; data?: { meta?: Partial<Meta> } };
  const found = meta ?? data?.meta;
  return found?.current_page && found.total_pages ? (found as Meta) : null;
}
