import { follow } from '../lib/composition.ts';
import { documents, jsonOf } from '../schemas.ts';
import { catalog, payloadSchema, type Audience, type Entry, type EventName } from './catalog.ts';

interface Node {
  $ref?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Node[];
  type?: string | readonly string[];
  items?: Node;
  required?: readonly string[];
  properties?: Record<string, Node>;
  minItems?: number;
  minProperties?: number;
  format?: string;
}

/** The names of the events that the audience gets. */
export function eventsFor(audience: Audience): EventName[] {
  return (Object.keys(catalog) as EventName[]).filter((name) => (catalog[name] as Entry)[audience] !== undefined);
}

/** A body of the event as its schema has it, for people who try their receiver; JSON text. `account` is the real one. */
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

// What a customer's message would be like; everything else is made from its type.
const texts: Readonly<Record<string, string>> = {
  content: 'Hello, what are your opening hours?',
  name: 'Sam Sample',
  email: 'sam@example.com',
  phone_number: '+14155552671',
  created_at: '2026-01-01T12:00:00.000Z',
  url: 'https://example.com/',
  channel: 'Channel::Api',
};
const moment = 1_767_268_800;

function sampleOf(place: Place): unknown {
  const { node } = place;
  if (node.$ref !== undefined) {
    const { schema: target, document } = follow(documents, node.$ref, place.name);
    return sampleOf({ ...place, name: document, node: target });
  }
  if ('const' in node) return node.const;
  if (node.enum) return node.enum.includes(null) ? null : node.enum[0];
  if (node.anyOf) return sampleOf({ ...place, node: node.anyOf[0] ?? {} });
  return ofType(place);
}

function ofType(place: Place): unknown {
  const [type = 'null', ...others] = [place.node.type ?? 'null'].flat();
  if (others.includes('null')) return texts[place.property] ?? null;
  return makers[type]?.(place) ?? null;
}

const makers: Readonly<Record<string, (place: Place) => unknown>> = {
  object: ({ name, node: { properties = {}, required = [], minProperties = 0 } }) => {
    const given = required.map((property): [string, unknown] => [
      property,
      sampleOf({ name, node: properties[property] ?? {}, property }),
    ]);
    return minProperties > given.length
      ? { status: { previous: 'open', current: 'resolved' } }
      : Object.fromEntries(given);
  },
  array: ({ name, node: { items = {}, minItems = 0 }, property }) =>
    Array.from({ length: minItems }, () => sampleOf({ name, node: items, property })),
  string: ({ property, name }) =>
    name.startsWith('events/account') && property === 'id' ? '1' : (texts[property] ?? 'sample'),
  integer: ({ property }) => (/_(at|until|since)$/.test(property) ? moment : 1),
  number: () => 1,
  boolean: () => false,
  null: () => null,
};
