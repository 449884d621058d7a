import { follow } from '../lib/composition.ts';
import { documents, jsonOf } from '../schemas.ts';
import { catalog, payloadSchema, type Audience, type Entry, type EventName } from './catalog.ts';

interface Node {
  $ref?: string;
  examples?: readonly unknown[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Node[];
  type?: string | readonly string[];
  items?: Node;
  properties?: Record<string, Node>;
  minItems?: number;
  minimum?: number;
}

/** The names of the events that the audience gets. */
export function eventsFor(audience: Audience): EventName[] {
  return (Object.keys(catalog) as EventName[]).filter((name) => (catalog[name] as Entry)[audience] !== undefined);
}

/**
 * A body of the event as its schema has it, with the schema's own examples where it gives any: for people who try their
 * receiver, and for the documentation; JSON text.
 */
export function sampleBody(name: EventName, audience: Audience, account: { id: number; name: string }): string {
  const schema = payloadSchema(name, audience);
  const body = sampleOf({ name: schema, node: documents.get(schema) as Node, property: '' }) as object;
  const told = 'account_id' in body ? { account_id: account.id } : {};
  return jsonOf(schema, { ...body, ...told, event: name, account });
}

interface Place {
  /** The document of the node, for its references. */
  name: string;
  node: Node;
  /** The name of the property that holds the value. */
  property: string;
}

// Sample values for fields whose type alone would give odd ones.
const texts: Readonly<Record<string, string>> = {
  content: 'Where is my order?',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  phone_number: '+14155552671',
  created_at: '2025-11-22T12:00:00.000Z',
  url: 'https://example.com/hook',
  channel: 'Channel::Api',
  id: '1',
};
const moment = 1_763_812_800;

function sampleOf(place: Place): unknown {
  const { node, name } = place;
  if (node.examples) return node.examples[0];
  if (node.$ref !== undefined) {
    const { schema, document } = follow(documents, node.$ref, name);
    return sampleOf({ ...place, name: document, node: schema });
  }
  if ('const' in node) return node.const;
  if (node.enum) return node.enum.includes(null) ? null : node.enum[0];
  if (node.anyOf) return sampleOf({ ...place, node: node.anyOf[0] ?? {} });
  return typedSample(place);
}

function typedSample(place: Place): unknown {
  const [type = 'null', ...others] = [place.node.type ?? 'null'].flat();
  if (others.includes('null')) return texts[place.property] ?? null;
  return makers[type]?.(place) ?? null;
}

const makers: Readonly<Record<string, (place: Place) => unknown>> = {
  object: ({ name, node: { properties = {} } }) =>
    Object.fromEntries(
      Object.entries(properties).map(([property, node]) => [property, sampleOf({ name, node, property })]),
    ),
  array: ({ name, node: { items = {}, minItems = 0 }, property }) =>
    Array.from({ length: minItems }, () => sampleOf({ name, node: items, property })),
  string: ({ property }) => texts[property] ?? 'text',
  integer: ({ property, node: { minimum = 0 } }) =>
    /_(at|until|since)$/.test(property) ? moment : Math.max(minimum, 1),
  number: () => 1,
  boolean: () => false,
};
