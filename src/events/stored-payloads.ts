import { sql } from '../postgres/sql.ts';
import { jsonOf } from '../schemas.ts';
import { payloadSchema, type Audience, type EventName } from './catalog.ts';
import type { Transaction } from './transaction.ts';

type Payload = Record<string, unknown>;

interface StoredEvent {
  id: number;
  name: EventName;
  account_payload: Payload | null;
  bot_payload: Payload | null;
}

// The id is a string in account payloads and a number in bot payloads; ->> makes both text.
const findStatement = `
  SELECT id, name, account_payload, bot_payload FROM events
  WHERE account_id = $1 AND conversation_id = $2 AND name IN ('message_created', 'message_updated')
    AND coalesce(account_payload, bot_payload)->>'id' = $3 ORDER BY id`;

const rewriteStatement = `
  UPDATE events e SET account_payload = told.account_payload::json, bot_payload = told.bot_payload::json
  FROM unnest($2::bigint[], $3::text[], $4::text[]) AS told (id, account_payload, bot_payload)
  WHERE e.account_id = $1 AND e.id = told.id`;

const blank = { content: '', content_attributes: { deleted: true } };

/**
 * Deletes a message's content and files from its recorded events: retries deliver them without it, and no log or feed shows it any
 * more. An attempt in progress may still carry it.
 */
export async function blankMessage(
  tx: Transaction,
  { conversationId, messageId }: { conversationId: number; messageId: number },
): Promise<void> {
  const events = await sql<StoredEvent>(tx.connection, findStatement, [
    tx.account.id,
    conversationId,
    String(messageId),
  ]);
  await sql(tx.connection, rewriteStatement, [
    tx.account.id,
    events.map(({ id }) => id),
    events.map((event) => rewrite(event, 'account', event.account_payload)),
    events.map((event) => rewrite(event, 'bot', event.bot_payload)),
  ]);
}

function rewrite({ name }: StoredEvent, audience: Audience, payload: Payload | null): string | null {
  return payload && jsonOf(payloadSchema(name, audience), withoutContent(payload));
}

function withoutContent({ attachments: _files, ...payload }: Payload): Payload {
  const changed = payload['changed_attributes'] as Record<string, unknown> | undefined;
  if (!changed) return { ...payload, ...blank };
  const names = Object.keys(blank).filter((name) => name in changed) as (keyof typeof blank)[];
  const blanked = Object.fromEntries(names.map((name) => [name, { previous: null, current: blank[name] }]));
  return { ...payload, ...blank, changed_attributes: { ...changed, ...blanked } };
}
