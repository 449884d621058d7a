import type { Mutant } from './mutant.ts';

export const http: readonly Mutant[] = [
  {
    file: 'src/http/route/authenticate.ts',
    text: '(\\S+)$/i.exec',
    replacement: '(\\S+)$/.exec',
    test: 'test/api/accounts/profile.test.ts',
    only: 'in each spelling',
    harm: 'Clients that send "bearer" get 401.',
  },
  {
    file: 'src/http/server/rate-limit.ts',
    text: 'if (!result || result.remainingPoints > 0) return;',
    replacement: 'if (!result || result.remainingPoints >= 0) return;',
    test: 'test/http/rate-limit.test.ts',
    harm: 'Whoever has guessed wrong 60 times a minute still gets in with a right guess.',
  },
  {
    file: 'src/http/conditional/idempotency.ts',
    text: 'const parts = [ctx.method, ctx.originalUrl, body];',
    replacement: 'const parts = [ctx.method, body];',
    test: 'test/http/idempotency.test.ts',
    only: 'another request under the key',
    harm: 'A key used again in another conversation answers the message of the first, and sends none.',
  },
  {
    file: 'src/http/conditional/if-match.ts',
    text: 'ISOLATION LEVEL REPEATABLE READ',
    replacement: 'ISOLATION LEVEL READ COMMITTED',
    test: 'test/http/etag.test.ts',
    only: 'between check and change',
    harm: 'Of two who change a record under the same If-Match, both succeed and one change is lost.',
  },
  {
    file: 'src/http/server/fair-gate.ts',
    text: `      this.#waiting.delete(waiting);
      reject(busy());`,
    replacement: '      reject(busy());',
    test: 'test/http/fair-gate.test.ts',
    harm: 'Each request that waited in vain takes a place for ever, until the service answers nobody.',
  },
  {
    file: 'src/http/server/connections.ts',
    text: `      connection.requests += 1;
      this.#idle.delete(connection);`,
    replacement: '      connection.requests += 1;',
    test: 'test/http/connections.test.ts',
    only: 'connections',
    harm: 'A full server cuts connections in the midst of a request.',
  },
  {
    file: 'src/http/route/mount.ts',
    text: 'if (storing && body) await options[storing].spend',
    replacement: 'if (storing && body) void options[storing].spend',
    test: 'test/api/public/widget-identity.test.ts',
    only: 'so many bytes a minute',
    harm: 'Anonymous visitors store as much as they like, and the refusal nobody waits for ends the process.',
  },
  {
    file: 'src/http/server/answer-errors.ts',
    text: `    'internal',
    'Something went wrong in the service; the request_id helps its operator to find out what',`,
    replacement: `    'internal',
    message ?? 'Something went wrong in the service; the request_id helps its operator to find out what',`,
    test: 'test/http/http.test.ts',
    only: 'fails in the service',
    harm: 'The answer to a failed request tells statements and names of the database.',
  },
  {
    file: 'src/http/server/log-requests.ts',
    text: "ctx['_matchedRoute'] ?? null;",
    replacement: "ctx['_matchedRoute'] ?? ctx.path;",
    test: 'test/boot/log-lines.test.ts',
    harm: 'The log keeps tokens that somebody put into an address that no route serves.',
  },
  {
    file: 'src/http/route/admit-visitor.ts',
    text: 'options[limit].consume(ctx, `contact ${visit.contact.id}`)',
    replacement: 'options[limit].consume(ctx, `inbox ${visit.inbox.id}`)',
    test: 'test/api/public/widget-access.test.ts',
    harm: 'One busy visitor uses up the requests of all visitors of the inbox.',
  },
];
