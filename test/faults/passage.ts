import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy to a TCP server that can be closed: it then refuses connections and cuts open ones. */
export class Passage {
  /** The target's URL through this proxy. */
  readonly url: string;
  readonly #port: number;
  readonly #target: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;

  /** Barred at first. `target` is a URL; what comes in on the loopback port goes to its host and port. */
  constructor(port: number, target: string) {
    const url = new URL(target);
    this.#target = { host: url.hostname, port: Number(url.port) };
    Object.assign(url, { hostname: '127.0.0.1', port: String(port) });
    this.url = url.href;
    this.#port = port;
  }

  async open(): Promise<void> {
    const server = createServer((near) => this.#join(near, connect(this.#target)));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
  }

  async bar(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  #join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
