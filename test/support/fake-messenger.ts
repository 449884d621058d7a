import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that sends a message. */
export interface TakenMessage {
  path: string;
  headers: IncomingMessage['headers'];
  body: { to: string; text: string };
  id: string;
}

/** An answer in place of the usual one, to a message that is not taken. */
interface OddAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A messenger over HTTP: it takes messages as JSON and answers with their ids, or as a test wants; and it has files of customers. */
export class FakeMessenger {
  readonly taken: TakenMessage[] = [];
  /** Answers of the next requests, first one first. */
  readonly odd: OddAnswer[] = [];
  readonly files = new Map<string, Buffer>();
  /** Called when a file is asked for; its status is the answer to that, in place of the file. */
  onFile: (() => Promise<number | null>) | null = null;
  /** Whether its answers repeat the message. */
  repeats = false;
  /** Called when a message was taken; awaited before the answer. */
  onTaken: ((message: TakenMessage) => Promise<void>) | null = null;
  readonly #server: Server;
  #ids = 0;
  url = '';

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<FakeMessenger> {
    const messenger = new FakeMessenger();
    await new Promise<void>((resolve) => messenger.#server.listen(0, '127.0.0.1', resolve));
    messenger.url = `http://127.0.0.1:${(messenger.#server.address() as AddressInfo).port}`;
    return messenger;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (request.method === 'GET') {
      await this.#giveFile(path, response);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const odd = this.odd.shift();
    this.#ids += 1;
    const id = `m-${this.#ids}`;
    const { headers } = request;
    const body = JSON.parse(Buffer.concat(chunks).toString()) as TakenMessage['body'];
    if (!odd) await this.#take({ path, headers, body, id });
    response
      .writeHead(odd?.status ?? 200, { 'content-type': 'application/json', ...odd?.headers })
      .end(JSON.stringify(odd?.body ?? { ok: true, message: { id }, ...(this.repeats ? { repeated: body } : {}) }));
  }

  async #giveFile(path: string, response: ServerResponse): Promise<void> {
    const refused = await this.onFile?.();
    const file = refused ? undefined : this.files.get(path);
    response.writeHead(refused ?? (file ? 200 : 404)).end(file);
  }

  async #take(message: TakenMessage): Promise<void> {
    this.taken.push(message);
    await this.onTaken?.(message);
  }
}
