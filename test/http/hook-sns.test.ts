import { createSign } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { selfSigned } from '../outbound/certificate.ts';
import { BotHouse } from '../runs/house.ts';
import { makeHook, send } from '../support/hook-senders.ts';

const topic = 'arn:aws:sns:eu-central-1:123456789012:mail';
const amazon = 'https://sns.eu-central-1.amazonaws.com';
const certificateUrl = `${amazon}/SimpleNotificationService-0123456789abcdef.pem`;
const names = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

describe('hooks of Amazon SNS', function () {
  this.timeout(120_000);
  let house: BotHouse;
  let server: Server;
  let key: string;
  let hook: { id: number; url: string };
  let asked: string[] = [];
  let isDown = false;

  before(async () => {
    const { key: own, cert: certificate } = selfSigned('sns.amazonaws.com', 2048, 'rsa');
    key = own;
    server = createServer({ key, cert: certificate }, (request, response) => {
      asked.push(request.url ?? '');
      const text = request.url?.endsWith('.pem') ? certificate : '<ConfirmSubscriptionResponse/>';
      response.writeHead(isDown ? 500 : 200).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    house = await BotHouse.open(
      {
        mail: {
          on: { hook_received: 'ctx.log.info(ctx.hook.json.Message);' },
          events: [],
          hooks: { topic: { verify: 'sns', secret: 'TOPIC' } },
          permissions: { hooks: true },
        },
      },
      {
        bodies: { mail: { secrets: { TOPIC: topic } } },
        getFromAmazon: (url) => askServer(port, certificate, url),
      },
    );
  });
  beforeEach(async () => {
    asked = [];
    isDown = false;
    hook = await makeHook(house.app, house.botOf('mail'), 'topic');
  });
  after(async () => {
    await house.close();
    await new Promise((resolve) => server.close(resolve));
  });

  let id = 0;
  function message(change: Record<string, string> = {}, type: keyof typeof names = 'Notification', by = key): string {
    id += 1;
    const subscription = { Token: 't', SubscribeURL: `${amazon}/?Action=ConfirmSubscription&Token=t` };
    const envelope: Record<string, string> = {
      Type: type,
      MessageId: `message-${id}`,
      TopicArn: topic,
      Message: 'Grüße\n{"mail":1}',
      Timestamp: new Date().toISOString(),
      SignatureVersion: '2',
      SigningCertURL: certificateUrl,
      ...(type === 'Notification' ? {} : subscription),
      ...change,
    };
    const text = names[type].flatMap((name) => (envelope[name] === undefined ? [] : `${name}\n${envelope[name]}\n`));
    const algorithm = envelope['SignatureVersion'] === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
    const signature = createSign(algorithm).update(text.join('')).sign(by, 'base64');
    return JSON.stringify({ ...envelope, Signature: signature });
  }
  // As Amazon sends it.
  const post = (body: string) => send(hook.url, body, { 'content-type': 'text/plain; charset=UTF-8' });
  const requests = async () => (await house.app.get(`hooks/${hook.id}/requests`)).body.payload;

  it('accepts what Amazon signed, once, and reads a certificate once', async () => {
    const body = message({ Subject: 'Mail' });
    expect((await post(body)).status).to.equal(202);
    expect((await post(body)).body.duplicate).to.equal(true);
    expect((await post(message({ SignatureVersion: '1' }))).status).to.equal(202);
    expect(asked.length).to.be.at.most(1);
    await house.app.eventually(async () =>
      (await requests()).every(({ state }: { state: string | null }) => state === null || state === 'done'),
    );
    const [{ text }] = (await house.app.query<{ text: string }>(
      `SELECT logs->0->>'message' AS text FROM bot_runs LIMIT 1`,
    )) as [{ text: string }];
    expect(text).to.equal('Grüße\n{"mail":1}');
  });

  it('confirms a subscription to the topic, and stores nothing of it', async () => {
    const { status, text } = await post(message({}, 'SubscriptionConfirmation'));
    expect([status, text]).to.deep.equal([200, '']);
    expect(asked).to.include('/?Action=ConfirmSubscription&Token=t');
    expect(await requests()).to.have.length(0);
  });

  it('calls nobody for another topic, another host, or a message that is too old, and refuses it', async () => {
    const hosts = [
      'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-a.pem',
      'https://sns.eu-central-1.amazonaws.com.example.com/SimpleNotificationService-a.pem',
      'https://example.com/sns.eu-central-1.amazonaws.com/SimpleNotificationService-a.pem',
      'https://sns.eu-central-1.amazonaws.com@example.com/SimpleNotificationService-a.pem',
      'https://sns.eu-central-1.amazonaws.com:8443/SimpleNotificationService-a.pem',
      'https://bucket.s3.amazonaws.com/SimpleNotificationService-a.pem',
      'https://sns.eu-central-1.amazonaws.com/other.pem',
      'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-a.pem?x=1',
      'https://127.0.0.1/SimpleNotificationService-a.pem',
    ];
    for (const url of hosts) expect((await post(message({ SigningCertURL: url }))).status, url).to.equal(401);
    const subscribe = { SubscribeURL: 'https://example.com/?Action=ConfirmSubscription' };
    expect((await post(message(subscribe, 'SubscriptionConfirmation'))).status).to.equal(401);
    expect((await post(message({ TopicArn: `${topic}-of-another` }))).status).to.equal(401);
    const old = new Date(Date.now() - 3 * 3_600_000).toISOString();
    expect((await post(message({ Timestamp: old }))).status).to.equal(401);
    expect((await post('{"Type":"Notification"}')).status).to.equal(401);
    expect((await post('no JSON')).status).to.equal(401);
    expect(asked).to.deep.equal([]);
    const reasons = (await requests()).map(({ reason }: { reason: string }) => reason);
    expect(reasons).to.include.members(['bad_signature', 'stale_timestamp', 'missing_signature']);
  });

  it('refuses what somebody else signed, or changed', async () => {
    const { key: other } = selfSigned('sns.amazonaws.com', 2048, 'rsa');
    expect((await post(message({}, 'Notification', other))).status).to.equal(401);
    expect((await post(message().replace('Grüße', 'Geld'))).status).to.equal(401);
  });

  it('has Amazon come again while the certificate, or the confirmation, cannot be had', async () => {
    isDown = true;
    const fresh = message({ SigningCertURL: `${amazon}/SimpleNotificationService-fresh.pem` });
    expect((await post(fresh)).status).to.equal(503);
    const confirmation = message({}, 'SubscriptionConfirmation');
    expect((await post(confirmation)).status).to.equal(503);
    isDown = false;
    expect((await post(fresh)).status).to.equal(202);
    expect((await post(confirmation)).status).to.equal(200);
  });

  it('calls Amazon a bounded number of times for a hook', async () => {
    const statuses = [];
    for (let n = 0; n < 12; n += 1)
      statuses.push((await post(message({ SigningCertURL: `${amazon}/SimpleNotificationService-n${n}.pem` }))).status);
    expect(statuses.slice(0, 10)).to.deep.equal(Array.from({ length: 10 }, () => 202));
    expect(statuses.slice(10)).to.deep.equal([429, 429]);
    expect(asked).to.have.length(10);
  });
});

// The names of Amazon lead to the server of the test.
async function askServer(port: number, certificate: string, url: string) {
  const { pathname, search } = new URL(url);
  const response = await fetchTrusting(certificate, `https://127.0.0.1:${port}${pathname}${search}`);
  return { ...response, bodyCut: false };
}

async function fetchTrusting(ca: string, url: string): Promise<{ ok: boolean; body: string }> {
  const { get } = await import('node:https');
  return new Promise((resolve, reject) => {
    get(url, { ca, checkServerIdentity: () => undefined, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ ok: response.statusCode === 200, body }));
    }).on('error', reject);
  });
}
