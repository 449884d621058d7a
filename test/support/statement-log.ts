import { Client } from 'pg';

type Statement = string | { text: string } | Batch;
type Batch = { texts: string[]; handleReadyForQuery: (...given: unknown[]) => unknown };
type Query = (this: unknown, statement: Statement, values?: unknown, done?: unknown) => unknown;

// Statements that a process sends at any time by itself.
const background =
  /agenda_jobs|pg_notify|plugin_registry|SELECT FROM unplaced_events|DELETE FROM unplaced_events|pg_try_advisory_xact_lock|token_last_used_at = |to_regclass\('migrations'\)|FROM migrations ORDER BY id|public_url FROM installation|FROM pg_database d|pg_control_system|SELECT clock_timestamp|pg_backend_pid|^LISTEN /;

/**
 * The statements that connections of this process send, but for those it sends at any time by itself. Connections take hold of the log when they are made: it is opened
 * before the service is.
 */
export class StatementLog {
  readonly #prototype = Client.prototype as unknown as { query: Query };
  readonly #query = this.#prototype.query;
  readonly #taken: string[][] = [];
  readonly #awaited = new Map<RegExp, () => void>();
  #taking = false;

  constructor() {
    const [query, take] = [this.#query, (statement: Statement) => this.#take(statement)];
    this.#prototype.query = function (statement, values, done) {
      take(statement);
      return query.call(this, statement, values, done);
    };
  }

  #take(statement: Statement): void {
    for (const [pattern, resolve] of this.#awaited) {
      if (pattern.test(spaced(textsOf(statement).join(' ')))) whenAnswered(statement, resolve);
    }
    if (this.#taking) this.#taken.push(textsOf(statement));
  }

  /** Resolves when a statement that matches, with whitespace collapsed, is answered: on a busy machine long after it is sent. */
  async nextAnswered(pattern: RegExp): Promise<void> {
    await new Promise<void>((resolve) => this.#awaited.set(pattern, resolve));
    this.#awaited.delete(pattern);
  }

  /** The statements sent during `work`, with whitespace collapsed. */
  async during(work: () => Promise<unknown>): Promise<string[]> {
    return (await this.tripsDuring(work)).flat();
  }

  /** Like during, with those together that are sent together. */
  async tripsDuring(work: () => Promise<unknown>): Promise<string[][]> {
    this.#taken.length = 0;
    this.#taking = true;
    await work();
    this.#taking = false;
    return this.#taken
      .map((texts) => texts.map(spaced).filter((text) => !background.test(text)))
      .filter(({ length }) => length > 0);
  }

  /** Stops logging on connections made from now on. */
  close(): void {
    this.#prototype.query = this.#query;
  }
}

function whenAnswered(statement: Statement, resolve: () => void): void {
  if (typeof statement === 'string' || !('texts' in statement)) return resolve();
  const ready = statement.handleReadyForQuery.bind(statement);
  statement.handleReadyForQuery = (...given) => {
    ready(...given);
    resolve();
  };
}

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function textsOf(statement: Statement): string[] {
  if (typeof statement === 'string') return [statement];
  return 'texts' in statement ? statement.texts : [statement.text];
}
