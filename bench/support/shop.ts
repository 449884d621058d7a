import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned } from '../../test/outbound/certificate.ts';

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

/** Starts a shop that answers everything after `delayMs`. */
export async function openShop(delayMs: number): Promise<Shop> {
  const { cert, key } = selfSigned('localhost');
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
