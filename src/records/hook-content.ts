import type { Sql } from '../postgres/sql.ts';
import { moment } from '../postgres/sql.ts';
import { isTooDeep } from '../lib/text/json-depth.ts';
import { fieldOfPart } from './bots/part.ts';
import { emptyFiles } from './embedded-files.ts';
import { unixSeconds } from '../lib/unix-time.ts';

/** A request as a run gets it, for `ctx.hook`. */
interface HookContent {
  name: string;
  id: number;
  headers: Record<string, string>;
  /** Whether the text is JSON that a plugin gets as `json`. */
  is_json: boolean;
  text: string;
  form: Record<string, string> | null;
  received_at: number;
}

interface Row {
  headers: [name: string, value: string][];
  body: Buffer;
  received_at: string;
  /** Where the plugin's manifest says that the body has files. */
  files: string | null;
}

interface HookEvent {
  request_id: number;
  hook: { id: number; name: string };
}

/**
 * Returns the body of a `hook_received` with the content of its request as `hook`; null when the request is deleted. The text
 * is the same each time: runs are repeated with it.
 */
export async function withHookContent(
  sql: Sql,
  accountId: number,
  event: Record<string, unknown>,
): Promise<Record<string, unknown> | null> {
  const { request_id: id, hook } = event as unknown as HookEvent;
  const [row] = await sql<Row>(
    `SELECT r.headers, r.body, r.received_at, ${fieldOfPart('v.manifest', 'b.kind', 'hooks')} -> h.handler ->> 'files' AS files
     FROM hook_requests r JOIN hooks h ON h.account_id = r.account_id AND h.id = r.hook_id
     JOIN agent_bots b ON b.id = h.agent_bot_id
     LEFT JOIN plugins p ON p.id = b.plugin_id LEFT JOIN plugin_bundles v ON v.hash = p.active_hash
     WHERE r.account_id = $1 AND r.id = $2 AND r.outcome = 'accepted' AND r.erased_at IS NULL`,
    [accountId, id],
  );
  return row ? { ...event, hook: contentOf(row, { id, name: hook.name }) } : null;
}

function contentOf(
  { headers, body, received_at: receivedAt, files }: Row,
  { id, name }: { id: number; name: string },
): HookContent {
  const text = files === null ? body.toString() : withoutFiles(body.toString(), files);
  const fields = headersOf(headers);
  const type = (fields['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  const isForm = type === 'application/x-www-form-urlencoded';
  return {
    name,
    id,
    headers: fields,
    is_json: !isForm && isJson(text),
    text,
    form: isForm ? formOf(text) : null,
    received_at: unixSeconds(moment(receivedAt)),
  };
}

// Files of many megabytes would fill the memory of a run; the plugin names them by their places.
function withoutFiles(text: string, place: string): string {
  if (!isJson(text)) return text;
  const json: unknown = JSON.parse(text);
  emptyFiles(json, place);
  return JSON.stringify(json);
}

function headersOf(headers: Row['headers']): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of headers) values.set(name, values.has(name) ? `${values.get(name)}, ${value}` : value);
  return Object.fromEntries(values);
}

function formOf(text: string): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) if (!values.has(name)) values.set(name, value);
  return Object.fromEntries(values);
}

// A text may be JSON of any depth; walks through values end at a bound.
function isJson(text: string): boolean {
  try {
    return !isTooDeep(JSON.parse(text));
  } catch {
    return false;
  }
}
