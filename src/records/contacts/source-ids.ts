import type { Part } from '../../postgres/write-set.ts';
import type { Conversation } from '../conversations/conversation.ts';

/** The external identifiers of one contact in one inbox, at most. */
export const maxSourceIds = 20;

/**
 * Has the contact of a new conversation be in its inbox: by the conversation's `source_id`, unless another contact has that
 * one; else, where the contact is not there yet, by one that is made, and that admits its holder by the public door.
 */
export function joinInbox({ contact, inbox, sourceId, createdAt }: Conversation, index: number): Part {
  return {
    shape: `join_${index}`,
    hot: index === 0,
    parameters: [contact.id, inbox.id, sourceId, createdAt],
    text: (first) => `joined_${index} AS (
      INSERT INTO contact_inboxes (account_id, contact_id, inbox_id, source_id, admits, created_at)
      SELECT $1, $${first}::bigint, $${first + 1}::bigint, coalesce(free.source_id, gen_random_uuid()::text),
        free.source_id IS NULL, $${first + 3}::timestamptz
      FROM (SELECT count(*) AS count FROM contact_inboxes
        WHERE account_id = $1 AND contact_id = $${first} AND inbox_id = $${first + 1}) own
      LEFT JOIN (SELECT $${first + 2}::text AS source_id) free ON free.source_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM contact_inboxes WHERE account_id = $1 AND inbox_id = $${first + 1} AND source_id = $${first + 2})
      WHERE own.count = 0 OR own.count < ${maxSourceIds} AND free.source_id IS NOT NULL
      ON CONFLICT DO NOTHING)`,
  };
}
