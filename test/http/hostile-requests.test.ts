import { expect } from 'chai';
import { routes } from '../../src/api/index.ts';
import { ApiError } from '../../src/errors.ts';
import { decodeBody } from '../../src/http/route/body/read-body.ts';
import { bodyLimitOf, checkBody } from '../../src/http/route/body/read-request.ts';
import type { Route } from '../../src/http/route/route.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { computingMs } from '../support/cpu.ts';
import { hostileShape, hostileShapes, placesIn } from '../support/hostile-bodies.ts';
import { Maker } from '../support/maker.ts';

/** How long one request may hold up all others. */
const allowedMs = 200;
const megabyte = 1024 * 1024;
// What is put around a hostile value, and the little by which the builders overshoot.
const slack = 4096;

interface Sent {
  method: string;
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

const limits = {
  maxBytes: megabyte,
  maxUploadBytes: { plugin: megabyte, articles: megabyte },
  maxFormBytes: megabyte,
  formBytes: 1024,
};
const withBody = routes.filter(({ contract }) => contract.body !== undefined && !contract.upload);

/** Runs the work; returns what the caller would be told, or null. */
function refusalOf(work: () => unknown): ApiError | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** JSON that the reading of every body refuses, before any schema sees it. */
const tooDeep = '['.repeat(33) + ']'.repeat(33);

describe('a hostile request', function () {
  this.timeout(120_000);

  describe('body, as large as its contract lets it be, is checked in no time:', () => {
    const schemas = new Map(withBody.map(({ contract }) => [contract.body!, bodyLimitOf(contract, limits)]));
    const seen = new Set<string>();
    const refusedEarly = new Map<string, boolean>();

    /** Whether it breaks a limit of every document, wherever it stands, so that the reading refuses it. */
    function isRefusedEarly(shape: string, limit: number): boolean {
      const known = refusedEarly.get(`${limit} ${shape}`);
      if (known !== undefined) return known;
      const isRefused = refusalOf(() => decodeBody(Buffer.from(hostileShape(shape, limit - slack)))) !== null;
      refusedEarly.set(`${limit} ${shape}`, isRefused);
      return isRefused;
    }

    for (const [schema, limit] of schemas) {
      // The same rules in many schemas take the same time.
      const places = placesIn(schema).filter(({ key }) => !seen.has(`${limit} ${key}`) && seen.add(`${limit} ${key}`));
      it(`${schema}: ${places.map(({ name }) => name).join(', ')}`, async () => {
        for (const place of places) {
          // Reading comes before the schema, at this place too.
          const early = refusalOf(() => checkBody(place.fill(tooDeep), schema));
          expect(early?.details[0], place.name).to.include({ rule: 'depth' });
          const depth = place.name.split('/').length;
          for (const shape of place.shapes) {
            // No schema sees what is refused early: reading it takes the same at every place of this depth.
            const kind = `${limit} ${shape} ${isRefusedEarly(shape, limit) ? depth : place.key}`;
            if (seen.has(kind)) continue;
            seen.add(kind);
            const bytes = place.fill(hostileShape(shape, limit - slack));
            const took = await computingMs(() => refusalOf(() => checkBody(bytes, schema)), allowedMs);
            expect(took, `${shape} at ${place.name}`).to.be.at.most(allowedMs);
          }
        }
      });
    }

    it('every list is among the places', () => {
      const names = [...schemas.keys()].flatMap(placesIn).map(({ name }) => name);
      expect(names).to.include.members(['/subscriptions', '/user_ids', '/allowed_origins', '/labels/0']);
    });
  });

  describe('is answered in no time:', () => {
    let app: TestApp;
    let inbox: string;
    let visitor: Record<string, string>;
    before(async () => {
      app = await TestApp.start({ engine: false });
      const maker = new Maker(app, 1, {
        mark: '',
        administrator: { id: 1, headers: { api_access_token: adminToken } },
      });
      ({ identifier: inbox } = (await app.get('inboxes')).body.payload[0]);
      visitor = (await maker.visitor(1)).headers;
    });
    after(() => app.stop());

    const pathOf = ({ path }: Route) => path.replace(':identifier', inbox).replaceAll(/:\w+/g, '1');

    async function send(path: string, init: Sent): Promise<number> {
      const headers = { api_access_token: adminToken, ...visitor, 'content-type': 'application/json', ...init.headers };
      const response = await fetch(app.url + path, { ...init, headers });
      await response.arrayBuffer();
      return response.status;
    }

    async function expectSoon(path: string, init: Sent, title: string): Promise<void> {
      let status = 0;
      const took = await computingMs(async () => {
        status = await send(path, init);
      }, allowedMs);
      expect(took, title).to.be.at.most(allowedMs);
      expect(status, title).to.be.within(200, 499);
    }

    for (const route of withBody) {
      it(`${route.method} ${route.path}, a megabyte and as much as it takes`, async () => {
        const places = placesIn(route.contract.body!);
        for (const bytes of [megabyte, bodyLimitOf(route.contract, limits) - slack]) {
          for (const [index, shape] of [
            'a list of different lists',
            'an object of many keys',
            'a list of texts',
          ].entries()) {
            const place = places[index % places.length]!;
            const body = new Uint8Array(place.fill(hostileShape(shape, bytes)));
            await expectSoon(
              pathOf(route),
              { method: route.method, body },
              `${shape} at ${place.name}, ${bytes} bytes`,
            );
          }
        }
      });
    }

    it('whatever stands in properties that nobody knows, under a key too', async () => {
      for (const shape of hostileShapes) {
        const bytes = megabyte - slack;
        const body = `{"name":"Known","unknown":${hostileShape(shape, bytes)}}`;
        const headers = { 'idempotency-key': `hostile ${shape}` };
        await expectSoon('/api/v1/accounts/1/contacts', { method: 'POST', body, headers }, shape);
      }
    });

    it('the query of any list', async () => {
      const length = 14_000;
      const fill = (text: string) => text.repeat(length / text.length);
      const queries = ['labels=a&', 'labels[]=a&', 'a&', '&', 'page=1&', '%20', 'q=%20&', '[]', 'a[b][c]=1&'].map(fill);
      const long = ['q', 'status', 'sort', 'page', 'labels'].flatMap((name) =>
        [fill('a'), fill('%20'), fill('9'), fill('%25'), fill('_')].map((value) => `${name}=${value}`),
      );
      const lists = routes.filter(({ contract }) => contract.query !== undefined && !contract.stream);
      for (const route of lists) {
        for (const query of [...queries, ...long]) {
          await expectSoon(`${pathOf(route)}?${query}`, { method: 'GET' }, `${route.path}?${query.slice(0, 20)}`);
        }
      }
    });

    it('long paths and headers', async () => {
      const long = 14_000;
      const paths = ['/', 'a/', '1/', ':a/', '%2f', '..%2f', 'conversations/1/'].map(
        (text) => `/api/v1/accounts/1/${text.repeat(long / text.length)}`,
      );
      for (const path of paths) await expectSoon(path, { method: 'GET' }, path.slice(0, 40));
      const values = ['a', '"', ',', '"a",', 'W/"a", ', ' a', 'a=b;', '9'].map((text) =>
        text.repeat(long / text.length),
      );
      const names = [
        'authorization',
        'idempotency-key',
        'if-match',
        'if-none-match',
        'content-type',
        'origin',
        'accept',
      ];
      for (const name of names) {
        for (const value of values) {
          const init = { method: 'POST', body: '{"name":"x"}', headers: { [name]: value } };
          await expectSoon('/api/v1/accounts/1/contacts', init, `${name}: ${value.slice(0, 8)}`);
        }
      }
    });
  });
});
