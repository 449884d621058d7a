import { targetOf } from '../lib/composition.ts';
import { readableDocument, type SchemaName } from '../schemas.ts';

/** A piece of a JSON document. */
export type Json = Record<string, unknown>;

const prefix = '#/components/schemas/';
// What is read though it is no part of the contract is not published.
const unpublished = new Set(['x-left-out', 'x-null']);
// Keywords whose values are data and not schemas.
const literals = new Set(['const', 'enum', 'default', 'examples']);

/** `contact.create` → `ContactCreate` */
export function pascal(text: string): string {
  return text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The name of a schema file among the components of the published contract. */
export function componentName(schema: string): string {
  const [folder = '', ...rest] = schema.split('/');
  const name = pascal(rest.join('/'));
  if (folder === 'resources') return name;
  if (folder === 'requests') return `${name}Request`;
  if (folder === 'shapes') return `${name}Shape`;
  return folder === 'events' ? `${name}Event` : pascal(schema);
}

/** The component schemas of a contract: those it refers to, directly or through others. */
export class ComponentSchemas {
  readonly #found = new Map<string, Json>();

  /** A reference to a schema file, which becomes a component. */
  refer(schema: SchemaName): Json {
    return { $ref: this.#resolve(schema, '') };
  }

  /** A piece of a schema file, its references rewritten to components. */
  rewrite(piece: unknown, schema: string): unknown {
    if (Array.isArray(piece)) return piece.map((item) => this.rewrite(item, schema));
    if (typeof piece !== 'object' || piece === null) return piece;
    return Object.fromEntries(
      Object.entries(piece).flatMap(([key, value]: [string, unknown]): [string, unknown][] => {
        if (unpublished.has(key)) return [];
        if (literals.has(key)) return [[key, value]];
        if (key !== '$ref') return [[key, this.rewrite(value, schema)]];
        const { document, pointer } = targetOf(String(value), schema);
        return [[key, this.#resolve(document, pointer)]];
      }),
    );
  }

  /** All components, by name. */
  list(): Record<string, Json> {
    return Object.fromEntries([...this.#found].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #resolve(schema: string, pointer: string): string {
    const document = readableDocument(schema);
    if (!document) throw new Error(`No schema ${schema}`);
    const [, definition, rest = ''] = /^\/\$defs\/([^/]+)(.*)$/.exec(pointer) ?? [];
    if (definition === undefined) {
      const { $schema: _schema, $defs: _definitions, ...whole } = document;
      return this.#add(componentName(schema), whole, schema) + pointer;
    }
    const definitions = (document['$defs'] ?? {}) as Record<string, Json>;
    const piece = definitions[definition];
    if (!piece) throw new Error(`No definition ${definition} in ${schema}`);
    return this.#add(componentName(schema) + pascal(definition), piece, schema) + rest;
  }

  #add(name: string, piece: Json, schema: string): string {
    if (!this.#found.has(name)) {
      // Registered before its content is rewritten: schemas may refer to themselves.
      this.#found.set(name, {});
      this.#found.set(name, this.rewrite(piece, schema) as Json);
    }
    return prefix + name;
  }
}
