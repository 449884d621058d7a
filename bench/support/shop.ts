import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned, type Certificate } from '../../test/outbound/certificate.ts';

/** A server at https://localhost that answers late. */
export interface Shop {
  /** `localhost:PORT`. */
  host: string;
  /** Its certificate, PEM. */
  certificate: string;
  /** Requests that it has not answered yet. */
  readonly waiting: number;
  close(): void;
}

/** Starts as many shops, with one certificate, that answer everything after `delayMs`. */
export function openShops(count: number, delayMs: number): Promise<Shop[]> {
  const certificate = selfSigned('localhost');
  return Promise.all(Array.from({ length: count }, () => openShop(delayMs, certificate)));
}

async function openShop(delayMs: number, { cert, key }: Certificate): Promise<Shop> {
  let waiting = 0;
  const server = createServer({ cert, key }, (_, response) => {
    waiting += 1;
    response.once('close', () => (waiting -= 1));
    setTimeout(() => response.end('{}'), delayMs);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    certificate: cert,
    get waiting() {
      return waiting;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
