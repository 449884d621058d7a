import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a shop got. */
interface ShopRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server of orders on loopback, which keeps what it was asked. */
export class JsonShop {
  readonly asked: ShopRequest[] = [];
  /** Answers in place of the usual one. */
  answer: ((response: ServerResponse, asked: ShopRequest) => void) | null = null;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const asked = { method, url, headers, body: Buffer.concat(chunks).toString() };
      this.asked.push(asked);
      if (this.answer) return this.answer(response, asked);
      return JsonShop.json(response, { order: { state: 'on its way', key: headers.authorization }, total: 1 });
    });
  });

  static json(response: ServerResponse, value: unknown, status = 200): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
