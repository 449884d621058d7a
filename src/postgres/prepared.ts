import { Client, type ClientConfig } from 'pg';

const names = new Map<string, string>();

/**
 * Marks a statement as prepared: each connection plans it once, because planning the joins of a hot statement takes
 * longer than running it. Only for statements whose best plan does not depend on their parameters.
 */
export function prepared(text: string): string {
  if (!names.has(text)) names.set(text, `hot_${names.size + 1}`);
  return text;
}

const ending = new Set(['BEGIN', 'COMMIT', 'ROLLBACK']);

/** The name under which batches keep a statement prepared; '' for those that are not. */
export function nameOf(text: string): string {
  const name = names.get(text);
  // Connections keep what they send by itself and what they send in batches apart.
  if (name !== undefined) return `batch_${name}`;
  return ending.has(text) ? `batch_${text}` : '';
}

/** A connection that sends marked statements by name, so that PostgreSQL prepares them. */
export class PreparingClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (query: unknown, values?: unknown) => unknown;
    const preparing = (text: unknown, values?: unknown): unknown => {
      const name = typeof text === 'string' ? names.get(text) : undefined;
      return name === undefined ? query(text, values) : query({ name, text, values });
    };
    this.query = preparing as typeof this.query;
  }
}
