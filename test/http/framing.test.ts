import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { answerClientErrors } from '../../src/http/server/refusals/client-errors.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { expectRawError, rawRequest as request, sendRaw } from '../support/raw-http.ts';

const contacts = '/api/v1/accounts/1/contacts';

describe('framing', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });

  after(() => app.stop());

  beforeEach(() => app.events());

  const framing: [string, string][] = [
    [
      'a length and chunks',
      `POST ${contacts} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `POST ${contacts} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n12345`],
    ['a length that is none', `POST ${contacts} HTTP/1.1\r\nhost: x\r\ncontent-length: five\r\n\r\n`],
    ['a negative length', `POST ${contacts} HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n`],
    [
      'a space before the colon',
      `POST ${contacts} HTTP/1.1\r\nhost: x\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['an unknown coding', `POST ${contacts} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: xchunked\r\n\r\n`],
    ['line feeds alone', `GET ${contacts} HTTP/1.1\nhost: x\n\n`],
    ['a folded header', `GET ${contacts} HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n`],
    ['a NUL in a header', `GET ${contacts} HTTP/1.1\r\nhost: x\r\na: b\0c\r\n\r\n`],
    ['another protocol version', `GET ${contacts} HTTP/9.9\r\nhost: x\r\n\r\n`],
    ['no host', `GET ${contacts} HTTP/1.1\r\n\r\n`],
    ['two hosts', `GET ${contacts} HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no request', 'hello\r\n\r\n'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    [
      'a broken chunk',
      `POST ${contacts} HTTP/1.1\r\nhost: x\r\napi_access_token: ${adminToken}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
    ],
  ];
  for (const [title, bytes] of framing) {
    it(`${title}: 400`, async () => {
      expectRawError(await sendRaw(app.url, Buffer.from(bytes, 'latin1')), 400);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  }

  it('floods of headers: 431', async () => {
    const one = await sendRaw(app.url, `GET ${contacts} HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`);
    expectRawError(one, 431);
    const many = Array.from({ length: 3000 }, (_, index) => `x${index}: y`).join('\r\n');
    expectRawError(await sendRaw(app.url, `GET ${contacts} HTTP/1.1\r\nhost: x\r\n${many}\r\n\r\n`), 431);
  });

  it('a header counts, however many stand before it', async () => {
    const many = Array.from({ length: 2500 }, () => 'a:').join('\r\n');
    const answer = await sendRaw(
      app.url,
      `GET ${contacts} HTTP/1.1\r\nhost: x\r\n${many}\r\napi_access_token: ${adminToken}\r\n\r\n`,
    );
    expect(answer.status).to.equal(200);
  });

  it('an expectation that cannot be met: 417; 100-continue is met', async () => {
    expectRawError(await sendRaw(app.url, request(`GET ${contacts} HTTP/1.1`, ['expect: a miracle'])), 417);
    const head = ['content-type: application/json', 'content-length: 20', 'expect: 100-continue'];
    const post = request(`POST ${contacts} HTTP/1.1`, [...head, 'connection: close'], '{"name":"Continued"}');
    const answer = await sendRaw(app.url, post, { untilClosed: true });
    expect(answer.status).to.equal(100);
    expect(answer.text).to.match(/^HTTP\/1\.1 201 /);
  });

  it('what follows a good request is refused after its answer', async () => {
    const bytes = `${request(`GET ${contacts} HTTP/1.1`)}GET / HTTP/1.1\nx\r\n\r\n`;
    const { status, text, closed } = await sendRaw(app.url, bytes, { untilClosed: true });
    expect([status, closed]).to.deep.equal([200, true]);
    expect(text.indexOf('"payload"')).to.be.greaterThan(0).and.lessThan(text.indexOf('HTTP/1.1 400 '));
  });

  it('the wish for another protocol is left alone', async () => {
    const upgrade = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='];
    expect((await sendRaw(app.url, request(`GET ${contacts} HTTP/1.1`, upgrade))).status).to.equal(200);
  });

  it('HTTP/1.0 needs no host', async () => {
    expect((await sendRaw(app.url, 'GET /healthz HTTP/1.0\r\n\r\n')).status).to.equal(200);
  });

  it('an absolute address names the path, never a server', async () => {
    const answer = await sendRaw(app.url, request('GET http://elsewhere.example/healthz HTTP/1.1'));
    expect([answer.status, answer.text]).to.deep.equal([200, '{"status":"ok"}']);
  });
});

describe('a client that is slow', () => {
  let slow: Server;

  before((done) => {
    const timing = { headersTimeout: 200, requestTimeout: 300, connectionsCheckingInterval: 50 };
    slow = createServer(timing, (received) => void received.resume());
    answerClientErrors(slow, systemRandom);
    slow.listen(0, '127.0.0.1', done);
  });

  after((done) => void slow.close(done));

  it('gets 408, in its headers and in its body', async () => {
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    for (const bytes of ['GET / HTTP/1.1\r\nhost:', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{']) {
      const answer = await sendRaw(url, bytes, { untilClosed: true });
      expectRawError(answer, 408);
      expect(answer.closed).to.equal(true);
    }
  });
});
