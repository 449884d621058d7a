import { expect } from 'chai';
import { needed } from '../../../src/compat/chatwoot/asking.ts';
import type { ApiError } from '../../../src/errors.ts';
import { TestApp } from '../../support/app.ts';
import { Profile } from '../../support/chatwoot.ts';

describe('Chatwoot profile: what is not meant well', function () {
  this.timeout(60_000);
  let app: TestApp;
  let theirs: Profile;

  before(async () => {
    app = await TestApp.start({ engine: false });
    theirs = new Profile(app);
  });

  after(() => app.stop());

  const unsafe: readonly [string, string, string][] = [
    ['a number that cannot be kept', '{"order":9007199254740993}', '/custom_attributes/order'],
    ['deep nesting', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, '/custom_attributes/a'],
    ['very deep nesting', `{"a":${'['.repeat(40_000)}${']'.repeat(40_000)}}`, '/custom_attributes/a'],
    ['__proto__', '{"__proto__":{"x":1}}', '/custom_attributes'],
    ['a NUL character', '{"a":"\\u0000"}', '/custom_attributes/a'],
    ['half of a surrogate pair', '{"a":"\\ud800"}', '/custom_attributes/a'],
  ];

  for (const [what, text, path] of unsafe) {
    it(`refuses ${what} in JSON text within a value as in a body, at its place, with nothing written`, async () => {
      await app.eventNames();
      const { status, body } = await theirs.post('contacts', { name: 'Ada', custom_attributes: text });
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([422, 'validation_failed']);
      expect(body.details[0].path).to.satisfy((found: string) => found.startsWith(path), body.details[0].path);
      expect(body.attributes).to.deep.equal(['custom_attributes']);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  }

  it('refuses more values than a body may have in JSON text within a value', async () => {
    const text = JSON.stringify({ a: Array.from({ length: 20_001 }, () => 1) });
    const { status, body } = await theirs.post('contacts', { name: 'Ada', custom_attributes: text });
    expect([status, body.details[0].rule]).to.deep.equal([422, 'values']);
  });

  it('names the field of a bot in which the JSON text is', async () => {
    const bot = { name: 'B', outgoing_url: 'https://example.com/b', bot_config: '{"a":9007199254740993}' };
    const { status, body } = await theirs.post('agent_bots', bot);
    expect([status, body.details[0].path]).to.deep.equal([422, '/bot_config/a']);
  });

  it('reads what is exact, and leaves what is no JSON to the schema', async () => {
    const packed = { name: 'Eve', custom_attributes: '{"order":9007199254740992}' };
    const { payload } = await theirs.succeed('POST', 'contacts', packed);
    expect(payload.contact.custom_attributes).to.deep.equal({ order: 9007199254740992 });
    const { status, body } = await theirs.post('contacts', { name: 'Ada', custom_attributes: '{"order":' });
    expect([status, body.attributes]).to.deep.equal([422, ['custom_attributes']]);
  });

  it('refuses queries with more parameters than are read, blanks too, of those who are admitted', async () => {
    expect((await theirs.get(`contacts?${'a=&'.repeat(200)}`)).status).to.equal(200);
    const { status, body } = await theirs.get(`contacts?${'a=&'.repeat(201)}`);
    expect([status, body.code]).to.deep.equal([400, 'bad_query']);
    const stranger = await theirs.get(`contacts?${'a=&'.repeat(201)}`, { api_access_token: 'nobody' });
    expect(stranger.status).to.equal(401);
  });

  it('never fails on objects where texts are wanted', async () => {
    const odd = '{"toString":1}';
    const nobody = await theirs.get(`conversations?labels=${encodeURIComponent(`[${odd}]`)}`, {
      api_access_token: 'x',
    });
    expect(nobody.status).to.equal(401);
    const { status } = await theirs.get(`conversations?labels=${encodeURIComponent(`[${odd}]`)}`);
    expect(status).to.be.below(500);
    const phone = { attribute_key: 'phone_number', query_operator: null };
    for (const condition of [
      { ...phone, filter_operator: 'equal_to', values: [JSON.parse(odd)] },
      { ...phone, filter_operator: JSON.parse(odd), values: ['1'] },
    ]) {
      expect((await theirs.post('contacts/filter', { payload: [condition] })).status).to.equal(422);
    }
  });

  it('links pages in the words of the request', async () => {
    for (let count = 0; count < 26; count++) await theirs.succeed('POST', 'contacts', { name: `Caller ${count}` });
    const path = 'contacts?sort=-last_activity_at&page=1&labels=';
    const { headers, body } = await theirs.get(path);
    const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
    const url = new URL(next, app.url);
    expect(url.pathname).to.equal('/chatwoot/api/v1/accounts/1/contacts');
    expect(Object.fromEntries(url.searchParams)).to.deep.equal({ sort: '-last_activity_at', page: '2', labels: '' });
    const answer = await theirs.get(next.slice('/chatwoot'.length));
    const ids = [...body.payload, ...answer.body.payload].map(({ id }: { id: number }) => id);
    expect(new Set(ids).size).to.equal(body.meta.count);
  });

  it('says when to come again where what it asks beside a request is refused', async () => {
    const limited = await TestApp.start({ engine: false, config: { rateLimitPerMinute: 6 } });
    try {
      const profile = new Profile(limited);
      const { body: inbox } = await limited.post('inboxes', { name: 'Shop' });
      const { body: contact } = await limited.post('contacts', { name: 'Ada' });
      const { body } = await limited.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
      for (let count = 0; count < 2; count++) await limited.get('labels');
      // It asks for the status first.
      const refused = await profile.post(`conversations/${body.id}/toggle_status`);
      expect([refused.status, refused.body.code]).to.deep.equal([429, 'rate_limited']);
      expect(Number(refused.headers.get('retry-after'))).to.be.above(0);
    } finally {
      await limited.stop();
    }
  });

  it('names a refusal that has no body of its own by its status', () => {
    const refusal = (status: number) => {
      try {
        needed({ status, body: undefined, headers: { 'retry-after': 3, etag: 'x' } });
      } catch (error) {
        const { code, message, headers } = error as ApiError;
        return { code, message, headers };
      }
      return null;
    };
    const headers = { 'retry-after': '3' };
    expect(refusal(413)).to.deep.equal({ code: 'too_large', message: 'Payload Too Large', headers });
    expect(refusal(418)).to.deep.equal({ code: 'refused', message: "I'm a Teapot", headers });
  });
});
