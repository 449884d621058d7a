import { targetOf } from '../lib/composition.ts';
import { readableDocument, type SchemaName } from '../schemas.ts';

/** A piece of a JSON document. */
export type Json = Record<string, unknown>;

const prefix = '#/components/schemas/';
// Keywords that only our reading of bodies uses, and the published contract does not contain.
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
    const { $schema: _schema, $defs: definitions = {}, ...whole } = document;
    const piece = definition === undefined ? whole : (definitions as Record<string, Json>)[definition];
    if (!piece) throw new Error(`No definition ${definition} in ${schema}`);
    const name = componentName(schema) + pascal(definition ?? '');
    return this.#addPart({ name, piece, path: definition === undefined ? pointer : rest }, schema);
  }

  // A part of a component becomes one of its own: many generators do not follow references into components.
  #addPart({ name, piece, path }: { name: string; piece: Json; path: string }, schema: string): string {
    const [, ...steps] = path.split('/');
    const part = steps.reduce<unknown>((at, step) => (at as Json | undefined)?.[step], piece);
    if (!part) throw new Error(`Nothing at ${path} in ${schema}`);
    const suffix = steps.filter((step) => step !== 'properties').map(pascal);
    return this.#add(name + suffix.join(''), part as Json, schema);
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
