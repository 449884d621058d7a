import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signV4 } from '../../src/objects/sign-v4.ts';

/** The keys that the server takes. */
export const objectKeys = { region: 'eu-test-1', accessKeyId: 'TESTKEY', secretAccessKey: 'a-secret-of-the-tests' };

// Longer than the tests' services wait.
const lateMs = 1500;

/** A store of objects in memory that speaks as S3 does, and refuses what is not signed. */
export class ObjectServer {
  readonly objects = new Map<string, Buffer>();
  /** The requests, such as `PUT /files/a`. */
  readonly asked: string[] = [];
  /** What it does in place of an answer, until it is set to null; `late`: it does what it is asked, and answers nothing. */
  broken: 'fails' | 'fails at the second' | 'hangs' | 'late' | null = null;
  /** What it was asked and has not done yet. */
  pending = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<ObjectServer> {
    const server = createServer((request, response) => void own.#serve(request, response));
    const own = new ObjectServer(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return own;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = await request.toArray();
    const { method = '', url: path = '' } = request;
    this.asked.push(`${method} ${path}`);
    if (this.broken === 'hangs') return;
    if (this.broken === 'late') return this.#doLater(request, path, Buffer.concat(chunks));
    const [status, body] = this.#isFailing(path)
      ? ([503, 'SlowDown'] as const)
      : this.#answer(request, path, Buffer.concat(chunks));
    const text = typeof body === 'string' && body !== '' ? `<Error><Code>${body}</Code></Error>` : body;
    response.writeHead(status).end(text);
  }

  #doLater(request: IncomingMessage, path: string, body: Buffer): void {
    this.pending += 1;
    setTimeout(() => {
      this.#answer(request, path, body);
      this.pending -= 1;
    }, lateMs);
  }

  #isFailing(path: string): boolean {
    const isSecond = this.objects.size > 0 && !this.objects.has(path);
    return this.broken === 'fails' || (this.broken === 'fails at the second' && isSecond);
  }

  #answer(request: IncomingMessage, path: string, body: Buffer): readonly [status: number, body: string | Buffer] {
    if (!isSigned(request, path, body)) return [403, 'SignatureDoesNotMatch'];
    if (request.method === 'DELETE') return this.#delete(path);
    const known = this.objects.get(path);
    if (request.method === 'PUT') this.objects.set(path, body);
    if (request.method === 'PUT') return [200, ''];
    if (!known) return [404, 'NoSuchKey'];
    const [, from = 0, to = known.length - 1] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    return [206, known.subarray(Number(from), Number(to) + 1)];
  }

  #delete(path: string): readonly [status: number, body: string] {
    if (path.endsWith('/locked')) return [403, 'AccessDenied'];
    this.objects.delete(path);
    return [204, ''];
  }
}

function isSigned({ method = '', headers }: IncomingMessage, path: string, body: Buffer): boolean {
  const { range, host = '', authorization } = headers;
  const moment = String(headers['x-amz-date']);
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(moment) ?? [];
  const at = new Date(
    `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`,
  );
  if (Number.isNaN(at.getTime()) || Math.abs(at.getTime() - Date.now()) > 900_000) return false;
  const unsigned = { method, host, path, headers: range ? { range } : {}, body: body.length > 0 ? body : null };
  return signV4(unsigned, objectKeys, at)['authorization'] === authorization;
}
