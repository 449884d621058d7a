import { expect } from 'chai';
import { AmazonMail } from '../support/amazon-mail.ts';
import { TestApp } from '../support/app.ts';
import { send } from '../support/hook-senders.ts';
import { MailServer } from '../support/mail-server.ts';

const login = 'postmark:a-long-password';
const address = 'support@example.com';

interface Shown {
  id: number;
  content: string;
  message_type: string;
  private: boolean;
  status: string;
  source_id: string | null;
  external_error: string | null;
  content_attributes: { mail?: { subject?: string; quoted?: string; reply_to?: string } };
  attachments: { file_name: string; data_url: string }[];
}

describe('the channel email with Amazon SES', function () {
  this.timeout(120_000);
  let app: TestApp;
  let smtp: MailServer;
  let inbox: number;
  const amazon = new AmazonMail();

  const connect = () =>
    app.call('POST', '/api/v1/accounts/1/inboxes', {
      name: 'Mail',
      channel: {
        type: 'plugin',
        plugin_id: 'email',
        config: { address, provider: 'ses' },
        secrets: { WEBHOOK_LOGIN: login, TOPIC_ARN: amazon.topic, SMTP_URL: smtp.url },
      },
    });

  before(async () => {
    smtp = await MailServer.start();
    app = await TestApp.start({ getFromAmazon: amazon.get });
    const made = await connect();
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    inbox = made.body.id;
  });
  after(async () => {
    await app.stop();
    await smtp.close();
  });

  const conversationsOf = (customer: string) =>
    app.query<{ id: number; additional_attributes: Record<string, unknown> }>(
      'SELECT id, additional_attributes FROM conversations WHERE inbox_id = $1 AND source_id = $2 ORDER BY id',
      [inbox, customer],
    );
  const conversationOf = async (customer: string, count = 1): Promise<number> =>
    app.eventually(async () => {
      const found = await conversationsOf(customer);
      return found.length === count ? found.at(-1)!.id : null;
    }) as Promise<number>;
  const messages = async (conversation: number): Promise<Shown[]> =>
    (await app.get(`conversations/${conversation}/messages`)).body.payload;
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
  const say = async (conversation: number, fields: object): Promise<Shown> => {
    const { status, body } = await app.post(`conversations/${conversation}/messages`, {
      message_type: 'outgoing',
      ...fields,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const hasHandled = (): Promise<unknown> =>
    app.eventually(async () => {
      const waiting = await app.query(
        `SELECT FROM hook_requests r WHERE r.outcome = 'accepted' AND (
           NOT EXISTS (SELECT FROM bot_runs b WHERE b.account_id = r.account_id AND b.event_id = r.event_id)
           OR EXISTS (SELECT FROM deliveries d WHERE d.account_id = r.account_id AND d.event_id = r.event_id AND d.state = 'pending'))`,
      );
      return waiting.length === 0;
    });

  it('needs no secret of a provider by which no mail arrives', async () => {
    const channel = {
      type: 'plugin',
      plugin_id: 'email',
      config: { address: 'by@postmark.example' },
      secrets: { WEBHOOK_LOGIN: login },
    };
    const { id } = (await app.post('inboxes', { name: 'Postmark', channel })).body;
    const channelOf = async () => (await app.get(`inboxes/${id}`)).body.channel;
    expect(await channelOf()).to.deep.include({ missing_secrets: [] });
    expect((await channelOf()).health.state).to.equal('ok');
    const fields = { name: 'Amazon SES', inbox_id: id, handler: 'ses' };
    const { body: second } = await app.post('hooks', fields);
    expect((await channelOf()).missing_secrets).to.deep.equal(['TOPIC_ARN']);
    expect((await channelOf()).health.last_error).to.equal('Missing secrets: TOPIC_ARN');
    await app.call('DELETE', `/api/v1/accounts/1/hooks/${second.id}`);
    expect((await channelOf()).missing_secrets).to.deep.equal([]);
  });

  it('reads what Amazon SES brings by SNS', async () => {
    const made = await app.post('hooks', { name: 'Amazon', inbox_id: inbox, handler: 'ses' });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const post = (body: string) => send(made.body.url, body, { 'content-type': 'text/plain; charset=UTF-8' });
    const raw = [
      'From: =?utf-8?q?J=C3=BCrgen?= <juergen@example.org>',
      `To: ${address}`,
      'Subject: =?iso-8859-1?q?Gr=FC=DFe?=',
      'Message-ID: <ses-1@example.org>',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain; charset=windows-1252',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'F=FCr 5 =80',
      '--b',
      'Content-Type: text/plain; name="note.txt"',
      'Content-Disposition: attachment; filename="note.txt"',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('the note').toString('base64'),
      '--b--',
    ].join('\r\n');
    expect((await post(amazon.received(raw))).status).to.equal(202);
    const conversation = await conversationOf('juergen@example.org');
    const [first] = await counted(conversation, 1);
    expect(first).to.deep.include({ content: 'Grüße\n\nFür 5 €', source_id: '<ses-1@example.org>' });
    const got = await fetch(new URL(first!.attachments[0]!.data_url, app.url));
    expect([first!.attachments[0]!.file_name, await got.text()]).to.deep.equal(['note.txt', 'the note']);
    const said = await say(conversation, { content: 'Danke' });
    const { source_id: id } = await settled(conversation, said.id, 'sent');
    const about = { messageId: 'ses', headers: [{ name: 'References', value: `<ses-1@example.org> ${id}` }] };
    const bounce = (emailAddress?: string) => {
      const bouncedRecipients = [{ emailAddress, status: '5.1.1', diagnosticCode: 'smtp; 550 gone' }];
      const fields = { bounceType: 'Permanent', bouncedRecipients };
      return post(amazon.notification({ notificationType: 'Bounce', bounce: fields, mail: about }));
    };
    const arrived = (recipients?: string[]) =>
      post(amazon.notification({ notificationType: 'Delivery', delivery: { recipients }, mail: about }));
    // The id of a mail alone changes nothing: others know it.
    await bounce();
    await bounce('eve@evil.example');
    await arrived();
    await arrived(['eve@evil.example']);
    await hasHandled();
    await settled(conversation, said.id, 'sent');
    await bounce('Juergen@example.org');
    expect((await settled(conversation, said.id, 'failed')).external_error).to.equal('smtp; 550 gone (5.1.1)');
    await arrived(['eve@evil.example', 'juergen@example.org']);
    await settled(conversation, said.id, 'delivered');
    await post(amazon.received('no mail at all'));
    await post(amazon.notification({ notificationType: 'Received', receipt: {}, mail: {} }));
    await hasHandled();
  });
});
