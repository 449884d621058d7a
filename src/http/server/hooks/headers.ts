import type { IncomingMessage } from 'node:http';

const maxHeaderChars = 4_096;
const redacted = '[redacted]';
const confidential = /auth|cookie|secret|token|passw|apikey|(?<!idempotency)[-_]key$|credential|session/;

/** Reads single headers: null for one that is absent, repeated, or longer than any signature. */
export function headerReader({ headersDistinct }: IncomingMessage): (name: string) => string | null {
  return (name) => {
    const values = headersDistinct[name] ?? [];
    const [value] = values;
    return values.length === 1 && value !== undefined && value.length <= maxHeaderChars ? value : null;
  };
}

/** Returns the headers as they are stored: those that may hold a secret without their values. */
export function shownHeaders({ headersDistinct }: IncomingMessage): [name: string, value: string][] {
  return Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, confidential.test(name) ? redacted : value]),
  );
}
