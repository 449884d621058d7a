import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { FakeTelegram } from '../support/fake-telegram.ts';

const token = '4200:token-of-the-edges';
const secret = 'a-secret-of-the-webhook';

interface Shown {
  id: number;
  content: string;
  status: string;
  private: boolean;
  external_error: string | null;
  attachments: { file_name: string }[];
  content_attributes: Record<string, unknown>;
}

describe('what goes wrong on channels', function () {
  this.timeout(60_000);
  let app: TestApp;
  let telegram: FakeTelegram;
  let inbox: number;

  before(async () => {
    telegram = await FakeTelegram.start();
    app = await TestApp.start();
    const secrets = { BOT_TOKEN: token, WEBHOOK_SECRET: secret };
    const channel = { type: 'plugin', plugin_id: 'telegram', config: { api_url: telegram.url }, secrets };
    const { status, body } = await app.post('inboxes', { name: 'Telegram', channel });
    expect(status, JSON.stringify(body)).to.equal(201);
    inbox = body.id;
    await telegram.setWebhook(token, { url: body.hook_url, secret });
  });
  after(async () => {
    await app.stop();
    await telegram.stop();
  });

  const begin = async (chat: number, fields: object = { text: 'Hello' }): Promise<number> => {
    expect((await telegram.write(token, chat, { ...fields })).status).to.equal(202);
    return app.eventually(async () => {
      const [found] = await app.query<{ id: number }>(
        'SELECT id FROM conversations WHERE inbox_id = $1 AND source_id = $2',
        [inbox, String(chat)],
      );
      return found?.id ?? null;
    }) as Promise<number>;
  };
  const messages = async (conversation: number): Promise<Shown[]> =>
    (await app.get(`conversations/${conversation}/messages`)).body.payload;
  const say = async (conversation: number, content: string): Promise<Shown> =>
    (await app.post(`conversations/${conversation}/messages`, { content, message_type: 'outgoing' })).body;
  const settled = (conversation: number, id: number, status: string): Promise<Shown> =>
    app.eventually(async () =>
      (await messages(conversation)).find((message) => message.id === id && message.status === status),
    );
  const to = (chat: number) => telegram.sent.filter(({ fields }) => fields.chat_id === String(chat));
  /** Has the deliveries of a lane be tried at once, as if they had failed before. */
  const hurry = async (failures: number): Promise<void> => {
    const pending = `endpoint_kind = 'channel' AND state = 'pending' AND (failures > 0 OR trigger = 'resend')`;
    await app.query(`UPDATE deliveries SET failures = $1, next_attempt_at = now() WHERE ${pending}`, [failures]);
    await app.query(`UPDATE lanes SET due_at = now() WHERE id IN (SELECT lane_id FROM deliveries WHERE ${pending})`);
  };
  const hasFailed = (): Promise<unknown> =>
    app.eventually(
      async () =>
        (
          await app.query(
            `SELECT FROM deliveries WHERE endpoint_kind = 'channel' AND state = 'pending' AND failures = 1`,
          )
        ).length === 1,
    );

  it('takes texts that cannot be stored, and names that are too long', async () => {
    const first = `A\0da ${'n'.repeat(400)}`;
    const name = `${'x'.repeat(300)}.txt`;
    telegram.files.set('report', Buffer.from('the report'));
    const from = { id: 71, is_bot: false, first_name: first };
    const message = { from, caption: 'half \ud83d and \0', document: { file_id: 'report', file_name: name } };
    const conversation = await begin(71, message);
    const [shown] = await messages(conversation);
    expect(shown!.content).to.equal('half \ufffd and \ufffd');
    expect(shown!.attachments[0]!.file_name).to.equal(`${'x'.repeat(251)}.txt`);
    const { body } = await app.get(`conversations/${conversation}`);
    expect(body.meta.sender.name).to.equal(`A\ufffdda ${'n'.repeat(250)}`);
  });

  it('fails a message that is deleted before it was sent, and never sends it', async () => {
    const conversation = await begin(72);
    telegram.failures.push({ status: 500, description: 'Internal Server Error' });
    const said = await say(conversation, 'Do not send this');
    await hasFailed();
    expect((await app.delete(`conversations/${conversation}/messages/${said.id}`)).status).to.equal(200);
    const [, gone] = await messages(conversation);
    expect(gone).to.include({
      content: '',
      status: 'failed',
      external_error: 'The message was deleted before it was sent',
    });
    await hurry(1);
    const next = await say(conversation, 'Send this');
    await settled(conversation, next.id, 'sent');
    expect(to(72).map(({ fields }) => fields.text)).to.deep.equal(['Send this']);
    expect((await app.post(`conversations/${conversation}/messages/${said.id}/retry`)).status).to.equal(404);
    const [told] = await app.query<{ account_payload: { changed_attributes: { status?: object } } }>(
      `SELECT account_payload FROM events WHERE name = 'message_updated' AND conversation_id = $1 ORDER BY id LIMIT 1`,
      [conversation],
    );
    expect(told!.account_payload.changed_attributes.status).to.deep.equal({ previous: 'pending', current: 'failed' });
  });

  it('brings in a text at once, its file by the schedule of a channel, and says the end of it', async () => {
    telegram.files.set('late', Buffer.from('late'));
    const conversation = await begin(73);
    telegram.fileFailures.push(503, 502, 503, 503);
    await telegram.write(token, 73, { document: { file_id: 'late', file_name: 'late.txt' }, caption: 'Comes late' });
    await app.eventually(async () => (await messages(conversation)).length === 2);
    const awaiting = { content: 'Comes late', attachments: [] };
    const [, early] = await messages(conversation);
    expect(early).to.deep.include(awaiting);
    expect(early!.content_attributes).to.include({ awaited_files: 1 });
    const [delivery] = await app.query<{ wait: number }>(
      `SELECT extract(epoch FROM next_attempt_at - now())::float8 AS wait
       FROM deliveries WHERE endpoint_kind = 'channel' AND state = 'pending'`,
    );
    expect(delivery!.wait).to.be.within(2, 5);
    await telegram.write(token, 73, { text: 'Does not wait' });
    await app.eventually(async () => (await messages(conversation)).length === 3);
    for (const failures of [5, 9]) {
      await hurry(failures);
      const failed = `SELECT FROM deliveries WHERE endpoint_kind = 'channel' AND last_error = 'attachment_unavailable' AND failures = $1`;
      await app.eventually(async () => (await app.query(failed, [failures + 1])).length === 1);
    }
    expect((await messages(conversation))[1]!.content_attributes).to.include({ awaited_files: 1 });
    await hurry(10);
    await app.eventually(async () => (await messages(conversation)).length === 4);
    const [, shown, , note] = await messages(conversation);
    expect(shown).to.deep.include(awaiting);
    expect(shown!.content_attributes).not.to.have.property('awaited_files');
    expect(note).to.include({
      private: true,
      content: 'The file late.txt could not be received: The host answered 503',
    });
  });

  it('adds a late file to its message once, and tells receivers', async () => {
    telegram.files.set('here', Buffer.from('here'));
    const conversation = await begin(75);
    telegram.fileFailures.push(503);
    await telegram.write(token, 75, { document: { file_id: 'here', file_name: 'here.txt' }, caption: 'Comes later' });
    await app.eventually(async () => (await messages(conversation)).length === 2);
    const [, { id }] = (await messages(conversation)) as [Shown, Shown];
    await hurry(3);
    const whole = await app.eventually(async () =>
      (await messages(conversation)).find((message) => message.id === id && message.attachments.length === 1),
    );
    expect(whole.attachments[0]!.file_name).to.equal('here.txt');
    expect(whole.content_attributes).not.to.have.property('awaited_files');
    const told = await app.query<{ name: string; files: { file_name: string }[] | null }>(
      `SELECT name, account_payload -> 'attachments' AS files FROM events
       WHERE conversation_id = $1 AND name LIKE 'message_%' AND (account_payload ->> 'id')::bigint = $2 ORDER BY id`,
      [conversation, id],
    );
    expect(told.map(({ name, files }) => [name, files?.length ?? 0])).to.deep.equal([
      ['message_created', 0],
      ['message_updated', 1],
    ]);
    const [request] = await app.query<{ id: number; hook_id: number }>(
      'SELECT id, hook_id FROM hook_requests ORDER BY id DESC LIMIT 1',
    );
    const path = `hooks/${request!.hook_id}/requests/${request!.id}`;
    expect((await app.post(`${path}/resend`)).status).to.equal(200);
    await app.eventually(async () => (await app.get(path)).body.state === 'done');
    expect(await messages(conversation)).to.deep.equal([(await messages(conversation))[0], whole]);
    const files = await app.query('SELECT FROM attachments WHERE conversation_id = $1', [conversation]);
    expect(files).to.have.length(1);
  });

  it('gives up a file that the channel names no more, and says so', async () => {
    telegram.files.set('fleeting', Buffer.from('fleeting'));
    const conversation = await begin(77);
    telegram.fileFailures.push(503);
    await telegram.write(token, 77, { document: { file_id: 'fleeting', file_name: 'f.txt' }, caption: 'Look' });
    await app.eventually(async () => (await messages(conversation)).length === 2);
    expect((await messages(conversation))[1]!.content_attributes).to.include({ awaited_files: 1 });
    telegram.files.delete('fleeting');
    await hurry(3);
    await app.eventually(async () => (await messages(conversation)).length === 3);
    const [, shown, note] = await messages(conversation);
    expect(shown).to.deep.include({ content: 'Look', attachments: [] });
    expect(shown!.content_attributes).not.to.have.property('awaited_files');
    expect(note!.content).to.equal('The file f.txt could not be received: The channel names it no more');
    expect(await app.query('SELECT FROM channel_messages WHERE awaited IS NOT NULL')).to.deep.equal([]);
  });

  it('awaits no files of a message that is deleted', async () => {
    const conversation = await begin(76);
    telegram.fileFailures.push(503);
    await telegram.write(token, 76, { document: { file_id: 'here', file_name: 'here.txt' }, caption: 'Delete this' });
    await app.eventually(async () => (await messages(conversation)).length === 2);
    const [, { id }] = (await messages(conversation)) as [Shown, Shown];
    expect((await app.delete(`conversations/${conversation}/messages/${id}`)).status).to.equal(200);
    await hurry(3);
    await app.eventually(
      async () =>
        (await app.query(`SELECT FROM deliveries WHERE endpoint_kind = 'channel' AND state = 'pending'`)).length === 0,
    );
    expect((await messages(conversation))[1]).to.deep.include({ content: '', attachments: [] });
    expect(await app.query('SELECT FROM channel_messages WHERE awaited IS NOT NULL')).to.deep.equal([]);
  });

  it('notices that another system has taken the webhook, and that none is set', async () => {
    const health = async () => (await app.get(`inboxes/${inbox}`)).body.channel.health;
    const { url } = (await app.post('hooks', { name: 'New', inbox_id: inbox, handler: 'updates' })).body;
    const checked = async (webhook: string, error: RegExp): Promise<void> => {
      await telegram.setWebhook(token, { url: webhook, secret });
      await app.query('UPDATE agent_bots SET checked_at = NULL');
      await app.eventually(async () => error.test((await health()).last_error));
    };
    await checked('https://thief.example/hooks/x', /^Another system has set its webhook \(thief\.example\)/);
    // A message that arrives proves nothing about those of customers.
    const [conversation] = await app.query<{ id: number }>(`SELECT id FROM conversations WHERE source_id = '72'`);
    const said = await say(conversation!.id, 'Still sent');
    await settled(conversation!.id, said.id, 'sent');
    expect((await health()).state).to.equal('failing');
    await checked('', /^No webhook is set/);
    // Mended, it is seen with the next message, not after the minutes until the next check.
    await telegram.setWebhook(token, { url, secret });
    await begin(75);
    await app.eventually(async () => (await health()).state === 'ok');
  });

  it('sends the longest message in parts without a failed attempt', async () => {
    const conversation = await begin(74);
    const said = await say(conversation, 'z'.repeat(100_000));
    await settled(conversation, said.id, 'sent');
    expect(
      to(74)
        .map(({ fields }) => fields.text)
        .join(''),
    ).to.equal('z'.repeat(100_000));
    const [delivery] = await app.query<{ failures: number; attempt: number }>(
      `SELECT failures, attempt FROM deliveries d JOIN events e ON e.id = d.event_id
       WHERE d.endpoint_kind = 'channel' AND e.conversation_id = $1 ORDER BY d.id DESC LIMIT 1`,
      [conversation],
    );
    expect(delivery).to.deep.equal({ failures: 0, attempt: 3 });
    const { payload } = (await app.get(`runs?conversation_id=${conversation}`)).body;
    expect(payload.map(({ outcome }: { outcome: string }) => outcome)).to.deep.equal(['ok', 'ok', 'ok']);
    expect((await app.get(`inboxes/${inbox}`)).body.channel.health.state).to.equal('ok');
  });
});
