import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy to a TCP server that can be closed: it then refuses connections and cuts open ones. */
export class Passage {
  /** The target's URL through this proxy. */
  readonly url: string;
  /** Connections that came while nobody was let through. */
  turnedAway = 0;
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
    await this.#listen((near) => this.#join(near, connect(this.#target)));
  }

  /** Bars the way, and counts who comes. */
  async turnAway(): Promise<void> {
    await this.bar();
    await this.#listen((near) => {
      this.turnedAway += 1;
      near.resetAndDestroy();
    });
  }

  async bar(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  async #listen(serve: (near: Socket) => void): Promise<void> {
    const server = createServer(serve);
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
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
