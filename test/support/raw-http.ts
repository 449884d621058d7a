import { connect } from 'node:net';
import { expect } from 'chai';
import { adminToken } from './app.ts';

/** What was received over a raw connection. */
export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  text: string;
  /** Whether the server ended the connection. */
  closed: boolean;
}

export interface RawOptions {
  /** Waits for the end of the connection; by default for one whole answer. */
  untilClosed?: boolean;
  patienceMs?: number;
}

// Parses the first answer of the received bytes.
function parse(received: string): Omit<RawAnswer, 'closed'> & { whole: boolean } {
  const end = received.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = received.slice(0, Math.max(0, end)).split('\r\n');
  const fields = lines.map((line) => /^([^:]*):\s*(.*)$/.exec(line) ?? []);
  const headers = new Map(fields.map(([, name = '', value = '']) => [name.toLowerCase(), value]));
  const text = end < 0 ? '' : received.slice(end + 4);
  const status = Number(statusLine.split(' ')[1] ?? 0);
  const length = Number(headers.get('content-length') ?? (status === 204 ? 0 : Infinity));
  return { status, headers, text, whole: end >= 0 && Buffer.byteLength(text) >= length };
}

/** Sends bytes unchanged and collects the answer. */
export function sendRaw(
  url: string,
  bytes: string | Buffer,
  { untilClosed = false, patienceMs = 5000 }: RawOptions = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const finish = (closed: boolean) => {
      socket.destroy();
      const { whole: _, ...answer } = parse(received);
      resolve({ ...answer, closed });
    };
    socket.setEncoding('utf8').setTimeout(patienceMs, () => finish(false));
    socket.on('data', (text: string) => {
      received += text;
      if (!untilClosed && parse(received).whole) finish(false);
    });
    socket.on('end', () => finish(true)).on('error', () => finish(true));
  });
}

/** The bytes of a request by the administrator. */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): string {
  return [line, 'host: localhost', `api_access_token: ${adminToken}`, ...headers, '', body].join('\r\n');
}

/** Asserts the shape of all refusals. */
export function expectError(body: { error?: unknown; code?: unknown; request_id?: unknown }): void {
  expect(Object.keys(body)[0]).to.equal('error');
  expect(body.error).to.be.a('string').and.not.equal('');
  expect(body.code).to.be.a('string');
  expect(body.request_id).to.be.a('string');
}

/** Asserts a refusal, with the headers of all answers. */
export function expectRawError(answer: RawAnswer, status: number): void {
  expect(answer.status).to.equal(status);
  expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
  expect(answer.headers.get('x-request-id')).to.match(/^[\w-]{36}$/);
  expect(answer.headers.get('cache-control')).to.equal('no-store');
  expectError(JSON.parse(answer.text));
}
