import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { FakeMessenger } from '../support/fake-messenger.ts';
import { byGithub, byStandard, send } from '../support/hook-senders.ts';
import { addAccount } from '../support/people.ts';

const secret = 'a-secret-of-the-hook';

interface Shown {
  id: number;
  content: string;
  message_type: string;
  status: string;
  private: boolean;
  source_id: string | null;
  external_error: string | null;
  attachments: { file_name: string }[];
  content_attributes: Record<string, unknown>;
}

describe('the channel http-channel', function () {
  this.timeout(60_000);
  let app: TestApp;
  let messenger: FakeMessenger;
  let inbox: number;
  let hook: string;
  let requests = 0;

  const configOf = (url: string) => ({
    api_url: url,
    incoming: {
      when: { '/type': ['message', 'edit'], '/from/bot': null },
      edited: { '/type': 'edit' },
      source_id: '/from/id',
      external_id: '{/from/id}:{/number}',
      content: '/text',
      name: '/from/name',
      at: '/time',
      attachments: { list: '/files', url: '/link', file_name: '/title' },
    },
    outgoing: {
      path: '/chats/{source_id}/messages',
      headers: { authorization: 'Bearer {API_TOKEN}', 'x-plain': 'plain' },
      body: { to: '{source_id}', text: '{content}', meta: { ref: '{id}', by: ['{sender}'] } },
      external_id: '/message/id',
      success: { '/ok': true },
      reason: '/error',
    },
    status: {
      when: { '/type': 'receipt' },
      external_id: '/id',
      status: '/state',
      values: { arrived: 'delivered', seen: 'read', bounced: 'failed' },
      reason: '/why',
    },
  });
  const connect = (apiToken: string, account = 1, headers?: Record<string, string>) => {
    const secrets = { API_TOKEN: apiToken, HOOK_SECRET: secret };
    const channel = { type: 'plugin', plugin_id: 'http-channel', config: configOf(messenger.url), secrets };
    return app.call('POST', `/api/v1/accounts/${account}/inboxes`, { name: 'Messenger', channel }, headers);
  };
  const deliver = async (fields: object, url = hook): Promise<void> => {
    const body = JSON.stringify(fields);
    requests += 1;
    const { status, text } = await send(url, body, byGithub(body, secret, `r-${requests}`));
    expect(status, text).to.equal(202);
  };
  const write = (customer: string, fields: object, url = hook): Promise<void> => {
    const from = { id: customer, name: `No. ${customer}` };
    return deliver({ type: 'message', from, number: requests, ...fields }, url);
  };
  const conversationOf = (customer: string): Promise<number> =>
    app.eventually(async () => {
      const [found] = await app.query<{ id: number }>(
        'SELECT id FROM conversations WHERE inbox_id = $1 AND source_id = $2',
        [inbox, customer],
      );
      return found?.id;
    });
  const begin = async (customer: string, text = 'Hello'): Promise<number> => {
    await write(customer, { text });
    return conversationOf(customer);
  };
  const messages = async (conversation: number): Promise<Shown[]> =>
    (await app.get(`conversations/${conversation}/messages`)).body.payload;
  const say = async (conversation: number, fields: object): Promise<Shown> => {
    const { status, body } = await app.post(`conversations/${conversation}/messages`, {
      message_type: 'outgoing',
      ...fields,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const attach = async (conversation: number, name: string, bytes: string): Promise<number> => {
    const form = new FormData();
    form.set('message_type', 'outgoing');
    form.set('content', 'See the file');
    form.set('attachments[]', new File([bytes], name));
    const response = await fetch(`${app.url}/api/v1/accounts/1/conversations/${conversation}/messages`, {
      method: 'POST',
      headers: { api_access_token: 'administrator-of-the-tests' },
      body: form,
    });
    expect(response.status).to.equal(201);
    return ((await response.json()) as { id: number }).id;
  };
  const settled = (conversation: number, id: number, status: string): Promise<Shown> =>
    app.eventually(async () =>
      (await messages(conversation)).find((message) => message.id === id && message.status === status),
    );
  const to = (customer: string) => messenger.taken.filter(({ body }) => body.to === customer);

  before(async () => {
    messenger = await FakeMessenger.start();
    app = await TestApp.start();
    const made = await connect('canary-token_1');
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    ({ id: inbox, hook_url: hook } = made.body);
  });
  after(async () => {
    await app.stop();
    await messenger.stop();
  });

  it('brings in messages by the mapping, once each, with edits, files and times', async () => {
    messenger.files.set('/files/1', Buffer.from('a text of the customer'));
    const files = [{ link: `${messenger.url}/files/1`, title: 'notes.txt' }, { link: `${messenger.url}/gone` }];
    const first = { type: 'message', from: { id: 'c-1', name: 'Ada' }, number: 1, text: 'Hi', time: 1_700_000_000 };
    await deliver(first);
    const conversation = await conversationOf('c-1');
    await deliver({ ...first, again: true });
    await deliver({ ...first, type: 'edit', text: 'Hi there' });
    await deliver({ ...first, number: 2, text: '', files });
    await deliver({ ...first, number: 3, from: { id: 'c-1', bot: 'us' } });
    await deliver({ ...first, number: 4, text: 'Last' });
    await app.eventually(async () => (await messages(conversation)).length === 4);
    const [edited, withFile, note, last] = await messages(conversation);
    expect(edited).to.deep.include({ content: 'Hi there', source_id: 'c-1:1' });
    expect(edited!.content_attributes['external_created_at']).to.equal(1_700_000_000);
    expect(withFile!.attachments.map(({ file_name: name }) => name)).to.deep.equal(['notes.txt']);
    expect(note).to.include({ private: true, content: 'The file gone could not be received: The host answered 404' });
    expect(last!.content).to.equal('Last');
    expect((await app.get(`conversations/${conversation}`)).body.meta.sender.name).to.equal('Ada');
    expect(await app.eventNames()).to.include.members(['hook_received', 'contact_created', 'message_updated']);
  });

  it('sends by the template, with the secret in a header, and takes receipts', async () => {
    const conversation = await begin('c/2');
    const said = await say(conversation, { content: 'On "its" {id} way' });
    const sent = await settled(conversation, said.id, 'sent');
    const [arrived] = to('c/2');
    expect(arrived!.path).to.equal('/chats/c%2F2/messages');
    expect(arrived!.headers).to.include({ authorization: 'Bearer canary-token_1', 'x-plain': 'plain' });
    expect(arrived!.body).to.deep.include({ to: 'c/2', text: 'On "its" {id} way' });
    expect(arrived!.body).to.have.nested.property('meta.ref', said.id);
    expect(sent.source_id).to.equal(arrived!.id);
    await deliver({ type: 'receipt', id: arrived!.id, state: 'seen' });
    await settled(conversation, said.id, 'read');
    await deliver({ type: 'receipt', id: arrived!.id, state: 'arrived' });
    await deliver({ type: 'receipt', id: arrived!.id, state: 'unknown to us' });
    const items = [{ title: 'Basic', value: 'b' }];
    const asked = await say(conversation, {
      content: 'Which?',
      content_type: 'input_select',
      content_attributes: { items },
    });
    await settled(conversation, asked.id, 'sent');
    expect(to('c/2')[1]!.body.text).to.equal('Which?\n- Basic');
    expect((await messages(conversation)).find(({ id }) => id === said.id)!.status).to.equal('read');
    const bounced = await say(conversation, { content: 'Bounces' });
    await settled(conversation, bounced.id, 'sent');
    await deliver({ type: 'receipt', id: to('c/2')[2]!.id, state: 'bounced', why: 'No such chat' });
    expect((await settled(conversation, bounced.id, 'failed')).external_error).to.equal('No such chat');
  });

  it('waits as Retry-After says, keeps the order, and ends what is refused', async () => {
    const conversation = await begin('c-3');
    messenger.odd.push({ status: 429, headers: { 'retry-after': '7' }, body: { error: 'too many' } });
    const one = await say(conversation, { content: 'one' });
    const two = await say(conversation, { content: 'two' });
    const [waiting] = await app.eventually(async () => {
      const rows = await app.query<{ wait: number; last_error: string }>(
        `SELECT extract(epoch FROM next_attempt_at - now())::float8 AS wait, last_error FROM deliveries
         WHERE endpoint_kind = 'channel' AND state = 'pending' AND failures = 1`,
      );
      return rows.length === 1 && rows;
    });
    expect(waiting!.last_error).to.equal('later');
    expect(waiting!.wait).to.be.within(5, 7);
    await settled(conversation, two.id, 'sent');
    await settled(conversation, one.id, 'sent');
    expect(to('c-3').map(({ body }) => body.text)).to.deep.equal(['one', 'two']);
    messenger.odd.push({ status: 200, body: { ok: false, error: 'channel_not_found' } });
    const lost = await say(conversation, { content: 'three' });
    expect((await settled(conversation, lost.id, 'failed')).external_error).to.equal('channel_not_found');
    messenger.odd.push({ status: 403, body: { error: 'blocked' } });
    expect((await app.post(`conversations/${conversation}/messages/${lost.id}/retry`)).status).to.equal(200);
    await app.eventually(async () =>
      (await messages(conversation)).some(({ id, external_error: why }) => id === lost.id && why === 'blocked'),
    );
    expect((await app.post(`conversations/${conversation}/messages/${lost.id}/retry`)).status).to.equal(200);
    await settled(conversation, lost.id, 'sent');
  });

  it('sends links to files of agents, which no record shows', async () => {
    const conversation = await begin('c-6');
    const refused = await attach(conversation, 'a.txt', 'bytes');
    expect((await settled(conversation, refused, 'failed')).external_error).to.match(/no place for files/);
    const { outgoing, ...config } = configOf(messenger.url);
    const attachment = { link: '{url}', title: '{file_name}', bytes: '{file_size}' };
    const body = { ...outgoing.body, files: '{attachments}', text: '{content}\n{links}' };
    const settings = { ...config, outgoing: { ...outgoing, body, attachment } };
    const changed = await app.patch(`inboxes/${inbox}`, { channel: { config: settings } });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    messenger.repeats = true;
    messenger.odd.push({ status: 503, body: { error: 'busy' } });
    const said = await attach(conversation, 'a ü.txt', 'content of the file');
    await settled(conversation, said, 'sent');
    messenger.repeats = false;
    const [arrived] = to('c-6');
    const { files, text } = arrived!.body as { text: string; files?: { link: string; title: string; bytes: number }[] };
    expect(files).to.have.length(1);
    expect(files![0]).to.include({ title: 'a ü.txt', bytes: 19 });
    const { link } = files![0]!;
    expect(text).to.equal(`See the file\n${link}`);
    const loaded = await fetch(link);
    expect([loaded.status, await loaded.text()]).to.deep.equal([200, 'content of the file']);
    const signed = link.split('/').at(-2)!;
    const records = await app.query<{ record: string }>('SELECT r::text AS record FROM bot_runs r');
    expect(records.filter(({ record }) => record.includes(signed))).to.deep.equal([]);
    const { payload } = (await app.get(`runs?conversation_id=${conversation}`)).body;
    expect(payload).to.have.length(3);
    for (const { id } of payload as { id: number }[]) {
      const run = (await app.get(`runs/${id}`)).body;
      const replay = (await app.post(`runs/${id}/replay`)).body;
      expect(replay.identical, JSON.stringify(replay)).to.equal(true);
      for (const shown of [run, replay]) expect(JSON.stringify(shown)).not.to.include(signed);
    }
    expect(JSON.stringify((await app.get(`runs/${payload[0].id}`)).body)).to.match(/\[file \d+\]/);
  });

  it('takes no unsigned request, and other schemes by a hook of their own', async () => {
    const body = JSON.stringify({ type: 'message', from: { id: 'c-4' }, number: 1, text: 'Signed' });
    expect((await send(hook, body)).status).to.equal(401);
    expect((await send(hook, body, byGithub(body, 'another secret', 'r'))).status).to.equal(401);
    const { status, body: made } = await app.post('hooks', { name: 'Other', inbox_id: inbox, handler: 'standard' });
    expect(status, JSON.stringify(made)).to.equal(201);
    const headers = byStandard(body, secret, 'msg-1');
    expect((await send(made.url, body, { ...headers, 'webhook-id': 'msg-2' })).status).to.equal(401);
    expect((await send(made.url, body, headers)).status).to.equal(202);
    const { body: third } = await app.post('hooks', { name: 'Basic', inbox_id: inbox, handler: 'basic' });
    const json = { 'content-type': 'application/json', authorization: 'Basic d3Jvbmc6d3Jvbmc=' };
    expect((await send(third.url, body, json)).status).to.equal(401);
    const key = 'user:a-secret-of-the-hook';
    await app.patch(`inboxes/${inbox}`, { channel: { secrets: { HOOK_SECRET: key } } });
    const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
    expect((await send(third.url, body, { ...json, authorization })).status).to.equal(202);
    const [signed] = await messages(await conversationOf('c-4'));
    expect(signed!.content).to.equal('Signed');
    await app.patch(`inboxes/${inbox}`, { channel: { secrets: { HOOK_SECRET: secret } } });
  });

  it('keeps two inboxes and two accounts apart, and never shows the token', async () => {
    const { id: account, administrator } = await addAccount(app, 'Second');
    const theirs = await connect('canary-token_2', account, administrator.headers);
    expect(theirs.status, JSON.stringify(theirs.body)).to.equal(201);
    const ours = await connect('canary-token_3');
    await write('c-1', { text: 'To the second' }, theirs.body.hook_url);
    await write('c-1', { text: 'To the third' }, ours.body.hook_url);
    const places = await app.eventually(async () => {
      const rows = await app.query<{ id: number; account_id: number; inbox_id: number }>(
        `SELECT c.id, c.account_id, c.inbox_id FROM conversations c WHERE source_id = 'c-1' ORDER BY inbox_id`,
      );
      return rows.length === 3 && rows;
    });
    expect(places.map((place) => [place.account_id, place.inbox_id])).to.deep.equal([
      [1, inbox],
      [account, theirs.body.id],
      [1, ours.body.id],
    ]);
    const path = `/api/v1/accounts/${account}/conversations/${places[1]!.id}/messages`;
    const said = { content: 'From the second', message_type: 'outgoing' };
    expect((await app.call('POST', path, said, administrator.headers)).status).to.equal(201);
    await app.eventually(() => Promise.resolve(to('c-1').length === 1));
    expect(to('c-1')[0]!.headers.authorization).to.equal('Bearer canary-token_2');
    expect((await app.get(`conversations/${places[1]!.id}`)).status).to.equal(404);
    const told = await app.query<{ text: string }>(
      `SELECT r::text AS text FROM bot_runs r UNION ALL SELECT m::text FROM messages m UNION ALL SELECT e::text FROM events e`,
    );
    expect(told.filter(({ text }) => text.includes('canary-token'))).to.deep.equal([]);
  });

  it('takes up after a restart what waited before', async () => {
    const conversation = await begin('c-5');
    await app.patch('/platform/api/v1/plugins/http-channel', { enabled: false });
    const said = await say(conversation, { content: 'Later' });
    await write('c-5', { text: 'Meanwhile' });
    const { databaseUrl } = app;
    await app.app.stop();
    app = await TestApp.start({ databaseUrl, furnishing: null });
    await app.patch('/platform/api/v1/plugins/http-channel', { enabled: true });
    await settled(conversation, said.id, 'sent');
    await app.eventually(async () => (await messages(conversation)).some(({ content }) => content === 'Meanwhile'));
    expect(to('c-5')).to.have.length(1);
  });

  it('replays what was sent and received identically', async () => {
    const runs = await app.query<{ id: number }>(
      `SELECT id FROM bot_runs WHERE account_id = 1 AND plugin_id = 'http-channel' AND outcome = 'ok' ORDER BY id DESC LIMIT 6`,
    );
    expect(runs).to.have.length(6);
    for (const { id } of runs) {
      const { status, body } = await app.post(`runs/${id}/replay`);
      expect([id, status, body.identical], JSON.stringify(body)).to.deep.equal([id, 200, true]);
    }
  });
});
