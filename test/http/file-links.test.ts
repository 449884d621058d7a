import { expect } from 'chai';
import { noise, png, sendFiles } from '../support/files.ts';
import { TestApp } from '../support/app.ts';
import { addConversation, addInbox } from '../support/records.ts';

const hourMs = 3_600_000;
const start = Date.UTC(2026, 10, 22, 15, 30);

describe('links to files', function () {
  this.timeout(60_000);
  let app: TestApp;
  let aheadMs = 0;
  let conversation: number;
  let messages: string;

  before(async () => {
    const clock = { now: () => new Date(start + aheadMs) };
    app = await TestApp.start({ engine: false, clock, config: { attachmentLinkHours: 48 } });
    conversation = await addConversation(app, await addInbox(app));
    messages = `conversations/${conversation}/messages`;
  });

  afterEach(() => (aheadMs = 0));
  after(() => app.stop());

  async function send(name: string, bytes: Buffer): Promise<string> {
    const files = [{ name, bytes }];
    const { body } = await sendFiles(app, messages, { content: 'x', message_type: 'outgoing' }, { files });
    return body.attachments[0].data_url;
  }

  async function statusOf(url: string, init: RequestInit = {}): Promise<number> {
    const response = await fetch(url, init);
    await response.body?.cancel();
    return response.status;
  }

  it('need no token, set no cookie, and say how the file may be shown', async () => {
    const response = await fetch(await send('photo.png', png()), { headers: { cookie: 'a=b' } });
    expect(response.status).to.equal(200);
    await response.body?.cancel();
    expect(Object.fromEntries(response.headers)).to.include({
      'content-type': 'image/png',
      'content-length': String(png().length),
      'content-disposition': `inline; filename="photo.png"; filename*=UTF-8''photo.png`,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, max-age=3600',
      'accept-ranges': 'bytes',
      'cross-origin-resource-policy': 'cross-origin',
    });
    expect(response.headers.has('set-cookie')).to.equal(false);
    expect(response.headers.has('access-control-allow-origin')).to.equal(false);
  });

  it('expire, a day at most after the time that is set; until then a record has the same', async () => {
    const url = await send('photo.png', png());
    const tagOf = async () => (await app.get(`conversations/${conversation}`)).headers.get('etag');
    const tag = await tagOf();
    aheadMs = 8 * hourMs;
    expect(await tagOf()).to.equal(tag);
    aheadMs = 48 * hourMs;
    expect(await statusOf(url)).to.equal(200);
    aheadMs = 72 * hourMs;
    const gone = await fetch(url);
    expect(gone.status).to.equal(404);
    expect(await gone.json()).to.deep.include({ error: 'There is no such file, or the link to it has expired' });
    const { body } = await app.get(`conversations/${conversation}`);
    const fresh = body.last_message.attachments[0].data_url;
    expect(fresh).to.not.equal(url);
    expect(await statusOf(fresh)).to.equal(200);
  });

  it('are good as they were made, and no other way', async () => {
    const url = await send('photo.png', png());
    const [, signed = ''] = /\/files\/([^/]+)\//.exec(url) ?? [];
    const [account = '', file = '', expires = '', mac = ''] = signed.split('.');
    const at = (path: string) => `${app.url}/files/${path}`;
    const forged = [
      [account, (Number.parseInt(file, 36) + 1).toString(36), expires, mac],
      [(Number.parseInt(account, 36) + 1).toString(36), file, expires, mac],
      [account, file, (Number.parseInt(expires, 36) + 1).toString(36), mac],
      [account, file, expires, `${mac.slice(0, -1)}${mac.endsWith('A') ? 'B' : 'A'}`],
      [account, file, expires, ''],
      [account, file, expires],
      [account, `0${file}`, expires, mac],
      [account, file, expires, mac, ''],
      ['', '', '', ''],
    ];
    for (const words of forged) expect(await statusOf(at(`${words.join('.')}/photo.png`)), words.join()).to.equal(404);
    for (const path of ['', 'x', '%00', `${signed}/a/b`, `../files/${'a'.repeat(5000)}`])
      expect(await statusOf(at(path)), path).to.equal(404);
    expect(await statusOf(at(signed))).to.equal(200);
    expect(await statusOf(at(`${signed}/another%20name`))).to.equal(200);
    expect(await statusOf(url, { method: 'POST' })).to.equal(405);
    expect(await statusOf(url, { method: 'DELETE' })).to.equal(405);
  });

  it('answer parts, what is known already, and headers alone', async () => {
    const bytes = noise(1_000_000);
    const url = await send('a.bin', bytes);
    const ask = async (headers: Record<string, string>, method = 'GET') => {
      const response = await fetch(url, { method, headers });
      return { response, bytes: Buffer.from(await response.arrayBuffer()) };
    };
    for (const [range, from, to] of [
      ['bytes=0-', 0, 999_999],
      ['bytes=999999-', 999_999, 999_999],
      ['bytes=-10', 999_990, 999_999],
      ['bytes=-2000000', 0, 999_999],
      ['bytes=5-99999999', 5, 999_999],
    ] as const) {
      const { response, bytes: part } = await ask({ range });
      expect(response.status, range).to.equal(206);
      expect(response.headers.get('content-range')).to.equal(`bytes ${from}-${to}/1000000`);
      expect(part.equals(bytes.subarray(from, to + 1)), range).to.equal(true);
    }
    for (const range of ['bytes=1000000-', 'bytes=7-3', 'bytes=-0']) {
      const { response } = await ask({ range });
      expect(response.status, range).to.equal(416);
      expect(response.headers.get('content-range')).to.equal('bytes */1000000');
    }
    for (const range of ['bytes=0-1,3-4', 'lines=1-2', 'bytes=a-b', 'bytes=-'])
      expect((await ask({ range })).response.status, range).to.equal(200);
    const { response: whole } = await ask({});
    const known = await ask({ 'if-none-match': whole.headers.get('etag') ?? '' });
    expect(known.response.status).to.equal(304);
    const head = await ask({}, 'HEAD');
    expect(head.response.status).to.equal(200);
    expect(head.response.headers.get('content-length')).to.equal('1000000');
    expect(head.bytes).to.have.length(0);
  });
});
