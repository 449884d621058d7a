import { expect } from 'chai';
import { adminToken, TestApp, type Answer } from '../support/app.ts';
import { expectError, expectRawError, rawRequest as request, sendRaw } from '../support/raw-http.ts';

const accounts = '/api/v1/accounts/1';
const contacts = `${accounts}/contacts`;

describe('what HTTP lets through', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { rateLimitPerMinute: 0 } });
  });

  after(() => app.stop());

  beforeEach(() => app.events());

  const count = async () => (await app.get('contacts')).body.meta.count as number;

  /** Posts a body as it is to the contacts, and expects that nothing came of it. */
  async function refused(body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
    const before = await count();
    const response = await fetch(app.url + contacts, {
      method: 'POST',
      headers: { api_access_token: adminToken, 'content-type': 'application/json', ...headers },
      body: new Uint8Array(Buffer.from(body)),
    });
    const answer = {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer['body'],
    };
    expect(await count()).to.equal(before);
    expect(await app.eventNames()).to.deep.equal([]);
    expectError(answer.body);
    return answer;
  }

  describe('bodies', () => {
    const deep = (levels: number) => `{"name":"x","custom_attributes":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
    const cases: [string, string | Buffer, number, string][] = [
      ['malformed JSON', '{"name": "x"', 400, 'invalid_json'],
      ['trailing text', '{"name": "x"} {}', 400, 'invalid_json'],
      ['comments', '{"name": "x" /* y */}', 400, 'invalid_json'],
      ['an empty body', '', 400, 'invalid_json'],
      ['white space', ' \n', 400, 'invalid_json'],
      ['null', 'null', 422, 'validation_failed'],
      ['a number', '5', 422, 'validation_failed'],
      ['a text', '"x"', 422, 'validation_failed'],
      ['an array', '[{"name":"x"}]', 422, 'validation_failed'],
      ['an empty object', '{}', 422, 'validation_failed'],
      [
        'invalid UTF-8',
        Buffer.from([...Buffer.from('{"name":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
        400,
        'invalid_json',
      ],
      [
        'overlong UTF-8',
        Buffer.from([...Buffer.from('{"name":"'), 0xc0, 0x80, ...Buffer.from('"}')]),
        400,
        'invalid_json',
      ],
      ['a NUL', String.raw`{"name":"a\u0000b"}`, 422, 'validation_failed'],
      ['a NUL in a key', String.raw`{"name":"x","custom_attributes":{"a\u0000":1}}`, 422, 'validation_failed'],
      ['half of a surrogate pair', String.raw`{"name":"a\ud800b"}`, 422, 'validation_failed'],
      ['the other half', String.raw`{"name":"x","custom_attributes":{"a":["\udc00"]}}`, 422, 'validation_failed'],
      ['33 levels', deep(32), 422, 'validation_failed'],
      ['100,000 levels', deep(100_000), 422, 'validation_failed'],
      ['100,000 arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 422, 'validation_failed'],
      ['__proto__', '{"name":"x","__proto__":{"blocked":true}}', 422, 'validation_failed'],
      ['__proto__ inside', '{"name":"x","custom_attributes":{"__proto__":{}}}', 422, 'validation_failed'],
      ['an infinite number', '{"name":"x","custom_attributes":{"a":1e400}}', 422, 'validation_failed'],
      [
        'a number that would change',
        '{"name":"x","custom_attributes":{"a":9007199254740993}}',
        422,
        'validation_failed',
      ],
      ['more values than anybody needs', `{"name":"x","a":[${'1,'.repeat(20_000)}1]}`, 422, 'validation_failed'],
      ['the wrong types', '{"name":5,"blocked":"yes","email":{}}', 422, 'validation_failed'],
    ];
    for (const [title, body, status, code] of cases) {
      it(`${title}: ${status}`, async () => {
        const answer = await refused(body);
        expect([answer.status, answer.body.code]).to.deep.equal([status, code]);
      });
    }

    it('32 levels and a byte order mark are fine, and unknown properties are left alone', async () => {
      const answer = await app.call('POST', 'contacts', `\ufeff${deep(31)}`.replace('"x"', '"Deep", "unknown": [1]'));
      expect(answer.status).to.equal(201);
      expect(answer.body).not.to.have.property('unknown');
      expect(await app.eventNames()).to.deep.equal(['contact_created']);
    });

    it('an id beyond all numbers: 422', async () => {
      for (const id of ['12345678901234567890', '9223372036854775808', '-1', '0', '1.5', '"1x"', 'true']) {
        const { status, body } = await app.call('POST', 'conversations', `{"inbox_id":${id},"contact_id":1}`);
        expect([id, status, body.code]).to.deep.equal([id, 422, 'validation_failed']);
        expect(body.details[0].path).to.equal('/inbox_id');
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('PATCH with an empty object changes nothing', async () => {
      const { payload, ...contact } = (await app.post('contacts', { name: 'Unchanged' })).body;
      await app.events();
      const { status, body } = await app.patch(`contacts/${contact.id}`, {});
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ ...contact, payload: payload.contact });
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('a body that is too large: 413, and the connection ends', async () => {
      const large = JSON.stringify({ name: 'x', custom_attributes: { text: 'y'.repeat(2_000_000) } });
      const { status, headers, body } = await refused(large);
      expect([status, body.code, headers.get('connection')]).to.deep.equal([413, 'too_large', 'close']);
      const head = ['content-type: application/json', `content-length: ${large.length}`];
      const declared = await sendRaw(app.url, request(`POST ${contacts} HTTP/1.1`, head, large), { untilClosed: true });
      expectRawError(declared, 413);
      expect(declared.closed).to.equal(true);
      const chunk = `${(1_500_000).toString(16)}\r\n${'y'.repeat(1_500_000)}\r\n0\r\n\r\n`;
      const chunked = ['content-type: application/json', 'transfer-encoding: chunked'];
      const grown = await sendRaw(app.url, request(`POST ${contacts} HTTP/1.1`, chunked, chunk), { untilClosed: true });
      expectRawError(grown, 413);
      expect(grown.closed).to.equal(true);
    });

    it('a body has no more room than its contract needs: 192 KB, or all for texts and attributes', async () => {
      const body = (bytes: number) => JSON.stringify({ unknown: 'y'.repeat(bytes) });
      for (const path of ['labels', 'sla_policies', 'conversations/1/assignments']) {
        const { status, body: answer } = await app.call('POST', path, body(200_000));
        expect([path, status, answer.code]).to.deep.equal([path, 413, 'too_large']);
        expect(answer.error).to.contain('192 KB');
      }
      for (const path of ['contacts', 'conversations', 'conversations/1/messages'])
        expect((await app.call('POST', path, body(200_000))).status).to.equal(422);
      expect((await app.call('POST', 'labels', body(190_000))).status).to.equal(422);
    });

    it('a number that would change is refused by name, wherever it stands', async () => {
      const { body } = await app.call(
        'POST',
        'contacts',
        '{"name":"x","custom_attributes":{"crm":[1,12345678901234567890]}}',
      );
      expect(body.details).to.deep.equal([{ path: '/custom_attributes/crm/1', rule: 'number', message: body.error }]);
      expect(body.error).to.equal(
        '`custom_attributes.crm[1]` has more digits than a number can keep: only text can hold it',
      );
      const kept = { name: 'Kept', custom_attributes: { most: Number.MAX_SAFE_INTEGER, text: '12345678901234567890' } };
      expect((await app.post('contacts', kept)).body.custom_attributes).to.deep.equal(kept.custom_attributes);
      await app.events();
    });

    it('one that is announced too large is refused before it comes, and not waited for without end', async () => {
      const head = ['content-type: application/json', 'content-length: 999999999999'];
      const answer = await sendRaw(app.url, request(`POST ${contacts} HTTP/1.1`, head, '{'), { untilClosed: true });
      expectRawError(answer, 413);
      expect(answer.closed).to.equal(true);
    });

    const media: [string, Record<string, string>][] = [
      ['text', { 'content-type': 'text/plain' }],
      ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['parts', { 'content-type': 'multipart/form-data; boundary=x' }],
      ['another JSON', { 'content-type': 'application/vnd.api+json' }],
      ['UTF-16', { 'content-type': 'application/json; charset=utf-16' }],
      ['Latin-1', { 'content-type': 'application/json; charset=iso-8859-1' }],
      ['gzip', { 'content-encoding': 'gzip' }],
      ['brotli', { 'content-encoding': 'br' }],
    ];
    for (const [title, headers] of media) {
      it(`${title}: 415`, async () => {
        const { status, body } = await refused('{"name":"x"}', headers);
        expect([status, body.code]).to.deep.equal([415, 'unsupported_media_type']);
      });
    }

    it('no content type: 415', async () => {
      const answer = await sendRaw(
        app.url,
        request(`POST ${contacts} HTTP/1.1`, ['content-length: 12'], '{"name":"x"}'),
      );
      expectRawError(answer, 415);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('the media type is read as HTTP wants it: in any case, with or without its charset', async () => {
      for (const type of ['Application/JSON', 'application/json;charset=UTF-8', 'application/json; charset="utf-8"']) {
        const { status } = await app.post('contacts', { name: 'Typed' }, { 'content-type': type });
        expect([type, status]).to.deep.equal([type, 201]);
      }
    });

    it('a body on a GET or a DELETE without one in its contract is left alone', async () => {
      const { body: contact } = await app.post('contacts', { name: 'Gone soon' });
      const read = await sendRaw(
        app.url,
        request(`GET ${contacts}/${contact.id} HTTP/1.1`, ['content-length: 3'], '{]}'),
      );
      expect(read.status).to.equal(200);
      expect((await app.call('DELETE', `contacts/${contact.id}`, '{not json')).status).to.equal(200);
    });
  });

  it('a DELETE whose contract has a body reads it', async () => {
    const path = `inboxes/${(await app.get('inboxes')).body.payload[0].id}/members`;
    await app.post(path, { user_ids: [1] });
    expect((await app.call('DELETE', path)).status).to.equal(400);
    expect((await app.call('DELETE', path, {})).status).to.equal(422);
    expect((await app.get(path)).body.payload).to.have.lengthOf(1);
    expect((await app.call('DELETE', path, { user_ids: [1] })).status).to.equal(200);
    expect((await app.get(path)).body.payload).to.deep.equal([]);
  });

  describe('methods and paths', () => {
    it('a method that the path does not take: 405, with those it takes', async () => {
      for (const method of ['PUT', 'DELETE', 'PATCH', 'PROPFIND', 'LINK', 'TRACE']) {
        const answer = await sendRaw(app.url, request(`${method} ${contacts} HTTP/1.1`));
        expectRawError(answer, 405);
        expect([method, answer.headers.get('allow')]).to.deep.equal([method, 'GET, HEAD, OPTIONS, POST']);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('a method that nobody knows: 405, wherever', async () => {
      for (const line of [
        `FROBNICATE ${contacts} HTTP/1.1`,
        'TRACE /nowhere HTTP/1.1',
        'CONNECT example.com:443 HTTP/1.1',
      ]) {
        const answer = await sendRaw(app.url, request(line));
        expectRawError(answer, 405);
        expect(answer.headers.get('allow')).to.equal('DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT');
      }
    });

    it('HEAD is GET without the body', async () => {
      const response = await fetch(app.url + contacts, { method: 'HEAD', headers: { api_access_token: adminToken } });
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
      expect(await response.text()).to.equal('');
      expect((await fetch(app.url + contacts, { method: 'HEAD' })).status).to.equal(401);
      expect((await fetch(`${app.url}/nowhere`, { method: 'HEAD' })).status).to.equal(404);
    });

    it('OPTIONS tells the methods of a path, and of the server', async () => {
      const path = await fetch(app.url + contacts, { method: 'OPTIONS' });
      expect([path.status, path.headers.get('allow')]).to.deep.equal([204, 'GET, HEAD, OPTIONS, POST']);
      const server = await sendRaw(app.url, request('OPTIONS * HTTP/1.1'));
      expect([server.status, server.headers.get('allow')]).to.deep.equal([
        204,
        'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT',
      ]);
      expectRawError(await sendRaw(app.url, request('OPTIONS /nowhere HTTP/1.1')), 404);
    });

    const paths: [string, number][] = [
      ['/%zz', 400],
      ['/%', 400],
      [`${contacts}/%ff`, 400],
      [`${contacts}/%c0%80`, 400],
      [`${contacts}/%00`, 400],
      [`${contacts}/abc`, 400],
      [`${contacts}/-1`, 400],
      [`${contacts}/1e3`, 400],
      [`${contacts}/1%27`, 400],
      [`${contacts}/0`, 404],
      [`${contacts}/9007199254740992`, 404],
      [`${contacts}/9223372036854775808`, 404],
      [`${contacts}/${'9'.repeat(200)}`, 404],
      ['/api/v1/accounts/99999999999999999999/contacts', 404],
      ['/api/v1/accounts/999/contacts', 404],
      ['/API/v1/accounts/1/contacts', 404],
      ['//', 404],
      ['/..%2f..%2fetc/passwd', 404],
      ['/__proto__', 404],
      ['/docs/__proto__', 404],
      [`${contacts}?page=1&page=2`, 400],
      [`${contacts}?page=`, 400],
      [`${contacts}?page=0`, 400],
      [`${contacts}?page=-1`, 400],
      [`${contacts}?page=1.5`, 400],
      [`${contacts}?page=99999999999`, 400],
      [`${contacts}?page=1%00`, 400],
      [`${contacts}?sort=%zz`, 400],
      [`${contacts}?sort=%ff`, 400],
      [`${contacts}?sort=unknown`, 400],
      [`${contacts}?sort=name;DROP`, 400],
      [`${contacts}?include_contact_inboxes=maybe`, 400],
      [`${contacts}?unknown=1&__proto__=2&constructor=3&a[b]=4`, 200],
      [`${contacts}/`, 200],
      [`${contacts}?page=1000000`, 200],
    ];
    for (const [path, status] of paths) {
      it(`GET ${path.length > 90 ? `${path.slice(0, 90)}…` : path}: ${status}`, async () => {
        const answer = await sendRaw(app.url, request(`GET ${path} HTTP/1.1`));
        expect(answer.status).to.equal(status);
        if (status >= 400) expectRawError(answer, status);
      });
    }

    it('labels, labels[] and both at once are one list', async () => {
      const path = 'conversations?labels=a&labels[]=b&labels%5B%5D=c';
      expect((await app.get(path)).status).to.equal(200);
      const many = Array.from({ length: 21 }, (_, index) => `${index % 2 ? 'labels' : 'labels[]'}=l${index}`);
      expect((await app.get(`conversations?${many.join('&')}`)).status).to.equal(400);
    });

    it('a path that is not ASCII: 400', async () => {
      expectRawError(await sendRaw(app.url, request('GET /caf\u00e9 HTTP/1.1')), 400);
      expectRawError(await sendRaw(app.url, request(`GET ${contacts}?sort=\u00e9 HTTP/1.1`)), 400);
    });
  });

  describe('a request that fails in the service', () => {
    before(() =>
      app.query(`
        CREATE FUNCTION break_labels() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'the title % breaks the table labels', NEW.title; END $$`),
    );

    it('is told nothing but the id by which its operator finds out', async () => {
      await app.query(
        'CREATE TRIGGER break_labels BEFORE INSERT ON labels FOR EACH ROW EXECUTE FUNCTION break_labels()',
      );
      const { status, headers, body } = await app.post('labels', { title: 'vip' });
      await app.query('DROP TRIGGER break_labels ON labels');
      expect(status).to.equal(500);
      expect(body).to.deep.equal({
        error: 'Something went wrong in the service; the request_id helps its operator to find out what',
        code: 'internal',
        request_id: headers.get('x-request-id'),
      });
      expect((await app.post('labels', { title: 'vip' })).status).to.equal(201);
    });
  });

  describe('the headers of every answer', () => {
    it('carry an id, the caller’s own where it is harmless', async () => {
      expect((await app.get('contacts', { 'x-request-id': 'trace:1.2-3_4' })).headers.get('x-request-id')).to.equal(
        'trace:1.2-3_4',
      );
      const odd = await app.get('nothing', { 'x-request-id': 'a b<script>' });
      expect(odd.headers.get('x-request-id')).to.match(/^[\da-f-]{36}$/);
      expect(odd.body.request_id).to.equal(odd.headers.get('x-request-id'));
    });

    it('keep answers out of caches and frames', async () => {
      for (const answer of [await app.get('contacts'), await app.get('/nowhere')]) {
        expect(answer.headers.get('cache-control')).to.equal('no-store');
        expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
        expect(answer.headers.get('content-security-policy')).to.equal("default-src 'none'; frame-ancestors 'none'");
        expect(answer.headers.get('referrer-policy')).to.equal('no-referrer');
      }
    });
  });
});
