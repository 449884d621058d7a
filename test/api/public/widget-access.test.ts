import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addPerson, type Person } from '../../support/people.ts';
import { Widget } from '../../support/widget.ts';

const origin = 'https://www.example.com';

describe('the widget', () => {
  let app: TestApp;
  let agent: Person;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0 } });
    agent = await addPerson(app, { name: 'Ann' });
  });

  beforeEach(() => app.events());

  after(() => app.stop());

  describe('lets in', () => {
    it('nobody without a token, with one of another inbox, or with one that was never given', async () => {
      const widget = await Widget.create(app);
      const other = await Widget.create(app);
      const { headers } = await other.enter();
      await app.events();
      for (const bad of [
        {},
        headers,
        { 'x-contact-token': 'swc_forged' },
        { 'x-contact-token': agent.headers.api_access_token },
      ]) {
        for (const [method, path] of [
          ['GET', 'conversation'],
          ['GET', 'messages'],
          ['POST', 'messages'],
          ['POST', 'update_last_seen'],
        ] as const) {
          const { status } = await widget.call(method, path, method === 'POST' ? { content: 'Hello' } : undefined, bad);
          expect([method, path, status]).to.deep.equal([method, path, 401]);
        }
      }
      expect((await widget.open({}, headers)).status).to.equal(401);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('no contact that was deleted', async () => {
      const widget = await Widget.create(app);
      const { headers, contactId } = await widget.enter();
      await app.query('DELETE FROM contacts WHERE id = $1', [contactId]);
      expect((await widget.say('Hello', headers)).status).to.equal(401);
      expect((await widget.open({}, headers)).status).to.equal(401);
    });

    it('nobody to an inbox that is unknown or not public', async () => {
      const mail = await Widget.create(app, { channel_type: 'Channel::Email' });
      expect((await mail.open()).status).to.equal(404);
      for (const identifier of ['unknown', 'a%00b', '1']) {
        const { status } = await app.post(`/public/api/v1/inboxes/${identifier}/sessions`, {});
        expect([identifier, status]).to.deep.equal([identifier, identifier === 'a%00b' ? 400 : 404]);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('no contact to the rest of the API', async () => {
      const widget = await Widget.create(app);
      const { headers } = await widget.enter();
      const asToken = { api_access_token: headers['x-contact-token'] };
      expect((await app.get('contacts', asToken)).status).to.equal(401);
      expect((await app.get('contacts', { api_access_token: '', ...headers })).status).to.equal(401);
    });
  });

  describe('answers web pages', () => {
    let widget: Widget;

    before(async () => {
      widget = await Widget.create(app, { allowed_origins: [origin] });
    });

    const preflight = (from: string, path = 'messages', to = widget) =>
      to.call('OPTIONS', path, undefined, {
        origin: from,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-contact-token',
      });

    it('of its origins', async () => {
      for (const path of ['sessions', 'messages', 'update_last_seen']) {
        const { status, headers } = await preflight(origin, path);
        expect(status).to.equal(204);
        expect(headers.get('access-control-allow-origin')).to.equal(origin);
        expect(headers.get('access-control-allow-headers')).to.contain('x-contact-token');
        expect(headers.get('access-control-allow-methods')).to.contain('POST');
        expect(headers.get('access-control-allow-credentials')).to.equal(null);
        expect(headers.get('vary')).to.match(/origin/i);
      }
      const { status, headers } = await widget.open({}, { origin });
      expect([status, headers.get('access-control-allow-origin')]).to.deep.equal([201, origin]);
      expect(headers.get('vary')).to.match(/origin/i);
      const refused = await widget.call('GET', 'messages', undefined, { origin });
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).to.deep.equal([401, origin]);
    });

    it('of no other origins, and of none where none are named', async () => {
      const closed = await Widget.create(app);
      for (const [from, to] of [
        ['https://example.com', widget],
        ['http://www.example.com', widget],
        [`${origin}:8443`, widget],
        [`${origin}.evil.example`, widget],
        ['null', widget],
        [origin, closed],
      ] as const) {
        for (const { headers } of [await preflight(from, 'messages', to), await to.open({}, { origin: from })]) {
          expect([from, headers.get('access-control-allow-origin')]).to.deep.equal([from, null]);
          expect(headers.get('vary')).to.match(/origin/i);
        }
      }
    });
  });
});

describe('the widget, hurried', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 2, rateLimitPerMinute: 3000 } });
  });

  after(() => app.stop());

  it('opens only so many sessions a minute for one address, and takes only so many messages of one contact', async () => {
    const widget = await Widget.create(app);
    const { headers } = await widget.enter();
    const other = await widget.enter();
    const refused = await widget.open();
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    await app.events();
    const statuses: number[] = [];
    for (let index = 0; index < 61; index += 1) statuses.push((await widget.say(`${index}`, headers)).status);
    expect(statuses).to.deep.equal([...Array.from({ length: 60 }, () => 201), 429]);
    expect((await widget.say('Hello', other.headers)).status).to.equal(201);
    expect(await widget.messages(headers)).to.have.lengthOf(20);
    expect((await app.eventNames()).filter((name) => name === 'message_created')).to.have.lengthOf(61);
  });
});
