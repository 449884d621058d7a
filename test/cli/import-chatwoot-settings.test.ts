import { expect } from 'chai';
import { ProgressBar } from '../../src/cli/terminal/progress-bar.ts';
import { Importing } from '../support/importing.ts';
import { Receiver } from '../support/receiver.ts';
import type { Body } from '../support/sending.ts';

describe('switchboard import chatwoot, of settings and links', function () {
  this.timeout(120_000);
  const importing = Importing.use();

  const base = (account: number) => `/api/v1/accounts/${account}`;
  const read = async (path: string): Promise<Body> => {
    const { status, body } = await importing.app.get(path);
    expect(status, path).to.equal(200);
    return body;
  };
  const definitionsOf = async (account: number): Promise<Body[]> =>
    (await read(`${base(account)}/custom_attribute_definitions`)).payload;
  const webhooksOf = async (account: number): Promise<Body[]> => (await read(`${base(account)}/webhooks`)).payload;

  it('copies definitions of custom attributes, each once, and takes one with the same key for theirs', async () => {
    const account = await importing.newAccount();
    const own = { attribute_key: 'plan', attribute_model: 'contact_attribute', attribute_display_name: 'Our plan' };
    await importing.app.post(`${base(account)}/custom_attribute_definitions`, own);
    const plan = { ...own, id: 1, attribute_display_name: 'Their plan', attribute_display_type: 'text' };
    const order = {
      id: 2,
      attribute_key: 'order',
      attribute_model: 'conversation_attribute',
      attribute_display_name: 'Order',
      attribute_description: 'Its number',
      attribute_display_type: 'list',
      attribute_values: ['a', 'b'],
    };
    importing.fake.account.attributeDefinitions = [plan, order, { id: 3, attribute_model: 'company_attribute' }];
    const { code, counts, remarks } = await importing.run(account);
    expect([code, counts.attribute_definitions]).to.deep.equal([
      1,
      { theirs: 3, created: 1, updated: 0, unchanged: 1, left_out: 1 },
    ]);
    expect(remarks.map(({ what }) => what)).to.deep.equal(['attribute_definition 3']);
    const [first, second] = await definitionsOf(account);
    const { id: _theirs, ...fields } = order;
    expect(first).to.deep.include(fields);
    expect(second).to.include({ attribute_key: 'plan', attribute_display_name: 'Our plan' });
    // What was deleted here stays deleted.
    await importing.app.delete(`${base(account)}/custom_attribute_definitions/${first.id}`);
    expect((await importing.run(account)).counts.attribute_definitions).to.include({ created: 0, unchanged: 2 });
    expect(await definitionsOf(account)).to.have.lengthOf(1);
  });

  it('copies canned responses, each once, and takes one with the same short code for theirs', async () => {
    const account = await importing.newAccount();
    const responsesOf = async (): Promise<unknown[]> => {
      const { payload } = await read(`${base(account)}/canned_responses`);
      return (payload as Body[]).map(({ short_code: code, content }) => [code, content]);
    };
    const own = { short_code: 'hello', content: 'Our greeting' };
    await importing.app.post(`${base(account)}/canned_responses`, own);
    importing.fake.account.cannedResponses = [
      { id: 1, short_code: 'hello', content: 'Their greeting' },
      { id: 2, short_code: 'bye', content: 'Goodbye,\n{{contact.name}}' },
      { id: 3, short_code: 'long', content: 'x'.repeat(20_001) },
      { id: 4, short_code: ' ', content: 'Without a short code' },
    ];
    const dry = await importing.run(account, '--dry-run');
    expect([dry.counts.canned_responses.theirs, dry.not_copied]).to.deep.equal([4, {}]);
    expect(await responsesOf()).to.deep.equal([['hello', 'Our greeting']]);

    const { code, counts, remarks } = await importing.run(account);
    const all = { theirs: 4, created: 2, updated: 0, unchanged: 1, left_out: 1 };
    expect([code, counts.canned_responses]).to.deep.equal([1, all]);
    expect(remarks).to.deep.equal([
      { what: 'canned response 3', why: 'its content was cut after 20000 characters' },
      { what: 'canned_response 4', why: 'left out: it has no short code or no content' },
    ]);
    const copied = [
      ['bye', 'Goodbye,\n{{contact.name}}'],
      ['hello', 'Our greeting'],
      ['long', 'x'.repeat(20_000)],
    ];
    expect(await responsesOf()).to.deep.equal(copied);
    const again = (await importing.run(account)).counts.canned_responses;
    expect(again).to.deep.equal({ ...all, created: 0, unchanged: 3 });
    expect(await responsesOf()).to.deep.equal(copied);
  });

  it('copies webhooks paused, in the format of Chatwoot, those of API inboxes too', async () => {
    const account = await importing.newAccount();
    const receiver = await Receiver.start();
    try {
      const { account: theirs } = importing.fake;
      Object.assign(theirs.inboxes[0]!, { webhook_url: `${receiver.url}/channel` });
      const subscriptions = ['message_created', 'inbox_created'];
      theirs.webhooks = [
        { id: 71, name: 'CRM', url: `${receiver.url}/crm?key=of-theirs`, subscriptions, inbox: { id: 31 } },
        { id: 72, url: 'ftp://nowhere.example', subscriptions },
        { id: 73, url: `${receiver.url}/gone`, subscriptions, inbox: { id: 99 } },
      ];
      const report = await importing.run(account);
      expect(report.counts.webhooks).to.deep.equal({ theirs: 4, created: 2, updated: 0, unchanged: 0, left_out: 2 });
      expect(report.hints.join('\n')).to.contain('The new webhooks are paused');
      expect(JSON.stringify(report)).not.to.contain('of-theirs');
      const [shop] = ((await read(`${base(account)}/inboxes`)).payload as Body[]).filter(({ name }) => name === 'Shop');
      const [crm, channel] = await webhooksOf(account);
      const common = { format: 'chatwoot', paused: true, active: true, inbox_id: shop.id };
      expect(crm).to.deep.include({ ...common, name: 'CRM', subscriptions: ['message_created'] });
      expect(channel).to.deep.include({ ...common, name: 'API channel', url: `${receiver.url}/channel` });
      expect(channel.subscriptions).to.include('conversation_typing_on');

      const contact = await importing.app.post(`${base(account)}/contacts`, { name: 'New', inbox_id: shop.id });
      const opened = await importing.app.post(`${base(account)}/conversations`, {
        inbox_id: shop.id,
        contact_id: contact.body.id,
        message: { content: 'Hello' },
      });
      expect(opened.status).to.equal(201);
      expect((await importing.run(account)).counts.webhooks).to.include({ created: 0, unchanged: 2 });
      expect(receiver.received).to.deep.equal([]);
      await importing.app.post(`${base(account)}/webhooks/${crm.id}/resume`);
      await receiver.waitFor(1);
      expect(crm.url).to.equal(`${receiver.url}/crm?key=of-theirs`);
      expect(receiver.received.map(({ body }) => [body['event'], body['message_type']])).to.deep.equal([
        ['message_created', 'outgoing'],
      ]);
    } finally {
      await receiver.close();
    }
  });

  it('gives messages that answer others the ids that those have here, across runs and batches', async () => {
    const account = await importing.newAccount();
    const { messages, conversations } = importing.fake.account;
    const reply = (id: number, to: unknown, more = {}) => ({
      id,
      message_type: 1,
      content: `Reply ${id}`,
      created_at: messages[1]!.at(-1)!['created_at'],
      content_attributes: { in_reply_to: to, in_reply_to_external_id: 'wamid.1', ...more },
    });
    messages[1]!.push(reply(910, 901), reply(911, '910', { deleted: true }), reply(912, 904));
    const at = Number(conversations[0]!['updated_at']) + 1;
    await importing.run(account);
    messages[1]!.push(reply(913, 902));
    Object.assign(conversations[0]!, { updated_at: at });
    await importing.run(account);
    const rows = await importing.app.query<{ theirs: number; id: number; attributes: Body }>(
      `SELECT (content_attributes #>> '{chatwoot,id}')::bigint AS theirs, id, content_attributes AS attributes
       FROM messages WHERE account_id = $1 AND conversation_id = (
         SELECT id FROM conversations WHERE account_id = $1 ORDER BY created_at LIMIT 1)`,
      [account],
    );
    const byTheirs = new Map(rows.map((row) => [row.theirs, row]));
    const target = (id: number): unknown => byTheirs.get(id)!.attributes.in_reply_to;
    const here = (id: number) => byTheirs.get(id)!.id;
    expect([target(910), target(911), target(913)]).to.deep.equal([here(901), here(910), here(902)]);
    // One of another conversation is no target here.
    expect(byTheirs.get(912)!.attributes).to.deep.equal({
      in_reply_to_external_id: 'wamid.1',
      chatwoot: { id: 912, in_reply_to: 904 },
    });
  });

  it('names a contact that is here by its identifier, and fills what is empty there', async () => {
    const account = await importing.newAccount();
    const mine = { name: 'Mia Here', identifier: 'crm-1', custom_attributes: { plan: 'ours' } };
    const { body: here } = await importing.app.post(`${base(account)}/contacts`, mine);
    const picture = 'https://chat.example/rails/mia.png';
    Object.assign(importing.fake.account.contacts[0]!, {
      thumbnail: picture,
      custom_attributes: { plan: 'x', size: 'L' },
    });
    await importing.app.events();
    const { code, remarks, counts } = await importing.run(account);
    expect([code, counts.contacts.unchanged, await importing.app.events()]).to.deep.equal([0, 1, []]);
    const why =
      'its identifier was here: what was empty was filled, all else stays as it is here, and later changes there do not come';
    expect(remarks).to.deep.equal([{ what: `contact 501 (${here.id} here)`, why }]);
    const filled = await read(`${base(account)}/contacts/${here.id}`);
    expect(filled).to.deep.include({
      name: 'Mia Here',
      email: 'mia@example.com',
      phone_number: '+4915112345601',
      thumbnail: picture,
      custom_attributes: { plan: 'ours', size: 'L' },
    });
    expect((await read(`${base(account)}/contacts/${here.id}/labels`)).payload).to.deep.equal(['vip']);
    await importing.app.patch(`${base(account)}/contacts/${here.id}`, { email: null });
    expect((await importing.run(account)).remarks).to.deep.equal([]);
    expect((await read(`${base(account)}/contacts/${here.id}`)).email).to.equal(null);
  });

  it('links the pictures of contacts, and no address that is none', async () => {
    const account = await importing.newAccount();
    const [mia, visitor] = importing.fake.account.contacts;
    Object.assign(mia!, { thumbnail: 'https://chat.example/rails/mia.png' });
    Object.assign(visitor!, { thumbnail: 'data:image/png;base64,AAAA' });
    await importing.run(account);
    const { payload } = await read(`${base(account)}/contacts?sort=name`);
    expect((payload as Body[]).map(({ name, thumbnail }) => [name, thumbnail])).to.deep.equal([
      ['late-wave-12', null],
      ['Mia Novak', 'https://chat.example/rails/mia.png'],
    ]);
  });

  it('counts what is not copied, before anything is copied too; what is refused or missing there is passed over', async () => {
    const account = await importing.newAccount();
    const { account: theirs } = importing.fake;
    theirs.webhooks = [{ id: 1 }];
    theirs.others = {
      agent_bots: [{ id: 1 }, { id: 2 }],
      custom_filters: [{ id: 1 }],
      campaigns: [],
      portals: [{ id: 1 }],
    };
    importing.fake.intervene(({ path }, response) => {
      if (!path.endsWith('/portals')) return false;
      response.writeHead(403).end();
      return true;
    });
    const dry = await importing.run(account, '--dry-run');
    expect([dry.code, dry.not_copied]).to.deep.equal([0, { agent_bots: 2, custom_filters: 1 }]);
    expect([dry.counts.webhooks.theirs, dry.counts.attribute_definitions.theirs]).to.deep.equal([1, 0]);
    expect((await importing.run(account)).not_copied).to.deep.equal(dry.not_copied);
    const { output } = await importing.call(importing.into(account));
    expect(output).to.contain('Not copied, set these up here by hand (docs/migrating.md):\n  - agent bots: 2\n');
  });

  it('groups what is not as it was by its reason', async () => {
    const account = await importing.newAccount();
    const contacts = Array.from({ length: 6 }, (_, index) => ({
      id: 800 + index,
      name: 'x',
      email: `broken ${index}`,
    }));
    importing.fake.account.contacts = contacts;
    importing.fake.account.conversations = [];
    const { reasons } = await importing.run(account);
    const why = 'email is not valid here, and was kept as the additional attribute chatwoot_email';
    expect(reasons).to.deep.equal([{ why, count: 6, examples: ['contact 800', 'contact 801', 'contact 802'] }]);
    const elsewhere = await importing.newAccount();
    const { output } = await importing.call(importing.into(elsewhere));
    expect(output).to.contain(`  - contact 800, contact 801, contact 802 and 3 more: ${why}\n`);
  });

  it('says once a minute how far it is where nobody watches a terminal', () => {
    let now = 0;
    const written: string[] = [];
    const stream = { isTTY: false, write: (text: string) => written.push(text) > 0 };
    const bar = new ProgressBar(stream, { now: () => new Date(now) });
    for (let done = 0; done < 130; done += 1) {
      bar.show(done / 130, `contacts: ${done} of 130`);
      now += 1_000;
    }
    bar.end();
    expect(written).to.deep.equal(['contacts: 60 of 130\n', 'contacts: 120 of 130\n']);
  });
});
