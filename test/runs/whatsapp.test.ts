import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { contactOf, FakeWhatsApp } from '../support/fake-whatsapp.ts';
import { addAccount } from '../support/people.ts';

const verifyToken = 'a-word-for-meta';
const [phone, token] = ['106540352242922', 'EAAG-canary-token_1'];

interface Shown {
  id: number;
  content: string;
  message_type: string;
  status: string;
  source_id: string | null;
  external_error: string | null;
  attachments: { file_name: string; data_url: string }[];
}

describe('the channel whatsapp', function () {
  this.timeout(120_000);
  let app: TestApp;
  let whatsapp: FakeWhatsApp;
  let inbox: number;

  const connect = (of: { phone: string; token: string }, account = 1, headers?: Record<string, string>) => {
    const config = { api_url: whatsapp.url, phone_number_id: of.phone };
    const secrets = { ACCESS_TOKEN: of.token, APP_SECRET: FakeWhatsApp.appSecret, VERIFY_TOKEN: verifyToken };
    const channel = { type: 'plugin', plugin_id: 'whatsapp', config, secrets };
    return app.call('POST', `/api/v1/accounts/${account}/inboxes`, { name: 'WhatsApp', channel }, headers);
  };

  before(async () => {
    whatsapp = await FakeWhatsApp.start();
    app = await TestApp.start();
    const made = await connect({ phone, token });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    inbox = made.body.id;
    whatsapp.admit(phone, token);
    expect(await whatsapp.subscribe(phone, made.body.hook_url, 'a-wrong-word')).to.equal(false);
    expect(await whatsapp.subscribe(phone, made.body.hook_url, verifyToken)).to.equal(true);
  });
  after(async () => {
    await app.stop();
    await whatsapp.stop();
  });

  const conversationOf = (customer: string): Promise<number> =>
    app.eventually(async () => {
      const rows = await app.query<{ id: number }>(
        `SELECT id FROM conversations WHERE inbox_id = $1 AND source_id = $2 ORDER BY id DESC LIMIT 1`,
        [inbox, customer],
      );
      return rows[0]?.id ?? null;
    }) as Promise<number>;
  const messages = async (conversation: number): Promise<Shown[]> =>
    (await app.get(`conversations/${conversation}/messages`)).body.payload;
  const settled = (conversation: number, id: number, status: string): Promise<Shown> =>
    app.eventually(async () => {
      const found = (await messages(conversation)).find((message) => message.id === id);
      return found?.status === status ? found : null;
    }) as Promise<Shown>;
  const say = async (conversation: number, fields: object): Promise<Shown> => {
    const { status, body } = await app.post(`conversations/${conversation}/messages`, {
      message_type: 'outgoing',
      ...fields,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const begin = async (customer: string, body = 'Hello'): Promise<number> => {
    const answer = await whatsapp.write(phone, customer, { type: 'text', text: { body } });
    expect(answer.status).to.equal(200);
    return conversationOf(customer);
  };
  const to = (customer: string) => whatsapp.sent.filter(({ body }) => body['to'] === customer);
  const hasHandled = (hook = inbox): Promise<unknown> =>
    app.eventually(async () => {
      const waiting = await app.query(
        `SELECT FROM hook_requests r JOIN hooks h ON h.account_id = r.account_id AND h.id = r.hook_id
         WHERE h.inbox_id = $1 AND r.outcome = 'accepted' AND (
           NOT EXISTS (SELECT FROM bot_runs b WHERE b.account_id = r.account_id AND b.event_id = r.event_id)
           OR EXISTS (SELECT FROM deliveries d WHERE d.account_id = r.account_id AND d.event_id = r.event_id AND d.state = 'pending'))`,
        [hook],
      );
      return waiting.length === 0;
    });

  it('brings in messages, sends answers, and follows them until they are read', async () => {
    await app.events();
    const conversation = await begin('4915111', 'Wo ist mein Päckchen? 😀');
    const [first] = await messages(conversation);
    expect(first).to.deep.include({ content: 'Wo ist mein Päckchen? 😀', message_type: 'incoming' });
    const { body: shown } = await app.get(`conversations/${conversation}`);
    expect(shown.meta.sender).to.deep.include({ name: 'Ada No. 4915111', phone_number: '+4915111' });
    const answer = await say(conversation, { content: 'On its way' });
    const sent = await settled(conversation, answer.id, 'sent');
    const [arrived] = to('4915111');
    expect(arrived!.body).to.deep.include({ type: 'text', text: { body: 'On its way' }, recipient_type: 'individual' });
    expect(sent.source_id).to.equal(arrived!.id);
    // Receipts come in any order, and more than once.
    for (const status of ['read', 'delivered', 'sent', 'read'])
      expect((await whatsapp.tell(phone, arrived!, status, { pricing: { billable: true } })).status).to.equal(200);
    await settled(conversation, answer.id, 'read');
    await hasHandled();
    expect((await settled(conversation, answer.id, 'read')).external_error).to.equal(null);
    const names = await app.eventNames();
    expect(names).to.include.members(['hook_received', 'contact_created', 'conversation_created', 'message_updated']);
    const told = await app.query<{ status: string }>(
      `SELECT account_payload ->> 'status' AS status FROM events WHERE name = 'message_updated' AND conversation_id = $1 ORDER BY id`,
      [conversation],
    );
    expect(told.map(({ status }) => status).slice(0, 2)).to.deep.equal(['sent', 'read']);
  });

  it('takes a batch of several customers, in order, each message once, and nothing of another number', async () => {
    const text = (from: string, body: string) => whatsapp.messageOf(from, { type: 'text', text: { body } });
    const batch = [
      {
        contacts: [contactOf('4915121'), contactOf('4915122')],
        messages: [text('4915121', 'one'), text('4915122', 'eins')],
      },
      { contacts: [contactOf('4915121')], messages: [text('4915121', 'two'), text('4915121', 'three')] },
    ];
    const changes = batch.map((value) => ({ field: 'messages', value: whatsapp.valueOf(phone, value) }));
    const stranger = whatsapp.valueOf('999', { messages: [text('4915123', 'For another number')] });
    const other = { field: 'message_template_status_update', value: { event: 'APPROVED' } };
    const body = {
      object: 'whatsapp_business_account',
      entry: [{ changes }, { changes: [{ field: 'messages', value: stranger }, other] }],
    };
    expect((await whatsapp.deliver(phone, body)).body).to.not.have.property('duplicate');
    expect((await whatsapp.deliver(phone, body)).body.duplicate).to.equal(true);
    // The same messages in another request.
    await whatsapp.deliver(phone, { ...body, again: true });
    await hasHandled();
    const [one, two] = [await conversationOf('4915121'), await conversationOf('4915122')];
    expect((await messages(one)).map(({ content }) => content)).to.deep.equal(['one', 'two', 'three']);
    expect((await messages(two)).map(({ content }) => content)).to.deep.equal(['eins']);
    expect(await app.query(`SELECT FROM messages WHERE content = 'For another number'`)).to.deep.equal([]);
  });

  it('takes more messages in one request than a bot may act', async () => {
    const many = Array.from({ length: 60 }, (_, index) =>
      whatsapp.messageOf('4915124', { type: 'text', text: { body: `No. ${index}` } }),
    );
    await whatsapp.notify(phone, [{ contacts: [contactOf('4915124')], messages: many }]);
    const conversation = await conversationOf('4915124');
    await app.eventually(async () => {
      const rows = await app.query('SELECT FROM messages WHERE conversation_id = $1', [conversation]);
      return rows.length === 60;
    });
  });

  it('fetches files with the token, and says in words what is no text', async () => {
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, ...Buffer.from('a photo')]);
    whatsapp.files.set('701', { bytes: jpeg, type: 'image/jpeg' });
    const kinds = [
      { type: 'image', image: { id: '701', mime_type: 'image/jpeg', sha256: 'x', caption: 'Broken' } },
      { type: 'document', document: { id: '702', filename: 'gone.pdf', mime_type: 'application/pdf' } },
      { type: 'reaction', reaction: { message_id: 'wamid.x', emoji: '👍' } },
      { type: 'unsupported', errors: [{ code: 131_051, title: 'Message type unknown' }] },
      { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: 'b', title: 'Basic' } } },
      { type: 'location', location: { latitude: 52.5, longitude: 13.4 } },
    ];
    for (const kind of kinds) {
      await whatsapp.write(phone, '4915131', kind);
      await hasHandled();
    }
    const shown = await messages(await conversationOf('4915131'));
    expect(shown.map(({ content }) => content)).to.deep.equal([
      'Broken',
      '(gone.pdf: Unsupported get request. Object does not exist (100))',
      'Reacted with 👍',
      '(A message of the kind unsupported, which WhatsApp shows on the phone only)',
      'Basic',
      '📍 52.5, 13.4',
    ]);
    expect(whatsapp.downloads).to.deep.equal([token]);
    expect(shown[0]!.attachments.map(({ file_name: name }) => name)).to.deep.equal(['image-701.jpg']);
    const file = await fetch(new URL(shown[0]!.attachments[0]!.data_url, app.url));
    expect(Buffer.from(await file.arrayBuffer()).equals(jpeg)).to.equal(true);
  });

  it('sends choices, files and long texts', async () => {
    const conversation = await begin('4915141');
    const items = ['Basic', 'Pro', 'Team', 'Enterprise'].map((title) => ({ title, value: title.toLowerCase() }));
    const ask = async (some: typeof items) => {
      const asked = { content: 'Which?', content_type: 'input_select', content_attributes: { items: some } };
      await settled(conversation, (await say(conversation, asked)).id, 'sent');
      return to('4915141').at(-1)!.body['interactive'];
    };
    expect((await ask(items.slice(0, 2))).action.buttons).to.deep.equal([
      { type: 'reply', reply: { id: 'basic', title: 'Basic' } },
      { type: 'reply', reply: { id: 'pro', title: 'Pro' } },
    ]);
    expect((await ask(items)).action.sections[0].rows).to.have.length(4);
    const long = await say(conversation, { content: `${'x'.repeat(4_000)} ${'y'.repeat(4_000)}` });
    const { source_id: last } = await settled(conversation, long.id, 'sent');
    const parts = to('4915141').slice(-2);
    expect(parts.map(({ body }) => body['text'].body[0])).to.deep.equal(['x', 'y']);
    expect(last).to.equal(parts[1]!.id);
    const form = new FormData();
    form.set('message_type', 'outgoing');
    form.set('content', 'Your invoice');
    form.set('attachments[]', new File(['the invoice'], 'invoice.txt', { type: 'text/plain' }));
    const response = await fetch(`${app.url}/api/v1/accounts/1/conversations/${conversation}/messages`, {
      method: 'POST',
      headers: { api_access_token: 'administrator-of-the-tests' },
      body: form,
    });
    await settled(conversation, ((await response.json()) as { id: number }).id, 'sent');
    const { document } = to('4915141').at(-1)!.body;
    expect(document).to.include({ caption: 'Your invoice', filename: 'invoice.txt' });
    expect(whatsapp.files.get(document.id)!.bytes.toString()).to.equal('the invoice');
  });

  it('sends templates only once the window of 24 hours is closed', async () => {
    const conversation = await begin('4915151');
    whatsapp.closeWindow('4915151');
    const said = await say(conversation, { content: 'Are you still there?' });
    const failed = await settled(conversation, said.id, 'failed');
    expect(failed.external_error).to.match(/^More than 24 hours .* only a template can be sent \(131047\)$/);
    const template = { name: 'order_update', language: 'en_US', parameters: ['17'] };
    const sent = await say(conversation, { content: 'Your order 17 is ready', content_attributes: { template } });
    await settled(conversation, sent.id, 'sent');
    expect(to('4915151').at(-1)!.body['template']).to.deep.equal({
      name: 'order_update',
      language: { code: 'en_US' },
      components: [{ type: 'body', parameters: [{ type: 'text', text: '17' }] }],
    });
    const broken = await say(conversation, {
      content: 'x',
      content_attributes: { template: { name: 'order_update' } },
    });
    expect((await settled(conversation, broken.id, 'failed')).external_error).to.include('`language`');
    // A failure may also be reported after the message was accepted, and the message be sent again.
    const late = to('4915151').at(-1)!;
    const errors = [{ code: 131_026, title: 'Message undeliverable', error_data: { details: 'Not on WhatsApp.' } }];
    await whatsapp.tell(phone, late, 'failed', { errors });
    expect((await settled(conversation, sent.id, 'failed')).external_error).to.equal('Not on WhatsApp. (131026)');
    expect((await app.post(`conversations/${conversation}/messages/${sent.id}/retry`)).status).to.equal(200);
    await settled(conversation, sent.id, 'sent');
    expect(to('4915151')).to.have.length(2);
    await whatsapp.tell(phone, to('4915151').at(-1)!, 'delivered');
    await settled(conversation, sent.id, 'delivered');
  });

  it('tries again after rate limits, in order', async () => {
    const conversation = await begin('4915161');
    whatsapp.failures.push({ status: 429, code: 130_429, message: '(#130429) Rate limit hit' });
    const [one, two] = [await say(conversation, { content: 'one' }), await say(conversation, { content: 'two' })];
    await settled(conversation, two.id, 'sent');
    await settled(conversation, one.id, 'sent');
    expect(to('4915161').map(({ body }) => body['text'].body)).to.deep.equal(['one', 'two']);
  });

  it('settles a message by its status where the answer was lost, and sends it once', async () => {
    const conversation = await begin('4915171');
    whatsapp.onAccepted = async (message, response) => {
      whatsapp.onAccepted = null;
      await whatsapp.tell(phone, message, 'sent');
      response.destroy();
    };
    const said = await say(conversation, { content: 'Once' });
    const sent = await settled(conversation, said.id, 'sent');
    expect(sent.source_id).to.equal(to('4915171')[0]!.id);
    await whatsapp.tell(phone, to('4915171')[0]!, 'delivered');
    await settled(conversation, said.id, 'delivered');
    await app.eventually(
      async () =>
        (
          await app.query(
            `SELECT FROM deliveries d JOIN lanes l ON l.id = d.lane_id WHERE l.endpoint_kind = 'channel' AND l.subject_id = $1 AND d.state = 'pending'`,
            [conversation],
          )
        ).length === 0,
    );
    expect(to('4915171')).to.have.length(1);
  });

  it('holds messages while the token is not accepted, and shows that', async () => {
    const conversation = await begin('4915181');
    whatsapp.failures.push({ status: 401, code: 190, message: 'Session has expired' });
    const said = await say(conversation, { content: 'Hello?' });
    await app.eventually(async () => {
      const { channel } = (await app.get(`inboxes/${inbox}`)).body;
      return channel.health.state !== 'ok';
    });
    await settled(conversation, said.id, 'sent');
    expect(to('4915181')).to.have.length(1);
  });

  it('refuses what is not signed by the app, and survives whatever is', async () => {
    const bad = await whatsapp.notify(
      phone,
      [{ messages: [whatsapp.messageOf('4915191', { type: 'text' })] }],
      'wrong',
    );
    expect(bad.status).to.equal(401);
    const odd: object[] = [
      {},
      { entry: 'x' },
      { entry: [{ changes: [{ field: 'messages', value: null }] }] },
      {
        entry: [{ changes: [{ field: 'messages', value: whatsapp.valueOf(phone, { messages: 'x', statuses: {} }) }] }],
      },
    ];
    for (const body of odd) expect((await whatsapp.deliver(phone, body)).status).to.equal(200);
    const strange = { id: 'wamid.strange', from: '4915192', type: '__proto__', timestamp: 'soon' };
    await whatsapp.notify(phone, [{ messages: [strange] }]);
    const forged = { id: 'wamid.forged', body: { biz_opaque_callback_data: 'switchboard:1:1:1' } };
    await whatsapp.tell(phone, forged, 'read');
    await hasHandled();
    const [shown] = await messages(await conversationOf('4915192'));
    expect(shown!.content).to.include('of the kind __proto__');
    const [first] = await app.query<{ source_id: string | null }>('SELECT source_id FROM messages WHERE id = 1');
    expect(first?.source_id ?? null).to.not.equal('wamid.forged');
  });

  it('serves two accounts, each with its own number, and never shows a token', async () => {
    const second = { phone: '206540352242922', token: 'EAAG-canary-token_2' };
    const { id: account, administrator } = await addAccount(app, 'Second');
    const made = await connect(second, account, administrator.headers);
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    whatsapp.admit(second.phone, second.token);
    await whatsapp.subscribe(second.phone, made.body.hook_url, verifyToken);
    await whatsapp.write(second.phone, '4915111', { type: 'text', text: { body: 'To the second' } });
    const theirs = `/api/v1/accounts/${account}/conversations`;
    const [conversation] = await app.eventually(async () => {
      const { payload } = (await app.get(theirs, administrator.headers)).body.data;
      return payload?.length > 0 && payload;
    });
    expect((await app.get(`conversations/${conversation.id}`)).status).to.equal(404);
    const said = { content: 'From the second', message_type: 'outgoing' };
    const written = await app.call('POST', `${theirs}/${conversation.id}/messages`, said, administrator.headers);
    expect(written.status).to.equal(201);
    await app.eventually(() => Promise.resolve(to('4915111').at(-1)!.token === second.token));
    // A status of one account moves no message of the other, even with the right number.
    const [own] = to('4915111');
    const before = await app.query('SELECT status FROM messages WHERE account_id = 1 ORDER BY id');
    await whatsapp.tell(second.phone, { id: 'wamid.new', body: own!.body }, 'failed');
    await hasHandled(made.body.id);
    expect(await app.query('SELECT status FROM messages WHERE account_id = 1 ORDER BY id')).to.deep.equal(before);
    const told = await app.query<{ text: string }>(
      `SELECT r::text AS text FROM bot_runs r UNION ALL SELECT m::text FROM messages m UNION ALL SELECT e::text FROM events e`,
    );
    expect(told.filter(({ text }) => text.includes('canary-token'))).to.deep.equal([]);
  });

  it('sends what waits after a restart, and replays its runs identically', async () => {
    const conversation = await begin('4915201');
    expect((await app.patch('/platform/api/v1/plugins/whatsapp', { enabled: false })).status).to.equal(200);
    const said = await say(conversation, { content: 'Later' });
    const { databaseUrl } = app;
    await app.app.stop();
    app = await TestApp.start({ databaseUrl, furnishing: null });
    expect((await app.patch('/platform/api/v1/plugins/whatsapp', { enabled: true })).status).to.equal(200);
    await settled(conversation, said.id, 'sent');
    expect(to('4915201')).to.have.length(1);
    const runs = await app.query<{ id: number }>(
      `SELECT id FROM bot_runs WHERE account_id = 1 AND plugin_id = 'whatsapp' AND outcome = 'ok' ORDER BY id DESC LIMIT 6`,
    );
    for (const { id } of runs) {
      const { status, body } = await app.post(`runs/${id}/replay`);
      expect([id, status, body.identical], JSON.stringify(body)).to.deep.equal([id, 200, true]);
    }
  });
});
