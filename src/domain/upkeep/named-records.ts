import type { Sql } from '../../postgres/sql.ts';

/** Records whose erasure erases stored texts about them. */
export type NamedKind = 'account' | 'contact' | 'conversation' | 'message';

/** Returns the name of a record that is stored beside texts about it. */
export function nameOf(kind: NamedKind, id: number): string {
  return `${kind} ${id}`;
}

const inPath = /\/(account|contact|conversation|message)s\/(\d{1,15})(?![^/?])/g;
// Attributes hold the callers' own values, which name no records.
const othersWords = '_attributes';
const byKey = /^(?:\w+_)?(contact|conversation|message)(?:_id)?$/;

/** Returns the names of the records in a path, such as `/accounts/1/contacts/2/notes`. */
export function namesInPath(path: string): string[] {
  return [...path.matchAll(inPath)].map(([, kind, id]) => nameOf(kind as NamedKind, Number(id)));
}

/** Returns the names of the records in JSON of the API, at any depth: answers, and the bodies of events. */
export function namesInJson(value: unknown): string[] {
  const names = new Set<string>();
  collect(value, names);
  return [...names];
}

// A name ends with the id.
const findMissing = `
  SELECT name FROM (
    SELECT name, split_part(name, ' ', 1) AS kind, split_part(name, ' ', 2)::bigint AS id FROM unnest($2::text[]) name) told
  WHERE CASE kind
    WHEN 'contact' THEN NOT EXISTS (SELECT FROM contacts c WHERE c.account_id = $1 AND c.id = told.id)
    WHEN 'conversation' THEN NOT EXISTS (SELECT FROM conversations c WHERE c.account_id = $1 AND c.id = told.id)
    WHEN 'message' THEN NOT EXISTS (SELECT FROM messages m WHERE m.account_id = $1 AND m.id = told.id
      AND NOT m.content_attributes @> '{"deleted": true}')
    ELSE false END`;

/** Returns the names among these whose record in the account is erased. */
export async function findErased(sql: Sql, accountId: number, names: readonly string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const rows = await sql<{ name: string }>(findMissing, [accountId, names]);
  return new Set(rows.map(({ name }) => name));
}

function collect(value: unknown, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) collect(item, names);
    return;
  }
  const kind = kindOf(value);
  if (kind) add(names, kind, (value as { id?: unknown }).id);
  for (const [key, inner] of Object.entries(value)) {
    if (key.endsWith(othersWords)) continue;
    const [, named] = byKey.exec(key) ?? [];
    if (named) add(names, named as NamedKind, isRecord(inner) ? inner['id'] : inner);
    collect(inner, names);
  }
}

// Records are recognized by fields that no other record has.
function kindOf(value: object): NamedKind | null {
  if ('message_type' in value) return 'message';
  if ('status' in value && ('inbox_id' in value || 'last_activity_at' in value)) return 'conversation';
  if ('phone_number' in value) return 'contact';
  // A sender is no more than id, name and type.
  return 'type' in value && String(value.type).toLowerCase() === 'contact' ? 'contact' : null;
}

// Bodies of events have some ids as text.
function add(names: Set<string>, kind: NamedKind, id: unknown): void {
  if (Number.isSafeInteger(Number(id)) && Number(id) > 0) names.add(nameOf(kind, Number(id)));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
