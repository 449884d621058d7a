import { prepared } from '../../postgres/prepared.ts';
import type { Statement } from '../../postgres/sql-transaction.ts';
import { joins } from './rows.ts';
import type { Conversation } from './conversation.ts';

/** A conversation as it was read without a lock, and an id for the next message in it. */
export interface Presumed {
  conversation: Conversation;
  /** Value of `versionColumn` when the conversation was read. */
  version: string;
  messageId: number;
}

/**
 * SQL of a text that is another one when anything was changed that `columns` show, but for the titles of labels: the versions
 * of the rows, with that of `c` in its column `version`.
 */
export const versionColumn = `concat_ws(' ', c.version::text, a.xmin::text, i.xmin::text, ct.xmin::text,
  coalesce(u.xmin::text, '-'), coalesce(t.xmin::text, '-'), coalesce(b.xmin::text, '-'))`;

/** SQL of the columns of conversations that versionColumn needs. */
export const versioned = '*, xmin AS version';

// If another transaction held the lock, the version differs, unless the row is as it was.
const verifyStatement = prepared(`
  WITH c AS MATERIALIZED (SELECT ${versioned} FROM conversations WHERE account_id = $1 AND id = $2 FOR UPDATE)
  SELECT CASE WHEN (SELECT ${versionColumn} FROM c ${joins}) = $3
    AND ($4 = 0 OR $4 + (SELECT count(*) FROM messages WHERE account_id = $1 AND conversation_id = $2
      AND created_at > $5 AND sender_kind IN ('agent_bot', 'automation') AND NOT private) <= $6)
    THEN true ELSE refuse_presumption() END`);

/** How many public messages bots may have written since a moment, with those to come. */
export interface BotMessageBound {
  toCome: number;
  since: Date;
  most: number;
}

/** Locks the conversation; fails when it is not as presumed, is gone, or its bots would have said more than they may. */
export function verifying(
  accountId: number,
  { conversation, version }: Presumed,
  { toCome, since, most }: BotMessageBound,
): Statement {
  return { text: verifyStatement, parameters: [accountId, conversation.id, version, toCome, since, most] };
}
