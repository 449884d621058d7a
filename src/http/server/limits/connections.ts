import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { callerNetwork } from '../../../outbound/addresses.ts';

export interface ConnectionBounds {
  /** Connections at the same time. */
  total: number;
  /** Connections from one address at the same time; Infinity where all come through one proxy. */
  perAddress: number;
}

/** Requests on one connection that wait for their answers: each takes memory, and no client of HTTP needs more. */
const maxUnanswered = 100;

interface Connection {
  socket: Socket;
  address: string;
  /** Requests that are not answered yet. */
  requests: number;
}

/**
 * Limits a server's connections. When there are too many, the one that has been idle for longest is closed; when one
 * address has too many, the longest idle one of that address. If none is idle, the new connection is closed. One with too many
 * unanswered requests is closed as well.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #open = new Map<Socket, Connection>();
  readonly #byAddress = new Map<string, number>();
  // In the order in which they became idle.
  readonly #idle = new Set<Connection>();

  constructor(server: Server, bounds: ConnectionBounds) {
    this.#bounds = bounds;
    server.on('connection', (socket: Socket) => this.#admit(socket));
    server.on('request', ({ socket }, response) => {
      const connection = this.#open.get(socket);
      if (!connection) return;
      connection.requests += 1;
      this.#idle.delete(connection);
      response.once('close', () => this.#rest(connection));
      if (connection.requests > maxUnanswered) socket.destroy();
    });
  }

  /** The number of connections with an unanswered request. */
  get busy(): number {
    return this.#open.size - this.#idle.size;
  }

  #admit(socket: Socket): void {
    const address = callerNetwork(socket.remoteAddress ?? '');
    const isCrowd = (this.#byAddress.get(address) ?? 0) >= this.#bounds.perAddress;
    const isFull = this.#open.size >= this.#bounds.total;
    if ((isCrowd || isFull) && !this.#makeRoom(isCrowd ? address : null)) {
      socket.destroy();
      return;
    }
    const connection = { socket, address, requests: 0 };
    this.#open.set(socket, connection);
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
    this.#idle.add(connection);
    socket.once('close', () => this.#forget(connection));
  }

  #rest(connection: Connection): void {
    connection.requests -= 1;
    if (connection.requests === 0 && this.#open.has(connection.socket)) this.#idle.add(connection);
  }

  /** Closes the longest idle connection, of the address if one is given; false when none is idle. */
  #makeRoom(address: string | null): boolean {
    for (const connection of this.#idle) {
      if (address !== null && connection.address !== address) continue;
      this.#forget(connection);
      connection.socket.destroy();
      return true;
    }
    return false;
  }

  #forget(connection: Connection): void {
    if (!this.#open.delete(connection.socket)) return;
    this.#idle.delete(connection);
    const left = (this.#byAddress.get(connection.address) ?? 1) - 1;
    if (left > 0) this.#byAddress.set(connection.address, left);
    else this.#byAddress.delete(connection.address);
  }
}
