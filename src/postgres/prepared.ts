import { Client, type ClientConfig } from 'pg';

const names = new Map<string, string>();

/**
 * Marks a statement as one that every connection prepares once: planning the joins of a hot statement costs more than
 * running it. For statements only whose plan does not hang on their parameters.
 */
export function prepared(text: string): string {
  names.set(text, `hot_${names.size + 1}`);
  return text;
}

/** A connection that knows which statements are to be prepared. */
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
