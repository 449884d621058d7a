import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Client, Connection, Submittable } from 'pg';

/** The calls of a connection that carry rows, which the types of pg leave out. */
interface Wire {
  stream: Duplex;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** Largest chunk that copyOut yields. */
export const copyChunkBytes = 1_048_576;
// The reader of rows stops the server from sending more.
const queuedBytes = 2 * copyChunkBytes;

/** Yields the output of `COPY … TO STDOUT` in chunks of at most copyChunkBytes; returns the number of rows. */
export async function* copyOut(client: Client, statement: string): AsyncGenerator<Buffer, number> {
  const copy = client.query(new CopyOut(statement));
  for (let bytes = await copy.take(); bytes !== null; bytes = await copy.take()) {
    for (let from = 0; from < bytes.length; from += copyChunkBytes) yield bytes.subarray(from, from + copyChunkBytes);
  }
  return copy.rows;
}

/** Feeds `COPY … FROM STDIN` with chunks; returns the number of rows. After an error the transaction is aborted. */
export async function copyIn(client: Client, statement: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  const copy = client.query(new CopyIn(statement, chunks));
  await copy.ended;
  return copy.rows;
}

/** The parts of a statement's life that both directions share. */
abstract class Copy implements Submittable {
  rows = 0;
  readonly ended: Promise<void>;
  readonly #statement: string;
  readonly #end: PromiseWithResolvers<void>;

  constructor(statement: string) {
    this.#statement = statement;
    this.#end = Promise.withResolvers<void>();
    this.ended = this.#end.promise;
    // Both directions await it only later.
    this.ended.catch(() => undefined);
  }

  submit(connection: Connection): void {
    const wire = wireOf(connection);
    this.begin(wire);
    wire.query(this.#statement);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.rows = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? 0);
  }

  handleReadyForQuery(): void {
    this.#end.resolve();
    this.finish(null);
  }

  handleError(error: Error): void {
    this.#end.reject(error);
    this.finish(error);
  }

  protected abstract begin(wire: Wire): void;

  protected abstract finish(error: Error | null): void;
}

class CopyOut extends Copy {
  #wire: Wire | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isEnded = false;
  #wake = Promise.withResolvers<void>();

  /** Resolves with the next bytes, null at the end. */
  async take(): Promise<Buffer | null> {
    while (!this.#isEnded && this.#bytes < copyChunkBytes) await this.#wake.promise;
    if (this.#isEnded) await this.ended;
    if (this.#bytes === 0) return null;
    const bytes = Buffer.concat(this.#chunks);
    [this.#chunks, this.#bytes, this.#wake] = [[], 0, Promise.withResolvers<void>()];
    this.#wire?.stream.resume();
    return bytes;
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    // The parser writes its next bytes over these.
    this.#chunks.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes >= copyChunkBytes) this.#wake.resolve();
    if (this.#bytes >= queuedBytes) this.#wire?.stream.pause();
  }

  protected override begin(wire: Wire): void {
    this.#wire = wire;
  }

  protected override finish(): void {
    this.#isEnded = true;
    this.#wake.resolve();
  }
}

class CopyIn extends Copy {
  readonly #chunks: AsyncIterable<Buffer>;
  #isEnded = false;

  constructor(statement: string, chunks: AsyncIterable<Buffer>) {
    super(statement);
    this.#chunks = chunks;
  }

  handleCopyInResponse(connection: Connection): void {
    const wire = wireOf(connection);
    this.#pump(wire).catch((error: Error) => wire.sendCopyFail(error.message));
  }

  protected override begin(): void {
    this.#isEnded = false;
  }

  protected override finish(): void {
    this.#isEnded = true;
  }

  async #pump(wire: Wire): Promise<void> {
    const ended = this.ended.catch(() => undefined);
    for await (const chunk of this.#chunks) {
      if (this.#isEnded) return;
      wire.sendCopyFromChunk(chunk);
      if (wire.stream.writableNeedDrain) await Promise.race([once(wire.stream, 'drain'), ended]);
    }
    wire.endCopyFrom();
  }
}

function wireOf(connection: Connection): Wire {
  return connection as unknown as Wire;
}
