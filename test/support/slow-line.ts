import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A line to a service that carries so many bytes a second towards it on each connection, and breaks those that carry too many. */
export class SlowLine {
  bytesPerSecond = Infinity;
  breaksAfter = Infinity;
  readonly #server: Server;
  readonly #near = new Set<Socket>();

  private constructor(service: string) {
    const { hostname, port } = new URL(service);
    this.#server = createServer((near) => {
      const far = connect(Number(port), hostname);
      this.#near.add(near);
      near.on('close', () => {
        this.#near.delete(near);
        far.destroy();
      });
      // An end that breaks is the end of the other one, and of nobody's interest.
      const broken = (): void => void near.resetAndDestroy();
      pipeline(near, (chunks: AsyncIterable<Buffer>) => this.#carry(chunks), far).catch(broken);
      pipeline(far, near).catch(broken);
    });
  }

  static async start(service: string): Promise<SlowLine> {
    const line = new SlowLine(service);
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve));
    return line;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const near of this.#near) near.destroy();
    this.#server.close();
  }

  async *#carry(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let carried = 0;
    for await (const chunk of chunks) {
      carried += chunk.length;
      if (carried > this.breaksAfter) throw new Error('The line breaks');
      if (this.bytesPerSecond < Infinity) await sleep((chunk.length / this.bytesPerSecond) * 1000);
      yield chunk;
    }
  }
}
