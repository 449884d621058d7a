import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { adminToken, TestApp, type Answer } from '../support/app.ts';
import { computingMs } from '../support/cpu.ts';
import { bases } from '../support/field-clients.ts';
import { noise, sendFiles, sendForm, storedFiles, type TestFile } from '../support/files.ts';
import { rawRequest } from '../support/raw-http.ts';
import { addConversation, addInbox } from '../support/records.ts';
import { bytesOf, misnamed, polyglots, saved } from '../support/upload-corpus.ts';

const boundary = 'a-boundary';
const type = `multipart/form-data; boundary=${boundary}`;
const fields = { content: 'x', message_type: 'outgoing' };

// Every base is a way in: what is refused at one must not get in by the other.
for (const [base, prefix] of Object.entries(bases)) {
  const sentStatus = base === 'default' ? 201 : 200;

  describe(`uploads at the ${base}`, function () {
    this.timeout(60_000);
    let app: TestApp;
    let path: string;

    before(async () => {
      app = await TestApp.start({ engine: false });
      const conversation = await addConversation(app, await addInbox(app));
      path = `${prefix}/api/v1/accounts/1/conversations/${conversation}/messages`;
    });

    beforeEach(async () => {
      await app.query('DELETE FROM attachments');
      await app.events();
    });

    after(() => app.stop());

    const send = (...files: TestFile[]) => sendFiles(app, path, fields, { files });

    async function expectRefused(status: number, text: string, sent: Promise<Answer>): Promise<void> {
      const answer = await sent;
      expect(answer.status, answer.body.error).to.equal(status);
      expect(answer.body.error).to.include(text);
      expect(await storedFiles(app)).to.deep.equal({ files: 0, unsent: 0, chunks: 0 });
      expect(await app.eventNames()).to.deep.equal([]);
    }

    describe('that browsers might run are saved, and never shown:', () => {
      for (const [title, file] of Object.entries(saved)) {
        it(title, async () => {
          const { status, body } = await send(file);
          expect(status, body.error).to.equal(sentStatus);
          const [{ data_url: url, file_type: kind, content_type: said }] = body.attachments;
          expect(kind).to.equal('file');
          expect(said).to.match(/^(?:application\/(?:octet-stream|zip|gzip|vnd\.[\w.-]+)|text\/plain)$/);
          const response = await fetch(url);
          expect(response.headers.get('content-disposition')).to.match(/^attachment; /);
          expect(response.headers.get('content-type')).to.match(new RegExp(`^${said.replaceAll('.', '\\.')}(?:;|$)`));
          expect(response.headers.get('content-type')).to.not.match(/html|xml;|svg|script/);
          expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
          expect(response.headers.get('content-security-policy')).to.match(/^default-src 'none'; .*\bsandbox$/);
          expect(Buffer.from(await response.arrayBuffer()).equals(file.bytes)).to.equal(true);
        });
      }
    });

    describe('of two kinds are shown as the one that they are:', () => {
      for (const [title, [file, expected]] of Object.entries(polyglots)) {
        it(title, async () => {
          const { status, body } = await send(file);
          expect(status, body.error).to.equal(sentStatus);
          expect(body.attachments[0].content_type).to.equal(expected);
          const response = await fetch(body.attachments[0].data_url);
          expect(response.headers.get('content-type')).to.equal(expected);
          expect(response.headers.get('content-disposition')).to.match(/^inline; /);
          expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
          expect(response.headers.get('content-security-policy')).to.match(/^default-src 'none'/);
          await response.body?.cancel();
        });
      }
    });

    describe('are refused, and nothing is kept:', () => {
      for (const [title, file] of Object.entries(misnamed))
        it(title, () => expectRefused(422, 'is not what its name says', send(file)));

      it('10,001 KB', async () => {
        const file = { name: 'large.bin', bytes: noise(10_001_000) };
        await expectRefused(413, 'large.bin is larger than 10000000 bytes', send(file));
        await expectRefused(413, 'large.bin', send({ name: 'small.txt', bytes: Buffer.from('x') }, file));
      });

      it('more than a form may have in all', async () => {
        const file = { name: 'a.bin', bytes: noise(9_000_000) };
        await expectRefused(413, 'larger than', send(file, file, file));
      });

      it('nothing', () => expectRefused(422, 'a.txt is empty', send({ name: 'a.txt', bytes: Buffer.alloc(0) })));

      const part = (name: string, text: string, headers = '') =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n${headers}\r\n${text}\r\n`;
      const file = part('attachments[]"; filename="a.txt', 'some text');
      const sent = part('content', 'x') + part('message_type', 'outgoing');
      const forms: Readonly<Record<string, [status: number, text: string, form: string]>> = {
        'a form without its end': [400, 'ends without its closing boundary', `${sent}${file}`],
        'a form that is cut within a file': [400, 'ends without its closing boundary', `${sent}${file}`.slice(0, -6)],
        'two contents': [
          422,
          '`content` is given more than once',
          `${sent}${part('content', 'y')}${file}--${boundary}--`,
        ],
        'a file as content': [
          422,
          '`content` is a file',
          `${part('content"; filename="a.txt', 'x')}${part('message_type', 'outgoing')}--${boundary}--`,
        ],
        'a file of another name': [
          422,
          '`document` is a file',
          `${sent}${part('document"; filename="a.txt', 'x')}--${boundary}--`,
        ],
        'text in place of a file': [422, 'must be files', `${sent}${part('attachments[]', 'x')}--${boundary}--`],
        'a file in base64': [
          400,
          'encoded as base64',
          `${sent}${part('attachments[]"; filename="a.txt', 'eA==', 'Content-Transfer-Encoding: base64\r\n')}--${boundary}--`,
        ],
        'more parts than there may be': [422, 'more than 32 fields', `${sent}${file.repeat(31)}--${boundary}--`],
      };
      for (const [title, [status, text, form]] of Object.entries(forms)) {
        it(title, () => {
          const headers = { api_access_token: adminToken, 'content-type': type };
          return expectRefused(status, text, sendForm(app, path, { body: Buffer.from(form), headers }));
        });
      }

      it('a megabyte of text beside a file', async () => {
        const long = { ...fields, content_attributes: JSON.stringify({ a: 'x'.repeat(1_100_000) }) };
        const small = { name: 'a.txt', bytes: Buffer.from('x') };
        await expectRefused(413, 'larger than 1024 KB', sendFiles(app, path, long, { files: [small] }));
      });

      it('an upload whose connection ends', async () => {
        const head = rawRequest(`POST ${path} HTTP/1.1`, [`content-type: ${type}`, 'content-length: 100000']);
        const { hostname, port } = new URL(app.url);
        const socket = connect(Number(port), hostname);
        await once(socket, 'connect');
        socket.write(`${head}${sent}${file}`);
        await sleep(100);
        socket.destroy();
        await app.eventually(async () => app.app.underWay().requests === 0);
        expect(await storedFiles(app)).to.deep.equal({ files: 0, unsent: 0, chunks: 0 });
        expect(await app.eventNames()).to.deep.equal([]);
      });
    });

    describe('are called by the last step of their name:', () => {
      const names: readonly (readonly [given: string, kept: string])[] = [
        ['../../etc/passwd', 'passwd'],
        ['C:\\Windows\\system32\\evil.txt', 'evil.txt'],
        ['/absolute/a.txt', 'a.txt'],
        ['..', 'file'],
        ['.htaccess', 'htaccess'],
        ['photo\u202egnp.exe', 'photognp.exe'],
        ['a\u0007b.txt', 'ab.txt'],
        ['x<y>|z?.txt', 'xyz.txt'],
        ['Grüße 東京.txt', 'Grüße 東京.txt'],
        [`${'long'.repeat(100)}.pdf.txt`, `${'long'.repeat(100).slice(0, 251)}.txt`],
      ];
      for (const [given, kept] of names) {
        it(JSON.stringify(given.slice(0, 40)), async () => {
          const { status, body } = await send({ name: given, bytes: Buffer.from('text') });
          expect(status, body.error).to.equal(sentStatus);
          const [{ file_name: name, data_url: url }] = body.attachments;
          expect(name).to.equal(kept);
          const response = await fetch(url);
          expect(response.status).to.equal(200);
          const disposition = response.headers.get('content-disposition') ?? '';
          expect(disposition).to.match(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[\w.~%!-]+$/);
          expect(decodeURIComponent(disposition.split("UTF-8''")[1] ?? '')).to.equal(kept);
          await response.body?.cancel();
        });
      }
    });

    it('of any bytes hold nobody up', async () => {
      const hostile = [
        Buffer.alloc(9_000_000, '\r\n--a-boundar'),
        Buffer.alloc(9_000_000, '\r'),
        Buffer.concat([bytesOf('\xff\xd8'), Buffer.alloc(9_000_000, 0xff)]),
        Buffer.alloc(9_000_000, 'a'),
      ];
      for (const bytes of hostile) {
        const took = await computingMs(async () => {
          const { status, body } = await send({ name: 'a.bin', bytes });
          expect(status, body.error).to.equal(sentStatus);
        }, 1500);
        expect(took).to.be.at.most(1500);
      }
    });
  });
}
