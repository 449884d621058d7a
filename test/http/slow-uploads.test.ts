import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { adminToken, TestApp, type Answer } from '../support/app.ts';
import { noise, sendFiles, storedFiles, type TestFile } from '../support/files.ts';
import { addConversation, addInbox } from '../support/records.ts';
import { Widget } from '../support/widget.ts';

const boundary = 'a-boundary';
// Bytes ten times a second: far above what is slow, also where a busy machine sends some of them only.
const quick = 25_000;
const small: TestFile = { name: 'a.txt', bytes: Buffer.from('some text') };
const field = (name: string, text: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;

/** A form with a file of which the head is sent, and then as much as it is told to send. */
class SlowUpload {
  readonly #socket: Socket;
  readonly #end: Promise<string>;
  #dripping: NodeJS.Timeout | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#end = new Promise((resolve) => {
      let received = '';
      socket.setEncoding('utf8').on('data', (text: string) => (received += text));
      socket.on('close', () => resolve(received));
      socket.on('error', () => undefined);
    });
  }

  static async begin(url: string, path: string, headers: Record<string, string>, length = 4_000_000) {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const all = {
      host: hostname,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': length,
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const file = `--${boundary}\r\nContent-Disposition: form-data; name="attachments[]"; filename="a.bin"\r\n\r\n`;
    const texts = field('content', 'x') + field('message_type', 'outgoing');
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${texts}${file}`);
    return new SlowUpload(socket);
  }

  /** Sends so many bytes ten times a second. */
  drip(bytes: number): this {
    this.#dripping = setInterval(() => this.#socket.write(Buffer.alloc(bytes, 'x')), 100);
    return this;
  }

  /** The status and the body with which it was ended. */
  async answer(): Promise<{ status: number; code: string }> {
    const received = await this.#end;
    clearInterval(this.#dripping);
    const { code } = JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4)) as { code: string };
    return { status: Number(received.split(' ')[1]), code };
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  stop(): void {
    clearInterval(this.#dripping);
    this.#socket.destroy();
  }
}

describe('slow uploads', function () {
  this.timeout(60_000);
  let app: TestApp;
  let conversation: string;
  let slow: SlowUpload[] = [];

  const bounds = { uploadsInFlight: 3, uploadsPerAccount: 3, uploadsOfVisitors: 2, uploadsPerAddress: 1 };

  before(async () => {
    app = await TestApp.start({
      engine: false,
      config: { ...bounds, uploadStallMs: 3000, uploadBytesPerSecond: 20_000, trustedProxies: 1 },
    });
    conversation = `conversations/${await addConversation(app, await addInbox(app))}/messages`;
  });

  beforeEach(async () => {
    await app.query('DELETE FROM attachments');
    await app.events();
  });

  afterEach(async () => {
    for (const upload of slow) upload.stop();
    slow = [];
    await app.eventually(async () => app.app.underWay().requests === 0);
    expect(await storedFiles(app)).to.include({ unsent: 0 });
  });

  after(() => app.stop());

  async function begin(length?: number): Promise<SlowUpload> {
    const path = `/api/v1/accounts/1/${conversation}`;
    const upload = await SlowUpload.begin(app.url, path, { api_access_token: adminToken }, length);
    slow.push(upload);
    return upload;
  }

  const send = (): Promise<Answer> =>
    sendFiles(app, conversation, { content: 'x', message_type: 'outgoing' }, { files: [small] });

  it('of which nothing arrives any more are ended, and nothing of them is kept', async () => {
    const upload = await begin();
    const begun = performance.now();
    expect(await upload.answer()).to.deep.equal({ status: 408, code: 'upload_stalled' });
    expect(performance.now() - begun).to.be.above(2500);
    expect(await storedFiles(app)).to.deep.equal({ files: 0, unsent: 0, chunks: 0 });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('go on as long as they arrive and nobody waits, and give their place to who does', async () => {
    const uploads = await Promise.all([begin(), begin(), begin()]);
    for (const upload of uploads) upload.drip(100);
    await sleep(4000);
    expect(uploads.map(({ isOpen }) => isOpen)).to.deep.equal([true, true, true]);
    expect((await send()).status).to.equal(201);
    expect(await Promise.race(uploads.map((upload) => upload.answer()))).to.deep.equal({ status: 503, code: 'busy' });
    expect(uploads.filter(({ isOpen }) => isOpen)).to.have.lengthOf(2);
  });

  it('that are not slow keep their place, and who waits is told to come again', async () => {
    const uploads = await Promise.all([begin(), begin(), begin()]);
    for (const upload of uploads) upload.drip(quick);
    await sleep(200);
    const { status, body } = await send();
    expect([status, body.code]).to.deep.equal([503, 'busy']);
    expect(uploads.map(({ isOpen }) => isOpen)).to.deep.equal([true, true, true]);
  });

  describe('of visitors', () => {
    let widget: Widget;
    let path: string;

    before(async () => {
      widget = await Widget.create(app);
      path = `/public/api/v1/inboxes/${widget.identifier}/messages`;
    });

    async function enter(address: string) {
      const { headers } = await widget.enter({ name: 'Vera' });
      const all = { ...headers, 'x-forwarded-for': address };
      const hang = async () => {
        const upload = await SlowUpload.begin(app.url, path, all);
        slow.push(upload.drip(quick));
        await sleep(200);
        return upload;
      };
      const say = () => sendFiles(app, path, {}, { files: [small], headers: { api_access_token: '', ...all } });
      return { hang, say };
    }

    it('have one place for each address, so that an address takes nothing from the others', async () => {
      const [one, other] = [await enter('192.0.2.1'), await enter('192.0.2.2')];
      const upload = await one.hang();
      expect((await other.say()).status).to.equal(201);
      const again = await one.say();
      expect([again.status, again.body.code]).to.deep.equal([503, 'busy']);
      expect(upload.isOpen).to.equal(true);
    });

    it('leave a place to agents, however many addresses they have', async () => {
      for (const address of ['192.0.2.3', '192.0.2.4', '192.0.2.5']) await (await enter(address)).hang();
      expect((await send()).status).to.equal(201);
      const more = await (await enter('192.0.2.6')).say();
      expect([more.status, more.body.code]).to.deep.equal([503, 'busy']);
    });
  });
});

describe('uploads of visitors', () => {
  it('count by what they say that they will send, before it arrives', async () => {
    const app = await TestApp.start({
      engine: false,
      config: { widgetUploadBytesPerMinute: 300_000, attachmentFormBytes: 500_000, attachmentBytes: 400_000 },
    });
    try {
      const widget = await Widget.create(app);
      const path = `/public/api/v1/inboxes/${widget.identifier}/messages`;
      const { headers } = await widget.enter({ name: 'Vera' });
      const upload = await SlowUpload.begin(app.url, path, headers, 250_000);
      await app.eventually(async () => app.app.underWay().requests === 1);
      const files = [{ name: 'a.bin', bytes: noise(100_000) }];
      const refused = await sendFiles(app, path, {}, { files, headers: { api_access_token: '', ...headers } });
      expect([refused.status, refused.body.code]).to.deep.equal([429, 'rate_limited']);
      upload.stop();
      const large = await SlowUpload.begin(app.url, path, headers, 600_000);
      expect((await large.answer()).status).to.equal(413);
    } finally {
      await app.stop();
    }
  });
});
