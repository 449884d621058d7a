import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { addAccount } from '../support/people.ts';
import { FakeTelegram, messageOf } from '../support/fake-telegram.ts';

const secret = 'a-secret-of-the-webhook';

interface Shown {
  sender: { type: string } | null;
  id: number;
  content: string;
  message_type: string;
  private: boolean;
  status: string;
  source_id: string | null;
  external_error: string | null;
  attachments: { file_name: string; data_url: string }[];
  content_attributes: Record<string, unknown>;
}

describe('the channel telegram', function () {
  this.timeout(120_000);
  let app: TestApp;
  let telegram: FakeTelegram;
  let inbox: number;
  const token = '4200:canary-token_1';

  const connect = async (botToken: string, account = 1, headers?: Record<string, string>) => {
    const body = {
      name: 'Telegram',
      channel: {
        type: 'plugin',
        plugin_id: 'telegram',
        config: { api_url: telegram.url },
        secrets: { BOT_TOKEN: botToken, WEBHOOK_SECRET: secret },
      },
    };
    return app.call('POST', `/api/v1/accounts/${account}/inboxes`, body, headers);
  };
  const setWebhook = (botToken: string, url: string) => telegram.setWebhook(botToken, { url, secret });

  before(async () => {
    telegram = await FakeTelegram.start();
    app = await TestApp.start();
    const made = await connect(token);
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    inbox = made.body.id;
    await setWebhook(token, made.body.hook_url);
  });
  after(async () => {
    await app.stop();
    await telegram.stop();
  });

  const conversationOf = async (chat: number): Promise<number> =>
    app.eventually(async () => {
      const rows = await app.query<{ id: number }>(
        `SELECT id FROM conversations WHERE inbox_id = $1 AND source_id = $2 ORDER BY id DESC LIMIT 1`,
        [inbox, String(chat)],
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
  const begin = async (chat: number, text = 'Hello'): Promise<number> => {
    expect((await telegram.write(token, chat, { text })).status).to.equal(202);
    return conversationOf(chat);
  };
  const to = (chat: number) => telegram.sent.filter(({ fields }) => fields.chat_id === String(chat));

  it('shows the inbox, its settings and the end of its URL', async () => {
    const { body } = await app.get(`inboxes/${inbox}`);
    expect(body).to.deep.include({ channel_type: 'Channel::Plugin', plugin_id: 'telegram' });
    expect(body.channel).to.deep.include({ config: { api_url: telegram.url }, missing_secrets: [] });
    expect(body.channel.health.state).to.equal('ok');
    expect(body.hook_url).to.match(/\/hooks\/….{4}$/);
    expect((await app.get('inboxes')).body.payload.map(({ id }: { id: number }) => id)).to.include(inbox);
  });

  it('brings in messages and sends answers, with their status', async () => {
    await app.events();
    const conversation = await begin(42, 'Where is my order?');
    const [first] = await messages(conversation);
    expect(first).to.deep.include({ content: 'Where is my order?', message_type: 'incoming', status: 'sent' });
    expect(first!.source_id).to.match(/^42:\d+$/);
    expect(first!.content_attributes).to.deep.equal({ external_created_at: 1_700_000_000 });
    const { body: shown } = await app.get(`conversations/${conversation}`);
    expect(shown.meta.sender.name).to.equal('Ada No. 42');
    const answer = await say(conversation, { content: 'On its way' });
    expect(answer).to.include({ status: 'pending', external_error: null });
    const sent = await settled(conversation, answer.id, 'sent');
    const [arrived] = to(42);
    expect(arrived).to.deep.include({ method: 'sendMessage', token });
    expect(arrived!.fields.text).to.equal('On its way');
    expect(sent.source_id).to.equal(`42:${arrived!.messageId}`);
    const note = await say(conversation, { content: 'Only for us', private: true });
    expect(note.status).to.equal('sent');
    await telegram.write(token, 42, { text: 'Thanks' });
    await app.eventually(async () => (await messages(conversation)).length === 4);
    expect(to(42)).to.have.length(1);
    const names = await app.eventNames();
    expect(names).to.include.members(['hook_received', 'contact_created', 'conversation_created', 'message_updated']);
    const [updated] = await app.query<{ account_payload: { status: string; changed_attributes: object } }>(
      `SELECT account_payload FROM events WHERE name = 'message_updated' AND conversation_id = $1`,
      [conversation],
    );
    expect(updated!.account_payload).to.deep.include({
      status: 'sent',
      changed_attributes: { status: { previous: 'pending', current: 'sent' } },
    });
  });

  it('takes the same update once, also under another id, and edits of a message', async () => {
    const message = messageOf(43, { message_id: 900, text: 'First' });
    await telegram.update(token, { message }, 77_001);
    const conversation = await conversationOf(43);
    expect((await telegram.update(token, { message }, 77_001)).body.duplicate).to.equal(true);
    await telegram.update(token, { message }, 77_002);
    await telegram.update(token, { edited_message: { ...message, text: 'Edited', edit_date: 1 } }, 77_003);
    await app.eventually(async () => (await messages(conversation))[0]?.content === 'Edited');
    await telegram.update(token, { edited_message: messageOf(43, { message_id: 901, text: 'New by edit' }) });
    await telegram.update(token, { message: messageOf(43, { message_id: 901, text: 'Older' }) });
    await telegram.write(token, 43, { text: 'Last' });
    await app.eventually(async () => (await messages(conversation)).length === 3);
    expect((await messages(conversation)).map(({ content }) => content)).to.deep.equal([
      'Edited',
      'New by edit',
      'Last',
    ]);
  });

  it('brings in files, and keeps messages whose file cannot be had', async () => {
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1]);
    telegram.files.set('photo-1.jpg', jpeg);
    telegram.files.set('huge', null);
    const conversation = await begin(44);
    const photo = [{ file_id: 'small' }, { file_id: 'photo-1.jpg' }];
    await telegram.write(token, 44, { photo, caption: 'Broken' });
    await telegram.write(token, 44, { document: { file_id: 'huge', file_name: 'film.mov' } });
    telegram.files.set('misnamed.jpg', Buffer.from('no picture'));
    await telegram.write(token, 44, { photo: [{ file_id: 'misnamed.jpg' }], caption: 'Look' });
    await app.eventually(async () => (await messages(conversation)).length === 5);
    const [, pictured, lost, bare, note] = await messages(conversation);
    expect(pictured!.content).to.equal('Broken');
    expect(pictured!.attachments.map(({ file_name: name }) => name)).to.deep.equal(['photo-1.jpg']);
    const file = await fetch(new URL(pictured!.attachments[0]!.data_url, app.url));
    expect(Buffer.from(await file.arrayBuffer()).equals(jpeg)).to.equal(true);
    expect(lost).to.deep.include({ content: '(film.mov: Bad Request: file is too big)', attachments: [] });
    expect(bare).to.deep.include({ content: 'Look', attachments: [] });
    expect(note).to.include({ private: true });
    expect(note!.content).to.match(/^The file misnamed.jpg could not be received: /);
  });

  it('sends choices as a keyboard, long texts in parts, and files', async () => {
    const conversation = await begin(45);
    const items = [
      { title: 'Basic', value: 'b' },
      { title: 'Pro', value: 'p' },
    ];
    const asked = await say(conversation, {
      content: 'Which?',
      content_type: 'input_select',
      content_attributes: { items },
    });
    await settled(conversation, asked.id, 'sent');
    expect(JSON.parse(to(45)[0]!.fields.reply_markup!)).to.deep.include({
      keyboard: [[{ text: 'Basic' }], [{ text: 'Pro' }]],
    });
    const long = await say(conversation, { content: `${'x'.repeat(4_000)} ${'y'.repeat(4_000)}` });
    const { source_id: last } = await settled(conversation, long.id, 'sent');
    expect(to(45).map(({ fields }) => fields.text?.[0])).to.deep.equal(['W', 'x', 'y']);
    expect(last).to.equal(`45:${to(45)[2]!.messageId}`);
    const form = new FormData();
    form.set('message_type', 'outgoing');
    form.set('content', 'Your invoice');
    form.set('attachments[]', new File(['the invoice'], 'invoice.txt', { type: 'text/plain' }));
    const response = await fetch(`${app.url}/api/v1/accounts/1/conversations/${conversation}/messages`, {
      method: 'POST',
      headers: { api_access_token: 'administrator-of-the-tests' },
      body: form,
    });
    const { id } = (await response.json()) as { id: number };
    await settled(conversation, id, 'sent');
    expect(to(45)[3]).to.deep.include({ method: 'sendDocument' });
    expect(to(45)[3]!.fields).to.include({ document: 'invoice.txt the invoice', caption: 'Your invoice' });
  });

  it('tries again when Telegram is busy, in order, and never twice what arrived', async () => {
    const conversation = await begin(46);
    telegram.failures.push(
      { status: 502, description: 'Bad Gateway' },
      { status: 429, description: 'Too Many Requests: retry after 1', parameters: { retry_after: 1 } },
    );
    const one = await say(conversation, { content: 'one' });
    const two = await say(conversation, { content: 'two' });
    await settled(conversation, two.id, 'sent');
    await settled(conversation, one.id, 'sent');
    expect(to(46).map(({ fields }) => fields.text)).to.deep.equal(['one', 'two']);
    const runs = (await app.get(`runs?conversation_id=${conversation}`)).body.payload as { outcome: string }[];
    expect(runs.map(({ outcome }) => outcome).toSorted()).to.deep.equal(['later', 'later', 'ok', 'ok']);
  });

  it('fails a message to a customer who blocked the bot, and sends it again on request', async () => {
    const conversation = await begin(47);
    telegram.blocked.add('47');
    const said = await say(conversation, { content: 'Are you there?' });
    const failed = await settled(conversation, said.id, 'failed');
    expect(failed.external_error).to.equal('Forbidden: bot was blocked by the user');
    telegram.blocked.delete('47');
    const retry = () => app.post(`conversations/${conversation}/messages/${said.id}/retry`);
    const { status, body } = await retry();
    expect([status, body.status, body.external_error]).to.deep.equal([200, 'pending', null]);
    await settled(conversation, said.id, 'sent');
    expect(to(47)).to.have.length(1);
    expect((await retry()).status).to.equal(409);
    const [incoming] = await messages(conversation);
    expect((await app.post(`conversations/${conversation}/messages/${incoming!.id}/retry`)).status).to.equal(422);
  });

  it('fails a message when all attempts failed, with the last reason', async () => {
    const conversation = await begin(48);
    telegram.failures.push({ status: 500, description: 'Internal Server Error' });
    const said = await say(conversation, { content: 'Hello?' });
    const lane = `lane_id IN (SELECT id FROM lanes WHERE endpoint_kind = 'channel' AND subject_id = $1)`;
    await app.eventually(
      async () =>
        (await app.query(`SELECT FROM deliveries WHERE failures = 1 AND state = 'pending' AND ${lane}`, [conversation]))
          .length === 1,
    );
    telegram.failures.push({ status: 503, description: 'Service Unavailable' });
    await app.query(
      `UPDATE deliveries SET failures = 10, next_attempt_at = now() WHERE state = 'pending' AND ${lane}`,
      [conversation],
    );
    await app.query(`UPDATE lanes SET due_at = now() WHERE endpoint_kind = 'channel' AND subject_id = $1`, [
      conversation,
    ]);
    const failed = await settled(conversation, said.id, 'failed');
    expect(failed.external_error).to.equal('Service Unavailable');
  });

  it('lets a bot serve the inbox, until an agent is assigned', async () => {
    const [bot] = await app.query<{ id: number }>(
      `SELECT agent_bot_id AS id FROM inboxes WHERE agent_bot_id IS NOT NULL LIMIT 1`,
    );
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot!.id });
    const conversation = await begin(49, 'Hi bot');
    await app.eventually(async () => to(49).length > 0);
    const [, byBot] = await messages(conversation);
    expect(byBot).to.nested.include({ 'sender.type': 'AgentBot', content: to(49)[0]!.fields.text });
    const answers = to(49).length;
    const { body: profile } = await app.get('/api/v1/profile');
    await app.post(`conversations/${conversation}/assignments`, { assignee_id: profile.id });
    await telegram.write(token, 49, { text: 'Still there?' });
    await app.eventually(async () => (await messages(conversation)).some(({ content }) => content === 'Still there?'));
    const said = await say(conversation, { content: 'Yes, a person' });
    await settled(conversation, said.id, 'sent');
    expect(to(49)).to.have.length(answers + 1);
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: null });
  });

  it('refuses the same bot twice, serves two accounts, and never shows the token', async () => {
    const again = await connect(token);
    expect(again.status).to.equal(422);
    expect(again.body.error).to.include('BOT_TOKEN');
    const second = '4300:canary-token_2';
    const { id: account, administrator } = await addAccount(app, 'Second');
    const taken = await connect(token, account, administrator.headers);
    expect(taken.status).to.equal(422);
    const other = await connect(second, account, administrator.headers);
    expect(other.status, JSON.stringify(other.body)).to.equal(201);
    await setWebhook(second, other.body.hook_url);
    // The same customer writes to both: nothing of one account is seen in the other.
    await telegram.write(second, 42, { text: 'To the second' });
    const theirs = `/api/v1/accounts/${account}/conversations`;
    const [conversation] = await app.eventually(async () => {
      const { payload } = (await app.get(theirs, administrator.headers)).body.data;
      return payload?.length > 0 && payload;
    });
    expect((await app.get(`conversations/${conversation.id}`)).status).to.equal(404);
    const before = to(42).length;
    const said = { content: 'From the second', message_type: 'outgoing' };
    const written = `${theirs}/${conversation.id}/messages`;
    expect((await app.call('POST', written, said, administrator.headers)).status).to.equal(201);
    await app.eventually(() => Promise.resolve(to(42).length > before));
    expect(to(42).at(-1)).to.deep.include({ token: second });
    expect(to(42).filter(({ token: by }) => by === second)).to.have.length(1);
    const stored = await app.query(`SELECT account_id FROM messages WHERE content LIKE '% the second' ORDER BY id`);
    expect(stored).to.deep.equal([{ account_id: account }, { account_id: account }]);
    const wrong = await connect('4400:x');
    expect(
      (await app.patch(`inboxes/${wrong.body.id}`, { channel: { secrets: { BOT_TOKEN: token } } })).status,
    ).to.equal(422);
    expect((await app.delete(`inboxes/${wrong.body.id}`)).status).to.equal(200);
    const told = await app.query<{ text: string }>(
      `SELECT r::text AS text FROM bot_runs r UNION ALL SELECT m::text FROM messages m UNION ALL SELECT e::text FROM events e`,
    );
    expect(told.filter(({ text }) => text.includes('canary-token'))).to.deep.equal([]);
  });

  it('asks for the secrets again when they would go to another host', async () => {
    const own = (await connect('4500:x')).body.id as number;
    const change = (channel: object) => app.patch(`inboxes/${own}`, { channel });
    const elsewhere = { api_url: 'https://api.evil.example' };
    const refused = await change({ config: elsewhere });
    expect([refused.status, refused.body.error]).to.deep.equal([
      422,
      'Give the secret BOT_TOKEN again: these settings send it to another host',
    ]);
    expect((await change({ config: { api_url: `${telegram.url}/` } })).status).to.equal(200);
    expect((await change({ config: elsewhere, secrets: { BOT_TOKEN: '4500:x' } })).status).to.equal(200);
    expect((await app.delete(`inboxes/${own}`)).status).to.equal(200);
  });

  it('erases what was recorded of a request with its message, its conversation and its contact', async () => {
    const recorded = async (text: string): Promise<number> => {
      const rows = await app.query(
        `SELECT FROM hook_requests WHERE convert_from(body, 'UTF8') LIKE $1
         UNION ALL SELECT FROM bot_runs WHERE concat(calls, actions, logs) LIKE $1`,
        [`%${text}%`],
      );
      return rows.length;
    };
    const [one, two, three] = [
      await begin(61, 'Forget one'),
      await begin(62, 'Forget two'),
      await begin(63, 'Forget three'),
    ];
    for (const text of ['Forget one', 'Forget two', 'Forget three']) expect(await recorded(text)).to.equal(2);
    const [message] = await messages(one);
    expect((await app.delete(`conversations/${one}/messages/${message!.id}`)).status).to.equal(200);
    expect(await recorded('Forget one')).to.equal(0);
    expect((await app.delete(`conversations/${two}`)).status).to.equal(200);
    expect(await recorded('Forget two')).to.equal(0);
    const contact = (await app.get(`conversations/${three}`)).body.meta.sender.id;
    expect((await app.delete(`contacts/${contact}`)).status).to.equal(200);
    expect(await recorded('Forget three')).to.equal(0);
    expect(await recorded('No. 63')).to.equal(0);
  });

  it('waits while the plugin is disabled or the service is away, and goes on after that', async () => {
    const conversation = await begin(50);
    expect((await app.patch('/platform/api/v1/plugins/telegram', { enabled: false })).status).to.equal(200);
    const said = await say(conversation, { content: 'Later' });
    await telegram.write(token, 50, { text: 'Meanwhile' });
    await app.eventually(
      async () =>
        (await app.query(`SELECT FROM deliveries WHERE endpoint_kind = 'channel' AND state = 'pending'`)).length === 2,
    );
    const { databaseUrl } = app;
    await app.app.stop();
    app = await TestApp.start({ databaseUrl, furnishing: null });
    const [waiting] = (await messages(conversation)).filter(({ id }) => id === said.id);
    expect(waiting!.status).to.equal('pending');
    const tried = await app.query(
      `SELECT attempt, failures, last_error FROM deliveries WHERE endpoint_kind = 'channel' AND state = 'pending' AND attempt > 0`,
    );
    expect(tried).to.deep.equal([]);
    expect((await app.patch('/platform/api/v1/plugins/telegram', { enabled: true })).status).to.equal(200);
    await settled(conversation, said.id, 'sent');
    // The hook's URL has the port of the service that stopped.
    await app.eventually(async () => (await messages(conversation)).some(({ content }) => content === 'Meanwhile'));
  });

  it('replays what was sent and received identically', async () => {
    const runs = await app.query<{ id: number }>(
      `SELECT id FROM bot_runs WHERE account_id = 1 AND plugin_id = 'telegram' AND outcome = 'ok' AND erased_at IS NULL ORDER BY id DESC LIMIT 6`,
    );
    for (const { id } of runs) {
      const { status, body } = await app.post(`runs/${id}/replay`);
      expect([id, status, body.identical], JSON.stringify(body)).to.deep.equal([id, 200, true]);
    }
  });
});
