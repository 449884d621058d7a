// Example bodies of events, made from their schemas: for docs/webhooks.md.
import { catalog } from '../src/events/catalog.ts';
import { documents, type SchemaName } from '../src/schemas.ts';
import { follow, type Schema } from '../src/lib/composition.ts';

/** An event that webhooks may subscribe to, with a body as they get it. */
export interface EventExample {
  name: string;
  description: string;
  body: unknown;
}

interface Part extends Schema {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
  format?: string;
  description?: string;
  properties?: Record<string, Part>;
  required?: string[];
  items?: Part;
  anyOf?: Part[];
  oneOf?: Part[];
  minimum?: number;
  minProperties?: number;
}

const texts: Readonly<Record<string, string>> = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  phone_number: '+14155552671',
  content: 'Where is my order?',
  channel: 'Channel::Api',
};
const moment = 1_763_812_800;

/** An example of every event that webhooks may subscribe to, in the order of the catalogue. */
export function eventExamples(): EventExample[] {
  const names = Object.entries(catalog).flatMap(([name, entry]) => ('account' in entry ? [name] : []));
  return names.map((name) => {
    const schema = `events/account/${name}` as SchemaName;
    const { description = '' } = documents.get(schema) as { description?: string };
    return { name, description, body: exampleOf(documents.get(schema) as Part, schema, name) };
  });
}

function exampleOf(part: Part, document: string, name: string): unknown {
  if (part.$ref !== undefined) {
    const { schema, document: owner } = follow(documents, part.$ref, document);
    return exampleOf(schema, owner, name);
  }
  if ('const' in part) return part.const;
  if (part.enum) return part.enum.find((value) => value !== null) ?? null;
  const [first] = part.anyOf ?? part.oneOf ?? [];
  return first ? exampleOf(first, document, name) : typedExample(part, document, name);
}

function typedExample(part: Part, document: string, name: string): unknown {
  const types = [part.type].flat();
  if (types.includes('object')) return objectOf(part, document, name);
  if (types.includes('array')) return part.items ? [exampleOf(part.items, document, name)] : [];
  if (types.includes('integer') || types.includes('number')) return numberOf(name, part);
  if (types.includes('boolean')) return false;
  // What may be anything is the value of a changed attribute.
  return types.includes('string') ? textOf(name, part) : 'open';
}

function objectOf({ properties = {}, minProperties = 0 }: Part, document: string, name: string): object {
  const entries = Object.entries(properties).map(([key, part]) => [key, exampleOf(part, document, key)] as const);
  if (entries.length > 0) return Object.fromEntries(entries);
  return name === 'changed_attributes' || minProperties > 0
    ? { status: { previous: 'open', current: 'resolved' } }
    : {};
}

function numberOf(name: string, { minimum = 0 }: Part): number {
  return /(?:_at|_until|_since|time)$/.test(name) ? moment : Math.max(minimum, 1);
}

function textOf(name: string, { format, type }: Part): string | null {
  if (format === 'date-time' || name.endsWith('_at')) return '2025-11-22T12:00:00.000Z';
  if (texts[name] !== undefined) return texts[name];
  if ([type].flat().includes('null')) return null;
  return name === 'id' ? '1' : 'text';
}
