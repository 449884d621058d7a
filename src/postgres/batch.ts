import type { Client, Connection } from 'pg';
import { encodeParameter } from './parameters.ts';

/** The result of a statement. */
export interface Result {
  rows: Record<string, unknown>[];
  /** PostgreSQL's command tag: `INSERT 0 1`, `SELECT 5`, `COMMIT`. */
  tag: string;
}

interface Field {
  name: string;
  parse: (text: string) => unknown;
}

interface Sent {
  text: string;
  /** The name under which the connection keeps it prepared; '' for none. */
  name: string;
  parameters: (string | Buffer | null)[];
  fields: readonly Field[] | null;
  rows: Record<string, unknown>[];
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** The statements that a connection keeps prepared, by name; with the fields of their rows, once they are known. */
type Kept = Map<string, readonly Field[] | null>;

const keptBy = new WeakMap<Client, Kept>();

/**
 * Statements that are sent together and answered together, for `Client.query`. Those after one that fails are not run, and
 * fail with the same error.
 */
export class Batch {
  readonly #client: Client;
  readonly #kept: Kept;
  readonly #sent: Sent[] = [];
  /** The names of statements that PostgreSQL has not parsed yet. */
  readonly #parsing: string[] = [];
  #answered = 0;
  #connection: Connection | null = null;

  constructor(client: Client) {
    this.#client = client;
    this.#kept = keptBy.get(client) ?? new Map();
    keptBy.set(client, this.#kept);
  }

  /** The texts of the statements. */
  get texts(): string[] {
    return this.#sent.map(({ text }) => text);
  }

  /** Adds a statement. */
  add(text: string, name: string, values: readonly unknown[]): Promise<Result> {
    const parameters = values.map(encodeParameter);
    return new Promise((resolve, reject) => {
      this.#sent.push({ text, name, parameters, fields: null, rows: [], resolve, reject });
    });
  }

  /** Called by the client when the connection is free. */
  submit(connection: Connection): null {
    this.#connection = connection.on('parseComplete', this.#parsed);
    connection.stream.cork();
    for (const sent of this.#sent) this.#send(connection, sent);
    connection.sync();
    connection.stream.uncork();
    return null;
  }

  #send(connection: Connection, sent: Sent): void {
    const { text, name, parameters: values } = sent;
    if (!this.#kept.has(name) && (name === '' || !this.#parsing.includes(name))) {
      connection.parse({ text, name, types: [] }, true);
      this.#parsing.push(name);
    }
    connection.bind({ statement: name, values }, true);
    sent.fields = this.#kept.get(name) ?? null;
    // The fields of a prepared statement's rows stay the same.
    if (!sent.fields) connection.describe({ type: 'P' }, true);
    connection.execute(null, true);
  }

  readonly #parsed = (): void => {
    const name = this.#parsing.shift();
    if (name) this.#kept.set(name, null);
  };

  /** Handlers below: messages that the client passes on from the server. */
  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    const sent = this.#sent[this.#answered];
    if (sent)
      sent.fields = fields.map(({ name, dataTypeID }) => ({ name, parse: this.#client.getTypeParser(dataTypeID) }));
  }

  handleDataRow({ fields: texts }: { fields: (string | null)[] }): void {
    const sent = this.#sent[this.#answered];
    const row: Record<string, unknown> = {};
    sent?.fields?.forEach(({ name, parse }, index) => {
      const text = texts[index];
      row[name] = text === null || text === undefined ? null : parse(text);
    });
    sent?.rows.push(row);
  }

  handleCommandComplete({ text: tag }: { text: string }): void {
    const sent = this.#sent[this.#answered++];
    if (!sent) return;
    if (sent.name !== '') this.#kept.set(sent.name, sent.fields ?? []);
    sent.resolve({ rows: sent.rows, tag });
  }

  handleReadyForQuery(): void {
    this.#connection?.off('parseComplete', this.#parsed);
  }

  handleError(error: unknown): void {
    this.#connection?.off('parseComplete', this.#parsed);
    for (const sent of this.#sent.slice(this.#answered)) sent.reject(error);
  }
}
