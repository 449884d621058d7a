import { jsonOf } from '../schemas.ts';
import { payloadSchema, type Audience, type EventName } from './catalog.ts';
import { blank, shownIn, withoutMessage } from './formats/blank.ts';
import type { Transaction } from './transaction.ts';

type Payload = Record<string, unknown>;

interface StoredEvent {
  id: number;
  name: EventName;
  account_payload: Payload | null;
  bot_payload: Payload | null;
  chatwoot_payload: Payload | null;
  /** Whether it tells of the message; else a conversation in it shows the message. */
  is_own: boolean;
}

/** Events whose bodies are looked at in one statement: each may have bodies of several hundred kilobytes. */
const pageEvents = 100;

const listStatement = 'SELECT id FROM events WHERE account_id = $1 AND conversation_id = $2 ORDER BY id';

// The id is a string in account payloads and a number in bot payloads; ->> makes both text.
const findStatement = `
  SELECT * FROM (
    SELECT id, name, account_payload, bot_payload, chatwoot_payload,
      name IN ('message_created', 'message_updated') AND coalesce(account_payload, bot_payload)->>'id' = $3 AS is_own
    FROM events WHERE account_id = $1 AND conversation_id = $2 AND id = ANY ($4)) e
  WHERE is_own OR $3 = ANY (ARRAY[${shownIn.map((path) => `chatwoot_payload #>> '{${path},0,id}'`).join(', ')}]) ORDER BY id`;

const rewriteStatement = `
  UPDATE events e SET account_payload = coalesce(told.account_payload::json, e.account_payload),
    bot_payload = coalesce(told.bot_payload::json, e.bot_payload), chatwoot_payload = told.chatwoot_payload::json
  FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) AS told (id, account_payload, bot_payload, chatwoot_payload)
  WHERE e.account_id = $1 AND e.id = told.id`;

/**
 * Deletes a message's content and files from its recorded events, and from others whose bodies show it in their conversation:
 * retries deliver them without it, and no log or feed shows it any more. An attempt in progress may still carry it. Returns
 * the ids of these events.
 */
export async function blankMessage(
  tx: Transaction,
  { conversationId, messageId }: { conversationId: number; messageId: number },
): Promise<number[]> {
  const blanked: number[] = [];
  const listed = await tx.sql<{ id: number }>(listStatement, [tx.account.id, conversationId]);
  for (let start = 0; start < listed.length; start += pageEvents) {
    const page = listed.slice(start, start + pageEvents).map(({ id }) => id);
    const values = [tx.account.id, conversationId, String(messageId), page];
    const events = await tx.sql<StoredEvent>(findStatement, values);
    await rewriteEvents(tx, messageId, events);
    blanked.push(...events.map(({ id }) => id));
  }
  return blanked;
}

async function rewriteEvents(tx: Transaction, messageId: number, events: readonly StoredEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.sql(rewriteStatement, [
    tx.account.id,
    events.map(({ id }) => id),
    events.map((event) => rewrite(event, 'account', event.account_payload)),
    events.map((event) => rewrite(event, 'bot', event.bot_payload)),
    events.map((event) => event.chatwoot_payload && JSON.stringify(withoutMessage(event.chatwoot_payload, messageId))),
  ]);
}

function rewrite({ name, is_own: isOwn }: StoredEvent, audience: Audience, payload: Payload | null): string | null {
  if (!isOwn || !payload) return null;
  // Events of 0.1.0 tell nothing of their cause.
  const cause = audience === 'account' ? { actor: null, depth: 0 } : {};
  return jsonOf(payloadSchema(name, audience), { ...cause, ...withoutContent(payload) });
}

function withoutContent({ attachments: _files, ...payload }: Payload): Payload {
  const changed = payload['changed_attributes'] as Record<string, unknown> | undefined;
  if (!changed) return { ...payload, ...blank };
  const names = Object.keys(blank).filter((name) => name in changed) as (keyof typeof blank)[];
  const blanked = Object.fromEntries(names.map((name) => [name, { previous: null, current: blank[name] }]));
  return { ...payload, ...blank, changed_attributes: { ...changed, ...blanked } };
}
