import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Cost } from '../bench.ts';
import { median } from './figures.ts';

const alarmsName = 'switchboard-alarms';
const lengthBytes = 4;

/** `clock`: counts the statements of the alarm clock on its own connections, too. */
interface WireOptions {
  clock: boolean;
}

/** A proxy between a service and its database that counts all trips and statements. */
export class Wire {
  /** The database, by way of this proxy. */
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #total: Cost;

  private constructor(url: string, server: Server, counted: { sockets: Set<Socket>; total: Cost }) {
    this.url = url;
    this.#server = server;
    this.#sockets = counted.sockets;
    this.#total = counted.total;
  }

  static async to(databaseUrl: string, options: WireOptions): Promise<Wire> {
    const target = new URL(databaseUrl);
    const address = { host: target.hostname, port: Number(target.port) };
    const counted = { sockets: new Set<Socket>(), total: { trips: 0, statements: 0 } };
    const server = createServer({ noDelay: true }, (client) => {
      const database = connect({ ...address, noDelay: true });
      const sides = [client, database] as const;
      for (const side of sides) {
        counted.sockets.add(side);
        side
          .on('error', () => undefined)
          .on('close', () => {
            counted.sockets.delete(side);
            for (const other of sides) other.destroy();
          });
      }
      watch({ client, database }, counted.total, options);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    target.port = String((server.address() as AddressInfo).port);
    return new Wire(target.href, server, counted);
  }

  /** The traffic since the proxy was started. */
  get total(): Cost {
    return { ...this.#total };
  }

  /** Returns the median cost of an operation over several runs, which leaves out concurrent statements of others. */
  async costOf(operation: () => Promise<unknown>, times = 25): Promise<Cost> {
    const costs: Cost[] = [];
    await operation();
    for (let count = 0; count < times; count++) {
      const before = this.total;
      await operation();
      costs.push(difference(before, this.total));
    }
    return { trips: median(costs.map((cost) => cost.trips)), statements: median(costs.map((cost) => cost.statements)) };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Gives the work a proxy before the database. */
export async function onWire<Result>(
  databaseUrl: string,
  work: (wire: Wire) => Promise<Result>,
  options: WireOptions = { clock: false },
): Promise<Result> {
  const wire = await Wire.to(databaseUrl, options);
  try {
    return await work(wire);
  } finally {
    await wire.close();
  }
}

/** Returns the cost between two readings. */
export function difference(before: Cost, after: Cost): Cost {
  return { trips: after.trips - before.trips, statements: after.statements - before.statements };
}

// A trip begins when something is sent while no answer is owed, so what is pipelined is one trip. What is said until the
// server is first ready belongs to no operation. `C`, `I` and `s` end a statement, whatever protocol it came by.
function watch({ client, database }: Record<'client' | 'database', Socket>, total: Cost, options: WireOptions): void {
  const connection = { owed: 0, busy: true, ready: false, counts: true };
  const fromClient = new Messages(true);
  const fromDatabase = new Messages(false);
  client.on('data', (chunk: Buffer) => {
    database.write(chunk);
    fromClient.read(chunk, (type, body) => {
      if (type === '') connection.counts = options.clock || !body.includes(alarmsName);
      if (!connection.ready) return;
      if (!connection.busy && connection.counts) total.trips++;
      connection.busy = true;
      if (type === 'S' || type === 'Q') connection.owed++;
    });
  });
  database.on('data', (chunk: Buffer) => {
    fromDatabase.read(chunk, (type) => {
      if (connection.ready && connection.counts && 'CIs'.includes(type)) total.statements++;
      if (type !== 'Z') return;
      if (connection.ready) connection.owed--;
      connection.ready = true;
      connection.busy = connection.owed > 0;
    });
    client.write(chunk);
  });
}

/** Cuts a stream of the protocol into messages: a letter, the length of the rest, the rest. A client's first has no letter. */
class Messages {
  #rest: Buffer = Buffer.alloc(0);
  #typed: boolean;

  constructor(isClient: boolean) {
    this.#typed = !isClient;
  }

  read(chunk: Buffer, found: (type: string, body: Buffer) => void): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const head = this.#typed ? 1 : 0;
      if (this.#rest.length < head + lengthBytes) return;
      const end = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < end) return;
      const type = this.#typed ? String.fromCharCode(this.#rest[0] ?? 0) : '';
      const body = this.#rest.subarray(head + lengthBytes, end);
      this.#rest = this.#rest.subarray(end);
      this.#typed = true;
      found(type, body);
    }
  }
}
