import { routes } from '../src/api/index.ts';
import type { Route } from '../src/http/route/route.ts';

const account = '/api/v1/accounts/:account_id/';

/**
 * The operations of the published API as types for clients in browsers: by method and path, relative to the account where they
 * are in one, each with the schemas of what is sent and answered.
 */
export function renderOperations(): string {
  const rows = routes.filter(({ contract }) => contract.reply !== 'resources/page').map(renderRow);
  return [
    '// Generated from the route table by `npm run schemas`.',
    '',
    '/** The operations of the API, each with its schemas. */',
    'export interface Operations {',
    ...rows.toSorted(),
    '}',
    '',
  ].join('\n');
}

function renderRow({ method, path, contract: { body, query, reply } }: Route): string {
  const name = path.startsWith(account) ? path.slice(account.length) : path;
  const sent = [body && `body: '${body}'`, query && `query: '${query}'`, `reply: '${reply}'`];
  return `  '${method} ${name}': { ${sent.filter((part) => part !== undefined).join('; ')} };`;
}
