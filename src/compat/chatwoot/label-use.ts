import type { Json } from './operation.ts';

/**
 * The labels that a conversation or a contact is to have. Theirs are any words: those that the account does not have yet are
 * made with them, all or none, where the caller may; our route says which are not there.
 */
export function readLabels(body: Json): Json {
  const { labels } = body;
  if (!Array.isArray(labels)) return body;
  const titles = labels.map((title: unknown) => (typeof title === 'string' ? title.toLowerCase() : title));
  return { ...body, labels: titles, create_missing: true };
}
