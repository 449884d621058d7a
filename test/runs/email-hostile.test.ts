import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { send } from '../support/hook-senders.ts';
import { MailServer } from '../support/mail-server.ts';

const login = 'postmark:a-long-password';
const address = 'support@example.com';

interface Shown {
  id: number;
  content: string;
  private: boolean;
  status: string;
  source_id: string | null;
  external_error: string | null;
  content_attributes: { mail?: { subject?: string; reply_to?: string } };
}

describe('the channel email with mail that is out of the ordinary', function () {
  this.timeout(120_000);
  let app: TestApp;
  let smtp: MailServer;
  let inbox: number;
  let hook: string;

  before(async () => {
    smtp = await MailServer.start();
    app = await TestApp.start({});
    const secrets = { WEBHOOK_LOGIN: login, SMTP_URL: smtp.url };
    const channel = { type: 'plugin', plugin_id: 'email', config: { address }, secrets };
    const made = await app.post('inboxes', { name: 'Mail', channel });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    inbox = made.body.id;
    hook = made.body.hook_url;
  });
  after(async () => {
    await app.stop();
    await smtp.close();
  });

  let ids = 0;
  const post = (body: object) =>
    send(hook, JSON.stringify(body), {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(login).toString('base64')}`,
    });
  const write = async (from: string, fields: object = {}, headers: Record<string, string> = {}) => {
    ids += 1;
    const answer = await post({
      FromFull: { Email: from, Name: 'Ada' },
      Subject: 'My order',
      MessageID: `22c74902-a0c1-4511-804f-34134285${String(ids).padStart(4, '0')}`,
      TextBody: 'Where is it?',
      Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
      ...fields,
    });
    expect(answer.status).to.equal(200);
  };
  const messages = async (conversation: number): Promise<Shown[]> =>
    (await app.get(`conversations/${conversation}/messages`)).body.payload;
  const conversationOf = (customer: string): Promise<number> =>
    app.eventually(async () => {
      const [found] = await app.query<{ id: number }>(
        'SELECT id FROM conversations WHERE inbox_id = $1 AND source_id = $2',
        [inbox, customer],
      );
      return found?.id ?? null;
    }) as Promise<number>;
  const counted = (conversation: number, count: number): Promise<Shown[]> =>
    app.eventually(async () => {
      const found = await messages(conversation);
      return found.length === count ? found : null;
    }) as Promise<Shown[]>;
  const settled = (conversation: number, id: number, status: string): Promise<Shown> =>
    app.eventually(async () => {
      const found = (await messages(conversation)).find((message) => message.id === id);
      return found?.status === status ? found : null;
    }) as Promise<Shown>;
  const say = async (conversation: number, content: string): Promise<Shown> => {
    const { status, body } = await app.post(`conversations/${conversation}/messages`, {
      content,
      message_type: 'outgoing',
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const sentTo = (customer: string) => smtp.received.filter(({ to }) => to[0]?.includes(`<${customer}>`));

  it('answers mails without a usable Message-ID, from addresses that no contact can have', async () => {
    const customers = ['root@localhost', 'a..b@docomo.ne.jp'];
    await write(customers[0]!);
    await write(customers[1]!, {}, { 'Message-ID': 'none at all' });
    for (const customer of customers) {
      const conversation = await conversationOf(customer);
      const [first] = await counted(conversation, 1);
      expect(first!.source_id).to.match(/^postmark:/);
      expect((await app.get(`conversations/${conversation}`)).body.meta.sender.email).to.equal(null);
      const said = await say(conversation, 'On its way');
      const { source_id: id } = await settled(conversation, said.id, 'sent');
      const arrived = smtp.received.at(-1);
      expect(arrived!.message)
        .to.match(/^Subject: Re: My order$/m)
        .and.include(`Message-ID: ${id}`);
      expect(arrived!.message).to.not.match(/^In-Reply-To:/m);
    }
    const names = await app.eventNames();
    expect(names).to.include.members(['contact_created', 'conversation_created', 'message_created', 'message_updated']);
  });

  it('takes in mail that is too long, or cannot be stored', async () => {
    const half = `${'s'.repeat(499)}\u{1f600}`;
    const quoted = `On Thu, 5 Apr 2012, Kim wrote:\n${'> "\u0001\n'.repeat(30_000)}`;
    await write('long@example.org', {
      FromFull: { Email: 'long@example.org', Name: 'n\0'.repeat(1_000) },
      Subject: half,
      TextBody: `a\0b${'\u0001"'.repeat(60_000)}\n${quoted}`,
      Attachments: [{ Name: `${'f'.repeat(400)}.txt`, Content: 'YQ==' }],
    });
    const [first] = await counted(await conversationOf('long@example.org'), 1);
    expect(first!.content).to.have.length(20_000);
    expect(first!.content).to.match(/\(The mail is longer: the rest is left out\)$/);
    expect(first!.content_attributes.mail!.subject).to.equal('s'.repeat(499));
    await write('short@example.org', { TextBody: 'a\0b', Subject: '' }, { References: '<a\0@x> <\ud800@x>' });
    const [short] = await counted(await conversationOf('short@example.org'), 1);
    expect(short!.content).to.equal('a\uFFFDb');
  });

  it('sends no answer to an address of another domain, and says so', async () => {
    await write('vic@example.org', {}, { 'Message-ID': '<vic@example.org>', 'Reply-To': 'eve@evil.example' });
    const conversation = await conversationOf('vic@example.org');
    const [first, note] = await counted(conversation, 2);
    expect(first!.content_attributes.mail!.reply_to).to.equal(undefined);
    expect([note!.private, note!.content]).to.deep.equal([
      true,
      "This mail asks for answers to eve@evil.example, which may not be the sender's address. They go to vic@example.org.",
    ]);
    const said = await say(conversation, 'For Vic');
    await settled(conversation, said.id, 'sent');
    expect(sentTo('vic@example.org')[0]!.message).to.include('In-Reply-To: <vic@example.org>');
    expect(sentTo('eve@evil.example')).to.deep.equal([]);
  });

  it('keeps the thread when Delivery comes before the message is known as sent', async () => {
    await write('hal@example.org');
    const conversation = await conversationOf('hal@example.org');
    const said = await say(conversation, 'Hello');
    const { source_id: id } = await settled(conversation, said.id, 'sent');
    const { message } = sentTo('hal@example.org')[0]!;
    const metadata = [...message.matchAll(/^X-PM-Metadata-(\S+): (\S+)$/gim)].map(([, name, value]) => [name, value]);
    // As it was before the answer of the channel was stored.
    await app.query(`DELETE FROM channel_messages WHERE external_id = $1`, [id]);
    await app.query(`UPDATE messages SET status = 'pending', source_id = NULL WHERE id = $1`, [said.id]);
    const notice = { RecordType: 'Delivery', MessageID: 'of-postmark', Metadata: Object.fromEntries(metadata) };
    await post({ ...notice, Recipient: 'Hal@example.org' });
    expect((await settled(conversation, said.id, 'delivered')).source_id).to.equal(id);
    await write('hal@example.org', { TextBody: 'Thank you' }, { 'Message-ID': '<b@hal>', 'In-Reply-To': id! });
    expect((await counted(conversation, 3)).at(-1)!.content).to.equal('Thank you');
  });

  it('knows a message by the metadata of Postmark, and changes it if the notice names its recipient', async () => {
    await write('ida@example.org');
    const conversation = await conversationOf('ida@example.org');
    const said = await say(conversation, 'Again?');
    await settled(conversation, said.id, 'sent');
    const [, hash] = /^X-PM-Metadata-switchboard-hash: (\S+)$/im.exec(sentTo('ida@example.org').at(-1)!.message)!;
    const Metadata = { 'switchboard-message': String(said.id), 'switchboard-hash': hash };
    const bounce = { RecordType: 'Bounce', Type: 'HardBounce', Description: 'No mailbox.', Metadata };
    const arrived = { RecordType: 'Delivery', Metadata };
    const runs = () => app.query(`SELECT FROM bot_runs WHERE outcome = 'ok'`);
    const { length } = await runs();
    await post({ ...bounce, ID: 41, MessageID: 'one' });
    await post({ ...bounce, ID: 42, MessageID: 'two', Email: 'eve@evil.example' });
    const sentToIda = { ...arrived, Recipient: 'ida@example.org' };
    await post({ ...arrived, MessageID: 'three' });
    await post({ ...arrived, MessageID: 'four', Recipient: 'eve@evil.example' });
    await post({ ...sentToIda, MessageID: 'five', Metadata: { 'switchboard-message': String(said.id) } });
    await app.eventually(async () => (await runs()).length === length + 5);
    await settled(conversation, said.id, 'sent');
    await post({ ...bounce, ID: 43, MessageID: 'six', Email: 'ida@example.org' });
    expect((await settled(conversation, said.id, 'failed')).external_error).to.equal('No mailbox.');
    await post({ ...sentToIda, MessageID: 'seven' });
    await settled(conversation, said.id, 'delivered');
  });

  it('fails the mail that a report returns', async () => {
    await write('gus@example.org');
    const conversation = await conversationOf('gus@example.org');
    const one = await say(conversation, 'One');
    await settled(conversation, one.id, 'sent');
    const two = await say(conversation, 'Two');
    await settled(conversation, two.id, 'sent');
    const [head] = sentTo('gus@example.org').at(-1)!.message.split('\n\n');
    const part = (ContentType: string, text: string) => ({
      ContentType,
      Content: Buffer.from(text).toString('base64'),
    });
    await write('mailer-daemon@example.org', {
      Attachments: [
        part(
          'message/delivery-status',
          'Original-Recipient: rfc822;gus@example.org\r\nAction: failed\r\nStatus: 5.1.1',
        ),
        part('text/rfc822-headers', head!.replaceAll('\n', '\r\n')),
      ],
    });
    await settled(conversation, two.id, 'failed');
    await settled(conversation, one.id, 'sent');
  });
});
