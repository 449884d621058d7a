import { expect } from 'chai';
import { routes } from '../../src/api/index.ts';
import { doors } from '../../src/http/route/admission/doors.ts';
import { mount, type MountOptions } from '../../src/http/route/mount.ts';
import { factsOf } from '../../src/http/route/admission/roles.ts';
import type { Contract, Route } from '../../src/http/route/route.ts';
import { documents, type SchemaName } from '../../src/schemas.ts';

const inAccount = '/api/v1/accounts/:account_id';
const nothing = { reply: 'resources/empty' } as const;

/** Rows for the compiler: `tsc` fails where an expected error is missing. */
const compiled = [
  doors.account(
    ['GET', `${inAccount}/things/:thing_id/parts/:code`, 'Get a part'],
    { ...nothing, role: 'agent' },
    async (call) => {
      const id: number = call.params.thing_id;
      const account: number = call.params.account_id;
      const text: string = call.params.code;
      // @ts-expect-error A misspelt name.
      call.params.thingId;
      // @ts-expect-error Text is no identifier.
      const code: number = call.params.code;
      // @ts-expect-error Nobody visits an account.
      call.visit;
      // @ts-expect-error The contract has no body.
      call.body.name;
      await call.transact(async ({ sql }) => sql);
      return { id, account, text, code };
    },
  ),
  doors.platform(
    ['GET', '/platform/api/v1/things/:id', 'Get a thing'],
    { ...nothing, role: 'platform' },
    async (call) => {
      const id: number = call.params.id;
      // @ts-expect-error There is no account.
      call.account;
      // @ts-expect-error Nobody acts in an account.
      call.actor;
      // @ts-expect-error A transaction is in no account before the handler names one.
      await call.transact(async (tx) => tx.account);
      return { id, by: call.principal.id, in: call.transact((tx) => tx.in({ id, name: '' }).flush()) };
    },
  ),
  doors.visitor(
    ['GET', '/public/api/v1/inboxes/:identifier/things', 'List things'],
    { ...nothing, role: 'contact' },
    async (call) => {
      const identifier: string = call.params.identifier;
      // @ts-expect-error A visitor is no principal: it has a contact token at most.
      call.principal;
      return { identifier, inbox: call.visit.inbox, in: call.transact };
    },
  ),
  doors.open(['GET', '/things/:token', 'Show a thing'], { ...nothing, role: 'anyone' }, async (call) => {
    const token: string = call.params.token;
    // @ts-expect-error Nobody knows who calls.
    call.principal;
    // @ts-expect-error There is no account.
    await call.transact(async (tx) => tx.account);
    return { token };
  }),
  // @ts-expect-error The path is not that of an account.
  doors.account(['GET', '/api/v1/things', 'List things'], { ...nothing, role: 'agent' }, async () => ({})),
  // @ts-expect-error The role does not come in by this door.
  doors.account(['GET', `${inAccount}/things`, 'List things'], { ...nothing, role: 'platform' }, async () => ({})),
  // @ts-expect-error No summary.
  doors.account(['GET', `${inAccount}/things`], { ...nothing, role: 'agent' }, async () => ({})),
  doors.open(
    ['DELETE', '/things', 'Remove things'],
    // @ts-expect-error Batches are an account's.
    { ...nothing, role: 'anyone', inBatches: true },
    async () => ({}),
  ),
  doors.account(
    ['POST', `${inAccount}/things/:id/touch`, 'Touch a thing'],
    { body: 'requests/contact.create', ...nothing, role: 'agent' },
    {
      prepare: async (call) => {
        // @ts-expect-error The preparation holds no connection.
        call.sql;
        return call.services.outbound.checkUrl(call.body.name, { httpsOnly: true });
      },
      handle: async ({ params, body }, problem) => ({ id: params.id, name: body.name, rule: problem?.rule }),
    },
  ),
];

interface SchemaHead {
  type?: unknown;
  properties?: Record<string, SchemaHead>;
}

/**
 * What the named schema lets through: text, a list (bare, or `payload` with or without `meta`, under `data` or not,
 * several of them under `payload`), one record.
 */
function formOf({ type, properties = {} }: SchemaHead): 'text' | 'list' | 'record' {
  if (type === 'array') return 'list';
  if (type !== 'object') return 'text';
  const names = Object.keys(properties).filter((name) => name !== 'meta');
  if (names.length !== 1) return 'record';
  const { payload, data } = properties;
  const groups = Object.values(payload?.properties ?? {});
  if (groups.length > 1 && groups.every((group) => formOf(group) === 'list')) return 'list';
  return formOf(payload ?? data ?? {}) === 'list' ? 'list' : 'record';
}

const headOf = (schema: SchemaName) => documents.get(schema) as SchemaHead;

// Of what anybody may read, such as whether the process lives, only what may be kept has a tag.
function answersRecord({ role, reply, cacheable, stream }: Contract): boolean {
  if (stream) return false;
  return formOf(headOf(reply)) === 'record' && (factsOf(role).door !== 'open' || cacheable === true);
}

function takesPage({ query }: Contract): boolean {
  return query !== undefined && 'page' in (headOf(query).properties ?? {});
}

function tellsPages({ reply }: Contract): boolean {
  const { properties = {} } = headOf(reply);
  return 'meta' in (properties['data']?.properties ?? properties);
}

/** Rows whose contract says otherwise than their schemas what they answer. */
function findUntrueAnswers(table: readonly Route[]): string[] {
  return table.flatMap(({ method, path, contract }) => {
    const isRecord = method === 'GET' && answersRecord(contract);
    const isPaged = method === 'GET' && takesPage(contract);
    const { record = false, paged = false } = contract;
    const problems: [boolean, string][] = [
      [record && !isRecord, 'answers no record'],
      [isRecord && !record, 'answers a record, and does not say so'],
      [paged && !isPaged, 'takes no page'],
      [isPaged && !paged, 'takes a page, and does not say that it answers one'],
      [paged && !tellsPages(contract), 'answers a page without its number'],
    ];
    return problems.filter(([isProblem]) => isProblem).map(([, problem]) => `${method} ${path} ${problem}`);
  });
}

describe('the doors of the API', () => {
  it('give each call what is known behind them: see the lines that must not compile', () => {
    expect(compiled.map(({ contract }) => contract.summary)).to.include.members(['Get a part', 'Show a thing']);
  });

  describe('what a contract says of its answer', () => {
    const contract = { role: 'agent', summary: 'Get a thing' } as const;
    const planted = (more: Pick<Contract, 'reply' | 'query' | 'record' | 'paged'>): string[] =>
      findUntrueAnswers([
        { method: 'GET', path: '/things', contract: { ...contract, ...more }, steps: { handle: async () => null } },
      ]);

    it('is so, and everything that is so is said', () => {
      expect(findUntrueAnswers(routes)).to.deep.equal([]);
    });

    it('is found untrue where it is', () => {
      const said = (problem: string) => [`GET /things ${problem}`];
      expect(planted({ reply: 'resources/contact' })).to.deep.equal(said('answers a record, and does not say so'));
      expect(planted({ reply: 'resources/label-list', record: true })).to.deep.equal(said('answers no record'));
      expect(planted({ reply: 'resources/agent-list', record: true })).to.deep.equal(said('answers no record'));
      expect(planted({ reply: 'resources/conversation-list', paged: true })).to.deep.equal(said('takes no page'));
      const query = 'requests/page.query' as const;
      expect(planted({ reply: 'resources/contact-list', query })).to.deep.equal(
        said('takes a page, and does not say that it answers one'),
      );
      expect(planted({ reply: 'resources/message-list', query, paged: true })).to.deep.equal(
        said('answers a page without its number'),
      );
      expect(planted({ reply: 'resources/contact', record: true })).to.deep.equal([]);
    });

    it('takes a record for one whatever its properties are called', () => {
      const text = { type: 'string' };
      expect(formOf({ type: 'object', properties: { id: text, data: text } })).to.equal('record');
      expect(formOf({ type: 'object', properties: { data: { type: 'object', properties: { a: text } } } })).to.equal(
        'record',
      );
      expect(formOf({ type: 'object', properties: { payload: { type: 'array' }, id: text } })).to.equal('record');
      expect(formOf({ type: 'object', properties: { payload: { type: 'array' }, meta: {} } })).to.equal('list');
    });
  });

  describe('the router', () => {
    const filled = (path: string) => path.replaceAll(/:\w+/g, '7');
    const found = (table: readonly Route[], { method, path }: Route) =>
      mount(table, {} as MountOptions).match(filled(path), method).pathAndMethod[0]?.name;

    it('takes literal segments before parameters, in whatever order the rows stand', () => {
      for (const table of [routes, routes.toReversed()]) {
        const router = mount(table, {} as MountOptions);
        for (const route of routes) {
          const [first] = router.match(filled(route.path), route.method).pathAndMethod;
          expect(first?.name).to.equal(`${route.method} ${route.path}`);
        }
      }
    });

    it('does so in the first segment, the last and between', () => {
      const row = (path: string): Route => ({ ...routes[0]!, method: 'GET', path });
      const paths = ['/a/:id/c', '/a/:id/:word', '/a/b/:word', '/a/b/c', '/:word/b/c'];
      for (const table of [paths, paths.toReversed()]) {
        const rows = table.map(row);
        expect(found(rows, row('/a/b/c'))).to.equal('GET /a/b/c');
        expect(found(rows, row('/a/b/x'))).to.equal('GET /a/b/:word');
        expect(found(rows, row('/a/7/c'))).to.equal('GET /a/:id/c');
        expect(found(rows, row('/a/7/x'))).to.equal('GET /a/:id/:word');
        expect(found(rows, row('/x/b/c'))).to.equal('GET /:word/b/c');
      }
    });
  });
});
