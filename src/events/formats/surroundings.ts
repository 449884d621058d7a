import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import { newestPublicColumn } from '../../records/messages/listed.ts';
import { toMessage, type MessageRow } from '../../records/messages/message.ts';
import type { RecordedEvent } from '../outbox.ts';
import { wantsNewest } from './chatwoot.ts';
import type { Surroundings } from './told.ts';

interface Row {
  index: number;
  custom_attributes: Record<string, unknown> | null;
  additional_attributes: Record<string, unknown> | null;
  contact_inbox_id: number | null;
  source_id: string | null;
  last_message: MessageRow | null;
}

const wantsFormat = `w.account_id = $1 AND w.active AND w.format = 'chatwoot'`;

// A contact may be known in an inbox by several identifiers: that of the conversation goes first.
const statement = prepared(`
  SELECT t.index, k.custom_attributes, k.additional_attributes, ci.id AS contact_inbox_id, ci.source_id,
    ${newestPublicColumn('t.shows_newest_of')}
  FROM unnest($2::int[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[])
    AS t (index, name, inbox_id, bot_id, contact_id, source_id, shows_newest_of)
  LEFT JOIN contacts k ON k.account_id = $1 AND k.id = t.contact_id
  LEFT JOIN LATERAL (
    SELECT ci.id, ci.source_id FROM contact_inboxes ci
    WHERE ci.account_id = $1 AND ci.contact_id = t.contact_id AND ci.inbox_id = t.inbox_id
    ORDER BY ci.source_id = t.source_id DESC NULLS LAST, ci.id LIMIT 1) ci ON true
  WHERE EXISTS (SELECT FROM webhooks w WHERE ${wantsFormat} AND t.name = ANY (w.subscriptions)
      AND (w.inbox_id IS NULL OR w.inbox_id = t.inbox_id))
    OR EXISTS (SELECT FROM agent_bots b WHERE b.id = t.bot_id AND b.format = 'chatwoot')`);

const wantingStatement = prepared(`SELECT EXISTS (SELECT FROM webhooks w WHERE ${wantsFormat}) OR EXISTS (
  SELECT FROM agent_bots b WHERE b.format = 'chatwoot' AND (b.account_id = $1 OR b.account_id IS NULL)) AS wants`);

/** Whether any webhook of the account, or bot that it can use, wants bodies of the format. */
export async function wantsAny(sql: Sql, accountId: number): Promise<boolean> {
  const [row] = await sql<{ wants: boolean }>(wantingStatement, [accountId]);
  return row?.wants ?? false;
}

/** Returns the surroundings of each event of the account that a subscriber wants in the format. */
export async function readSurroundings(
  sql: Sql,
  accountId: number,
  events: readonly RecordedEvent[],
): Promise<Map<RecordedEvent, Surroundings>> {
  const columns = [
    events.map((_, index) => index),
    events.map(({ name }) => name),
    events.map(({ inboxId }) => inboxId),
    events.map(({ bot }) => (bot?.silence === null ? bot.botId : null)),
    events.map(({ kept }) => (kept?.conversation ?? kept)?.contact?.id ?? null),
    events.map(({ kept }) => kept?.conversation?.sourceId ?? null),
    events.map(({ name, kept }) =>
      kept && wantsNewest(name, { subject: kept }) ? (kept.conversation?.id ?? null) : null,
    ),
  ];
  const rows = await sql<Row>(statement, [accountId, ...columns]);
  const found = new Map<RecordedEvent, Surroundings>();
  for (const row of rows) {
    const event = events[row.index];
    if (event) found.set(event, toSurroundings(row));
  }
  return found;
}

function toSurroundings(row: Row): Surroundings {
  const { custom_attributes: customAttributes, additional_attributes: additionalAttributes } = row;
  return {
    contact: customAttributes && additionalAttributes && { customAttributes, additionalAttributes },
    contactInbox:
      row.contact_inbox_id === null || row.source_id === null
        ? null
        : { id: row.contact_inbox_id, sourceId: row.source_id },
    lastMessage: row.last_message && toMessage(row.last_message),
  };
}
