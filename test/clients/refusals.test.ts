import { expect } from 'chai';
import { bases, startField, type BaseName, type FieldHome, type Found } from '../support/field-clients.ts';
import { connectN8n, N8nError } from '../support/field-n8n.ts';
import { connectSdk, type SdkError } from '../support/field-sdk.ts';
import { startChatwootMcp } from '../support/mcp-client.ts';
import { addAccount, addPerson } from '../support/people.ts';

/** What clients are told, at each base. */
const wording = {
  default: { forbidden: 403, notFound: 'Conversation not found' },
  profile: { forbidden: 401, notFound: 'Resource could not be found' },
} as const;

/** The error with which an SDK's call ends. */
function refusalOf(call: Promise<Found>): Promise<SdkError> {
  return call.then(
    (answer) => expect.fail(`It must be refused, and is ${JSON.stringify(answer)}`),
    (thrown: SdkError) => thrown,
  );
}

for (const base of Object.keys(bases) as BaseName[]) {
  describe(`clients that are refused at the ${base}`, () => {
    const words = wording[base];
    let home: FieldHome;
    let conversation: number;

    before(async () => {
      home = await startField(base);
      conversation = await home.maker.conversation(home.inbox);
    });

    beforeEach(() => home.app.events());
    after(() => home.app.stop());

    const sdkOf = (token: string) => connectSdk(home.url, token);
    const say = (content: string) => ({
      accountId: 1,
      conversationId: conversation,
      data: { content, message_type: 'outgoing' },
    });
    const contents = async (): Promise<string[]> =>
      (await home.app.get(`conversations/${conversation}/messages`)).body.payload.map(({ content }: Found) => content);

    it('stop where their token is revoked, and go on with the new one', async () => {
      const person = await addPerson(home.app, { name: 'Rita Revoked', role: 'administrator' });
      const before = sdkOf(person.headers.api_access_token);
      await before('messages.create', say('first'));
      const { body } = await home.app.post('/api/v1/profile/reset_access_token', {}, person.headers);
      for (const [name, sent] of [
        ['messages.create', say('second')],
        ['profile.profile', {}],
        ['conversations.list', { accountId: 1 }],
      ] as const) {
        const { status, message, body: told } = await refusalOf(before(name, sent));
        expect([status, message], name).to.deep.equal([401, 'Unauthorized']);
        expect(told.error).to.be.a('string');
      }
      expect(await home.app.eventNames()).to.deep.equal(['message_created']);
      const after = sdkOf(body.access_token);
      await after('messages.create', say('second'));
      expect((await contents()).slice(-2)).to.deep.equal(['first', 'second']);
      expect(await home.app.eventNames()).to.deep.equal(['message_created']);
    });

    it('may do what their role may: an agent neither administers, nor writes in strange inboxes', async () => {
      const outsider = await addPerson(home.app, { name: 'Otto Outsider' });
      const member = sdkOf(home.agent.headers.api_access_token);
      const stranger = sdkOf(outsider.headers.api_access_token);
      const hook = { url: 'https://bridge.example.com/', subscriptions: ['message_created'] };
      const before = await contents();
      for (const [what, call] of [
        ['a webhook', member('webhooks.create', { accountId: 1, data: hook })],
        ['a list of webhooks', member('webhooks.list', { accountId: 1 })],
        ['a team', member('teams.create', { accountId: 1, data: { name: 'crew' } })],
        ['a message', stranger('messages.create', say('from outside'))],
        ['a conversation', stranger('conversations.get', { accountId: 1, conversationId: conversation })],
      ] as const) {
        const { status, body } = await refusalOf(call);
        expect(status, `${what}: ${JSON.stringify(body)}`).to.equal(words.forbidden);
        if (base === 'profile') expect(body.error, what).to.equal('You are not authorized to do this action');
        else expect(body.error, what).to.be.a('string');
      }
      expect(await home.app.eventNames()).to.deep.equal([]);
      await member('messages.create', say('from inside'));
      expect(await contents()).to.deep.equal([...before, 'from inside']);
    });

    it('find nothing of another account: neither its conversations here, nor its address with their token', async () => {
      const other = await addAccount(home.app, `Other ${base}`);
      const theirs = { api_access_token: other.administrator.headers.api_access_token };
      const root = `/api/v1/accounts/${other.id}`;
      const inbox = (await home.app.post(`${root}/inboxes`, { name: 'Theirs' }, theirs)).body.id;
      const contact = (await home.app.post(`${root}/contacts`, { name: 'Secret' }, theirs)).body.id;
      const opened = { inbox_id: inbox, contact_id: contact };
      const { body: secret } = await home.app.post(`${root}/conversations`, opened, theirs);
      await home.app.events();
      const mine = sdkOf(home.token);
      const place = { accountId: 1, conversationId: secret.id };
      for (const [name, sent] of [
        ['conversations.get', place],
        ['messages.list', place],
        ['messages.create', { ...say('x'), ...place }],
        ['conversations.toggleStatus', { ...place, data: { status: 'resolved' } }],
        ['conversations.get', { ...place, conversationId: 999_999 }],
      ] as const) {
        const { status, message, body } = await refusalOf(mine(name, sent));
        expect([status, body.error], name).to.deep.equal([404, words.notFound]);
        expect(message).to.match(/not found|does not exist/i);
      }
      for (const [name, sent] of [
        ['conversations.list', {}],
        ['contacts.get', { id: contact }],
        ['contacts.update', { id: contact, data: { name: 'Taken' } }],
      ] as const) {
        const { status } = await refusalOf(mine(name, { ...sent, accountId: other.id }));
        expect(status, name).to.be.oneOf([401, 404]);
      }
      expect((await home.app.get(`${root}/contacts/${contact}`, theirs)).body.name).to.equal('Secret');
      expect(await home.app.eventNames()).to.deep.equal([]);
    });

    it('are told of what is wrong in a body, and nothing is written', async () => {
      const sdk = sdkOf(home.token);
      await home.maker.contact({ identifier: `taken-${base}` });
      await home.app.events();
      for (const [data, field] of [
        [{ inbox_id: home.inbox, name: 'Ada', identifier: `taken-${base}` }, 'identifier'],
        [{ inbox_id: home.inbox, name: 'Ada', email: 'no address' }, 'email'],
        [{ inbox_id: home.inbox, name: 'Ada', phone_number: '0123' }, 'phone_number'],
        [{ inbox_id: '12x', name: 'Ada' }, 'inbox_id'],
        [{ inbox_id: '1e3', name: 'Ada' }, 'inbox_id'],
        [{ inbox_id: ' 12', name: 'Ada' }, 'inbox_id'],
      ] as const) {
        const { status, body } = await refusalOf(sdk('contacts.create', { accountId: 1, data }));
        expect([status, body.details.map(({ path }: Found) => path)]).to.deep.equal([422, [`/${field}`]]);
        if (base === 'default') continue;
        expect(body.attributes).to.deep.equal([field]);
        expect(body.message).to.be.a('string').and.not.to.equal('');
      }
      expect(await home.app.eventNames()).to.deep.equal([]);
    });

    it('do again what got no answer, and do it once: one contact, one conversation by its source', async () => {
      const sdk = sdkOf(home.token);
      const contact = await home.maker.contact();
      const data = { inbox_id: home.inbox, source_id: `retried-${base}` };
      const create = (): Promise<Found> => sdk('contact.create', { accountId: 1, id: contact, data });
      const answers = await Promise.all([create(), create(), create()]);
      expect(new Set(answers.map(({ source_id: source }) => source))).to.deep.equal(new Set([data.source_id]));
      const other = await home.maker.contact();
      const { status } = await refusalOf(sdk('contact.create', { accountId: 1, id: other, data }));
      expect(status).to.equal(422);
    });
  });

  describe(`clients that ask too often at the ${base}`, function () {
    this.timeout(60_000);
    const perMinute = 40;
    let home: FieldHome;
    before(async () => {
      home = await startField(base, { rateLimitPerMinute: perMinute });
    });
    after(() => home.app.stop());

    it('are told by 429 and when to come back, whichever base they ask, and nobody else is', async () => {
      const conversation = await home.maker.conversation(home.inbox);
      const caller = await addPerson(home.app, { name: 'Bea Busy', role: 'administrator' });
      const other = await addPerson(home.app, { name: 'Cal Calm', role: 'administrator' });
      const token = caller.headers.api_access_token;
      const sdk = connectSdk(home.url, token);
      // Half of them at the other address: there is one count.
      for (let count = 0; count < perMinute; count++)
        await connectSdk(count % 2 === 0 ? home.url : home.app.url, token)('profile.profile', {});
      await home.app.events();
      const say = { accountId: 1, conversationId: conversation, data: { content: 'x', message_type: 'outgoing' } };
      const { status, body } = await refusalOf(sdk('messages.create', say));
      expect(status).to.equal(429);
      expect(body.error).to.match(/^Too many requests: try again in \d+ s$/);
      const response = await fetch(`${home.url}/api/v1/profile`, { headers: caller.headers });
      expect([response.status, Number(response.headers.get('retry-after')) > 0]).to.deep.equal([429, true]);
      await response.body?.cancel();
      const node = await connectN8n(home.url, token)('Profile: Fetch Profile', {}).catch((error: unknown) => error);
      expect(node).to.be.instanceOf(N8nError).and.to.include({ status: 429 });
      const mcp = await startChatwootMcp(home.url, token);
      const { content } = await mcp.call('chatwoot_list_conversations', { account_id: 1 });
      await mcp.stop();
      expect(content[0]!.text).to.equal('Error: Rate limit exceeded. Please wait before making more requests.');
      expect(await home.app.eventNames()).to.deep.equal([]);
      await connectSdk(home.url, other.headers.api_access_token)('messages.create', say);
      expect(await home.app.eventNames()).to.deep.equal(['message_created']);
    });
  });
}
