import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/**
 * A way to a service that can fall asleep, as a computer does: what is connected carries nothing any more, in neither
 * direction, and nobody is told. After it wakes, what connects works; of what was connected before nobody knows any more:
 * who writes to it is reset, and who only listens hears nothing, for ever.
 */
export class SleepingNetwork {
  readonly #server: Server;
  readonly #target: URL;
  readonly #ends = new Set<Socket>();
  #isAsleep = false;
  #isCut = false;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((client) => this.#carry(client));
  }

  static async open(target: string): Promise<SleepingNetwork> {
    const network = new SleepingNetwork(target);
    network.#server.listen(0, '127.0.0.1');
    await once(network.#server, 'listening');
    return network;
  }

  /** The service's address by this way. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on nothing is carried, and nothing new is connected. */
  sleep(): void {
    this.#isAsleep = true;
    for (const end of this.#ends) {
      end.unpipe();
      end.pause();
    }
  }

  /** From now on everybody is told at once that there is no network. */
  cut(): void {
    this.#isCut = true;
    for (const end of this.#ends) end.resetAndDestroy();
  }

  /** What connects from now on works; what was connected before is forgotten. */
  wake(): void {
    this.#isAsleep = false;
    this.#isCut = false;
    for (const end of this.#ends) {
      end.on('data', () => end.resetAndDestroy());
      end.resume();
    }
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #carry(client: Socket): void {
    this.#keep(client);
    if (this.#isCut) return void client.resetAndDestroy();
    if (this.#isAsleep) return void client.pause();
    const service = connect(Number(this.#target.port), this.#target.hostname);
    this.#keep(service);
    client.pipe(service);
    service.pipe(client);
  }

  #keep(end: Socket): void {
    this.#ends.add(end);
    end.on('error', () => end.destroy());
    end.once('close', () => this.#ends.delete(end));
  }
}
