import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../../lib/operator-error.ts';

interface Address {
  port: number;
  host: string;
}

const remedies: Readonly<Record<string, (address: Address) => string>> = {
  EADDRINUSE: ({ port, host }) =>
    `Port ${port} of ${host} is taken by another program: stop that one, or set PORT to another number (0 takes a free one).`,
  EACCES: ({ port }) => `This account may not listen on port ${port}: set PORT to a number above 1023, say 3000.`,
  EADDRNOTAVAIL: ({ host }) => notOurs(host),
  ENOTFOUND: ({ host }) => notOurs(host),
  EAI_AGAIN: ({ host }) => notOurs(host),
};

/** Binds the server; returns the address. Throws OperatorError, with the remedy, when the address cannot be bound. */
export async function listenOn(server: Server, address: Address): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(address.port, address.host, resolve);
  try {
    await promise;
  } catch (error) {
    const remedy = remedies[(error as NodeJS.ErrnoException).code ?? ''];
    throw remedy ? new OperatorError(remedy(address)) : error;
  }
  return server.address() as AddressInfo;
}

function notOurs(host: string): string {
  return `HOST ${host} is no address of this machine: set HOST to 127.0.0.1 (this machine only), 0.0.0.0 (all its networks), or one of its addresses.`;
}
