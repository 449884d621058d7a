import { connect, createServer, type Server, type Socket } from 'node:net';

/** The moment at which a process is cut off: its COMMIT has been carried out, or has not even reached the server. */
export type Moment = 'committed' | 'before commit';

// CommandComplete with the tag COMMIT, as the server sends it.
const committed = Buffer.from([0x43, 0, 0, 0, 11, ...Buffer.from('COMMIT\0')]);
const commit = Buffer.from('COMMIT\0');
/** Query, Parse and Bind: the messages that carry a statement's text or name. */
const carriers: ReadonlySet<number> = new Set([0x51, 0x50, 0x42]);
/** A message's type and length. */
const headBytes = 5;
const mostBytes = 64;

/** A way to a PostgreSQL server that can stop at a moment of its protocol, and tells who was on it. */
export class Wire {
  /** The database's URL by this way. */
  url = '';
  #stop: { at: Moment; left: number; reached: () => void } | null = null;
  #isHalted = false;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((near) => {
      this.#join(near, connect({ host: this.#target.hostname, port: Number(this.#target.port) }));
    });
  }

  static async to(target: string): Promise<Wire> {
    const wire = new Wire(target);
    await new Promise<void>((resolve) => wire.#server.listen(0, '127.0.0.1', resolve));
    const address = wire.#server.address() as { port: number };
    wire.url = Object.assign(new URL(target), { port: String(address.port) }).href;
    return wire;
  }

  /** Resolves when the n-th transaction has come to this moment; nothing passes from then on, in no direction, until `cut`. */
  stopAt(at: Moment, n = 1): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stop = { at, left: n, reached: resolve };
    return promise;
  }

  /** Cuts all connections; new ones pass. */
  cut(): void {
    this.#stop = null;
    this.#isHalted = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
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
      one.on('data', (bytes: Buffer) => this.#pass(bytes, other, one === near ? 'before commit' : 'committed'));
    }
  }

  #pass(bytes: Buffer, other: Socket, moment: Moment): void {
    if (this.#isHalted) return;
    if (this.#stop?.at !== moment) return void other.write(bytes);
    const place = moment === 'committed' ? bytes.indexOf(committed) : beginningOfCommit(bytes);
    if (place >= 0) this.#stop.left -= 1;
    if (place < 0 || this.#stop.left > 0) return void other.write(bytes);
    this.#isHalted = true;
    other.write(bytes.subarray(0, place));
    this.#stop.reached();
  }
}

// The message that has the word in it, which is short: before the word are a name or two at most.
function beginningOfCommit(bytes: Buffer): number {
  const word = bytes.indexOf(commit);
  for (let begin = word - headBytes; begin >= 0 && begin > word - mostBytes; begin -= 1) {
    const end = begin + 1 + bytes.readUInt32BE(begin + 1);
    if (carriers.has(bytes[begin] ?? 0) && end >= word + commit.length && end < word + mostBytes) return begin;
  }
  return -1;
}
