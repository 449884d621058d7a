import { expect } from 'chai';
import { routes } from '../../src/api/index.ts';
import { isIdParameter } from '../../src/http/route/record-route.ts';
import { nameOf, fillPath, operations, readName, type Request } from '../support/operations.ts';
import { World, type Reply } from '../support/world.ts';

const soon = String(Math.floor(Date.now() / 1000) + 3600);
/** What looks like a number, and is not a text of digits alone. */
const nearlyNumbers = ['12x', '1e3', ' 12', '12 ', '+12', '-12', '1.0', '0x1f', '', '１２', '9'.repeat(17), '12\n'];

describe('what clients of the field send', function () {
  this.timeout(60_000);
  let world: World;

  before(async () => {
    world = await World.build();
  });

  after(() => world.stop());

  function send(name: string, { body, ...request }: Request, method?: string): Promise<Reply> {
    const { method: own, path } = readName(name);
    const full = fillPath(path, world.home.maker.accountId, request);
    return world.send('administrator', { method: method ?? own, path: full, ...(body ? { body } : {}) });
  }

  const prepare = (name: string) => operations[name]!(world.home, world);
  const names = async () => (await world.app.events()).map(({ name }) => name);

  async function expectRefused(reply: () => Promise<Reply>, path: string, what: string): Promise<void> {
    await names();
    const { status, body } = await reply();
    const paths = new Set(body.details?.map((detail: { path: string }) => detail.path));
    expect([status, ...paths], what).to.deep.equal([422, path]);
    expect(await names(), what).to.deep.equal([]);
  }

  describe('PUT on a record', () => {
    const ofRecords = routes.filter(
      ({ method, path }) => method === 'PATCH' && isIdParameter(path.split('/:').at(-1) ?? ''),
    );

    it('is read for a good number of records', () => {
      const paths = ofRecords.map(nameOf);
      expect(paths).to.include.members(['PATCH contacts/:id', 'PATCH labels/:id', 'PATCH conversations/:id']);
      expect(paths).to.include('PATCH conversations/:conversation_id/messages/:message_id');
      expect(paths).not.to.include('PATCH conversations');
    });

    for (const route of ofRecords.filter(({ path }) => path.startsWith('/api/v1/accounts/:account_id/'))) {
      const name = nameOf(route);
      it(`does what ${name} does, and says the same`, async () => {
        const told: { status: number; names: string[] }[] = [];
        for (const method of ['PATCH', 'PUT']) {
          const request = await prepare(name);
          await names();
          const { status } = await send(name, request, method);
          told.push({ status, names: await names() });
        }
        expect(told[0]!.status).to.equal(200);
        expect(told[1]).to.deep.equal(told[0]);
      });
    }

    it('changes what it names and nothing else, only where it still is as the caller read it', async () => {
      const { maker } = world.home;
      const id = await maker.contact({ email: 'put@example.com', custom_attributes: { plan: 'free' } });
      const path = `/api/v1/accounts/1/contacts/${id}`;
      const { headers } = await world.app.get(path);
      const put = (body: object, tag: string) => world.app.call('PUT', path, body, { 'if-match': tag });
      const changed = await put({ name: 'Put' }, headers.get('etag')!);
      expect(changed.body).to.deep.include({
        name: 'Put',
        email: 'put@example.com',
        custom_attributes: { plan: 'free' },
      });
      expect((await put({ name: 'Late' }, headers.get('etag')!)).status).to.equal(412);
      expect((await world.app.get(path)).body.name).to.equal('Put');
    });

    it('is told by Allow where it is read, refused elsewhere, and not published', async () => {
      const { contact } = world.home;
      const options = await fetch(`${world.app.url}/api/v1/accounts/1/contacts/${contact}`, { method: 'OPTIONS' });
      expect(options.headers.get('allow')).to.equal('DELETE, GET, HEAD, OPTIONS, PATCH, PUT');
      for (const path of ['contacts', 'conversations', `contacts/${contact}/notes`]) {
        expect((await world.app.call('PUT', path, { name: 'x' })).status, path).to.equal(405);
      }
      const { body: document } = await world.app.get('/openapi.json');
      for (const item of Object.values<object>(document.paths)) expect(item).not.to.have.property('put');
    });

    it('needs what PATCH needs', async () => {
      const { contact } = world.home;
      const put = (headers: Record<string, string>) =>
        world.app.call('PUT', `contacts/${contact}`, { name: 'x' }, headers).then(({ status }) => status);
      const { bot, idle } = world.home;
      const headers = [{ api_access_token: 'nobody' }, bot.headers, idle.headers, world.other.administrator.headers];
      expect(await Promise.all(headers.map(put))).to.deep.equal([401, 403, 403, 404]);
    });
  });

  describe('a text of digits where an id is wanted', () => {
    it('is that number, in lists of ids too; other numbers are written as numbers', async () => {
      const { inbox, contact, member, team, outsider } = world.home;
      const body = {
        inbox_id: String(inbox),
        contact_id: String(contact),
        assignee_id: String(member.id),
        team_id: team,
      };
      const opened = await send('POST conversations', { body });
      expect(opened.status, opened.text).to.equal(201);
      expect(opened.body).to.include({ inbox_id: inbox });
      expect(opened.body.contact).to.include({ id: contact });
      expect(opened.body.meta.assignee).to.include({ id: member.id });
      const at = { id: opened.body.id };
      const snoozed = { status: 'snoozed', snoozed_until: soon };
      const refused = () => send('POST conversations/:id/toggle_status', { at, body: snoozed });
      await expectRefused(refused, '/snoozed_until', soon);
      const moved = await send('PATCH conversations', { body: { id: String(at.id), status: 'open' } });
      expect(moved.body).to.include({ id: at.id, status: 'open' });
      const members = { at: { id: inbox }, body: { user_ids: [String(outsider.id), member.id] } };
      const answer = await send('POST inboxes/:id/members', members);
      expect(answer.body.payload.map(({ id }: { id: number }) => id)).to.include(outsider.id);
      await send('DELETE inboxes/:id/members', { ...members, body: { user_ids: [String(outsider.id)] } });
    });

    it('stays refused when it is anything but digits, and writes nothing', async () => {
      const { contact, inbox } = world.home;
      for (const text of nearlyNumbers) {
        const body = { inbox_id: text, contact_id: String(contact) };
        await expectRefused(() => send('POST conversations', { body }), '/inbox_id', JSON.stringify(text));
        const members = { at: { id: inbox }, body: { user_ids: [text] } };
        await expectRefused(() => send('POST inboxes/:id/members', members), '/user_ids/0', JSON.stringify(text));
      }
      await expectRefused(
        () => send('POST conversations', { body: { inbox_id: '0', contact_id: contact } }),
        '/inbox_id',
        '0',
      );
    });

    it('stays a text where a text is wanted, and a number stays refused there', async () => {
      const { inbox, contact } = world.home;
      const ids = { inbox_id: String(inbox), contact_id: contact };
      const body = { ...ids, source_id: '12', custom_attributes: { order: '12' } };
      expect((await send('POST conversations', { body })).body).to.deep.include({
        source_id: '12',
        custom_attributes: { order: '12' },
      });
      await expectRefused(
        () => send('POST conversations', { body: { ...body, source_id: 12 } }),
        '/source_id',
        'a number',
      );
      await expectRefused(() => send('POST contacts', { body: { name: 12 } }), '/name', 'a number');
    });

    it('of another account is not there, as its number is not', async () => {
      const body = { inbox_id: String(world.other.inbox), contact_id: String(world.home.contact) };
      expect((await send('POST conversations', { body })).status).to.equal(404);
    });
  });

  describe('a blank in a field that was not filled in', () => {
    const blanks = { email: '', phone_number: '', identifier: '', avatar_url: '' };

    it('is left out of a contact, new or old', async () => {
      const made = await send('POST contacts', { body: { name: 'Blank', ...blanks } });
      expect(made.status, made.text).to.equal(201);
      expect(made.body).to.include({ email: null, phone_number: null, identifier: null, thumbnail: null });
      const known = { email: 'b@example.com', phone_number: '+14155550100', identifier: 'blank-7' };
      const at = { id: made.body.id };
      await send('PATCH contacts/:id', { at, body: known });
      await names();
      const same = await send('PATCH contacts/:id', { at, body: blanks });
      expect(same.body).to.include(known);
      expect(await names()).to.deep.equal([]);
      const other = await send('PATCH contacts/:id', { at, body: { ...blanks, name: 'Filled' } });
      expect(other.body).to.include({ ...known, name: 'Filled' });
    });

    it('is left out of what clients of an inbox tell, and their word is none', async () => {
      const { identifier, source, conversation, contactId } = world.home.client;
      const root = `/public/api/v1/inboxes/${identifier}/contacts`;
      const call = (method: string, path: string, body: object) => world.send('nobody', { method, path, body });
      const made = await call('POST', root, { name: 'Blank', ...blanks, identifier_hash: '', source_id: '' });
      expect(made.status, made.text).to.equal(201);
      expect(made.body).to.include({ email: null, phone_number: null, identifier: null });
      expect(made.body.source_id).to.be.a('string').and.not.to.equal('');
      await send('PATCH contacts/:id', { at: { id: contactId }, body: { email: 'kept@example.com' } });
      await names();
      const same = await call('PATCH', `${root}/${source}`, blanks);
      expect(same.body).to.include({ id: contactId, email: 'kept@example.com' });
      expect(await names()).to.deep.equal([]);
      const said = await call('POST', `${root}/${source}/conversations/${conversation}/messages`, {
        content: 'Hello',
        echo_id: '',
      });
      expect(said.status, said.text).to.equal(201);
      expect(said.body).not.to.have.property('echo_id');
      await expectRefused(() => call('PATCH', `${root}/${source}`, { name: '' }), '/name', 'a blank name');
    });

    it('leaves assignee and team as they are; 0 takes the assignee away', async () => {
      const { inbox, contact, member, team } = world.home;
      const fields = { inbox_id: inbox, contact_id: contact, source_id: '' };
      const { body: unassigned } = await send('POST conversations', {
        body: { ...fields, assignee_id: 0, team_id: '' },
      });
      expect(unassigned.meta).to.include({ assignee: null, team: null });
      expect(unassigned.source_id).to.equal(null);
      const assigned = { ...fields, assignee_id: member.id, team_id: team };
      const { body: opened } = await send('POST conversations', { body: assigned });
      const assign = (body: Record<string, unknown>) =>
        send('POST conversations/:id/assignments', { at: { id: opened.id }, body });
      await names();
      const same = (await assign({ assignee_id: '', team_id: '' })).body.meta;
      expect([same.assignee.id, same.team.id]).to.deep.equal([member.id, team]);
      expect(await names()).to.deep.equal([]);
      for (const none of [0, '0']) {
        expect((await assign({ assignee_id: none })).body.meta.assignee, String(none)).to.equal(null);
        expect(await names()).to.deep.equal(['conversation_updated']);
        await assign({ assignee_id: member.id });
        await names();
      }
      await expectRefused(() => assign({ team_id: 0 }), '/team_id', '0 for a team');
    });

    it('stays refused where something is required, or means nothing', async () => {
      const refused: [string, string, Record<string, unknown>][] = [
        ['POST contacts', 'name', { name: '' }],
        ['POST contacts', 'email', { name: 'x', email: ' ' }],
        ['POST agents', 'email', { name: 'x', email: '', role: 'agent' }],
        ['POST contacts', 'blocked', { name: 'x', blocked: '' }],
        ['POST contacts', 'blocked', { name: 'x', blocked: 'true' }],
        ['POST labels', 'title', { title: '' }],
        ['POST conversations', 'inbox_id', { inbox_id: '', contact_id: world.home.contact }],
      ];
      for (const [name, field, body] of refused)
        await expectRefused(() => send(name, { body }), `/${field}`, `${name} ${JSON.stringify(body)}`);
    });
  });

  describe('a POST without a body', () => {
    const post = async (path: string, headers: Record<string, string> = {}, body?: string) => {
      const sent = { ...world.home.maker.administrator.headers, ...headers };
      await names();
      const response = await fetch(world.app.url + path, { method: 'POST', headers: sent, ...(body ? { body } : {}) });
      return { status: response.status, body: (await response.json()) as Reply['body'], names: await names() };
    };

    it('says nothing, where nothing has to be said', async () => {
      const { identifier, source } = world.home.client;
      const path = `/public/api/v1/inboxes/${identifier}/contacts/${source}/conversations`;
      for (const headers of [{}, { 'content-type': 'application/x-www-form-urlencoded' }]) {
        const begun = await post(path, headers);
        expect([begun.status, begun.names]).to.deep.equal([201, ['conversation_created']]);
      }
    });

    it('is told from a body in parts, whose length nobody says', async () => {
      const { inbox, member } = world.home;
      const id = await world.home.maker.conversation(inbox);
      const parts = new Blob([JSON.stringify({ assignee_id: member.id })]).stream();
      const response = await fetch(`${world.app.url}/api/v1/accounts/1/conversations/${id}/assignments`, {
        method: 'POST',
        headers: { ...world.home.maker.administrator.headers, 'content-type': 'application/json' },
        body: parts,
        duplex: 'half',
      });
      const { meta } = (await response.json()) as Reply['body'];
      expect([response.status, meta.assignee?.id]).to.deep.equal([200, member.id]);
    });

    it('is refused where something has to be said, and so is one of another type', async () => {
      const { identifier, source } = world.home.client;
      const path = `/public/api/v1/inboxes/${identifier}/contacts/${source}/conversations`;
      const silent = await post('/api/v1/accounts/1/contacts');
      const strange = await post(path, { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b');
      for (const refused of [silent, strange]) expect([refused.status, refused.names]).to.deep.equal([415, []]);
    });
  });

  it('is read at a path with a slash at its end', async () => {
    expect((await world.app.get('inboxes/')).status).to.equal(200);
  });

  it('is not in the published contract', async () => {
    const { body: document } = await world.app.get('/openapi.json');
    expect(JSON.stringify(document)).not.to.match(/x-left-out|x-null/);
    const { assignee_id: assignee } = document.components.schemas.ConversationAssignRequest.properties;
    expect(assignee).to.have.all.keys('$ref');
  });

  describe('a message that is changed by a multipart form', () => {
    const path = (at: Record<string, number | string>) =>
      `${world.app.url}/api/v1/accounts/1/conversations/${at['conversation_id']}/messages/${at['message_id']}`;
    const edit = async (make: (form: FormData) => void, method = 'PATCH') => {
      const { at } = await prepare('PATCH conversations/:conversation_id/messages/:message_id');
      const form = new FormData();
      make(form);
      await names();
      const headers = world.home.maker.administrator.headers;
      const request = { method, headers, body: form };
      const response = await fetch(path(at!), request);
      return { status: response.status, body: (await response.json()) as Reply['body'], names: await names() };
    };

    for (const method of ['PATCH', 'PUT']) {
      it(`takes text, and JSON text for objects, by ${method}`, async () => {
        const done = await edit((form) => {
          form.set('content', 'Alpha edited');
          form.set('content_attributes', '{"deleted":false}');
        }, method);
        expect(done.status, done.body.error).to.equal(200);
        expect(done.body).to.deep.include({ content: 'Alpha edited', content_attributes: { deleted: false } });
        expect(done.names).to.deep.equal(['message_updated']);
      });
    }

    const refused: [string, number, string, (form: FormData) => void][] = [
      ['two contents', 422, 'more than once', (form) => ['a', 'b'].forEach((text) => form.append('content', text))],
      ['a file for its text', 422, '`content` is a file', (form) => form.set('content', new Blob(['x']), 'a.txt')],
      ['half an object', 422, 'must be JSON text', (form) => form.set('content_attributes', '{')],
    ];
    for (const [what, status, sentence, make] of refused) {
      it(`refuses ${what}, and writes nothing`, async () => {
        const done = await edit(make);
        expect([done.status, done.names]).to.deep.equal([status, []]);
        expect(done.body.error).to.include(sentence);
      });
    }

    it('refuses one without its end', async () => {
      const { at } = await prepare('PATCH conversations/:conversation_id/messages/:message_id');
      await names();
      const response = await fetch(path(at!), {
        method: 'PATCH',
        headers: { ...world.home.maker.administrator.headers, 'content-type': 'multipart/form-data; boundary=a' },
        body: '--a\r\nContent-Disposition: form-data; name="content"\r\n\r\nx',
      });
      const { error } = (await response.json()) as Reply['body'];
      expect([response.status, error]).to.deep.equal([
        400,
        'The body is not a valid form: it ends without its closing boundary',
      ]);
      expect(await names()).to.deep.equal([]);
    });
  });
});
