import { connect } from 'node:net';

/** What came back over a raw connection. */
export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  text: string;
  /** Whether the server ended the connection. */
  closed: boolean;
}

export interface RawOptions {
  /** Waits for the end of the connection, else for one whole answer. */
  untilClosed?: boolean;
  patienceMs?: number;
}

// Reads the first answer in what was received.
function parse(received: string): Omit<RawAnswer, 'closed'> & { whole: boolean } {
  const end = received.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = received.slice(0, Math.max(0, end)).split('\r\n');
  const fields = lines.map((line) => line.split(/:\s*/, 2));
  const headers = new Map(fields.map(([name = '', value = '']) => [name.toLowerCase(), value]));
  const text = end < 0 ? '' : received.slice(end + 4);
  const status = Number(statusLine.split(' ')[1] ?? 0);
  const length = Number(headers.get('content-length') ?? (status === 204 ? 0 : Infinity));
  return { status, headers, text, whole: end >= 0 && Buffer.byteLength(text) >= length };
}

/** Sends bytes as they are and collects what comes back. */
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
