import type { Conversation } from '../../../records/conversations/conversation.ts';
import type { WorkingDay } from '../../../records/inbox.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { isOpen, weekOf } from '../deadlines/working-hours.ts';

interface Row {
  greeting: string | null;
  working_hours_enabled: boolean;
  working_hours: WorkingDay[];
  timezone: string;
  out_of_office: string | null;
  first: boolean;
}

// A blank text counts as none.
const statement = `
  SELECT CASE WHEN greeting_enabled AND greeting_message ~ '\\S' THEN greeting_message END AS greeting,
    working_hours_enabled, working_hours, timezone,
    CASE WHEN out_of_office_message ~ '\\S' THEN out_of_office_message END AS out_of_office,
    NOT EXISTS (SELECT FROM messages WHERE account_id = $1 AND conversation_id = $3 AND message_type = 'incoming'
      AND id <> $4) AS first
  FROM inboxes WHERE account_id = $1 AND id = $2`;

/**
 * The inbox's automatic answer to a customer's message, or null: to the first message the greeting; outside of working
 * hours, to a message that begins or reopens the conversation, the out-of-office message instead.
 */
export async function findGreeting(
  tx: Transaction,
  conversation: Conversation,
  { messageId, reopened }: { messageId: number; reopened: boolean },
): Promise<string | null> {
  const { inbox, contact } = conversation;
  if (contact.blocked) return null;
  const [row] = await tx.sql<Row>(statement, [tx.account.id, inbox.id, conversation.id, messageId]);
  if (!row || !(row.first || reopened)) return null;
  const greeting = row.first ? row.greeting : null;
  if (!row.working_hours_enabled || isOpen(weekOf(row.working_hours), row.timezone, tx.now)) return greeting;
  return row.out_of_office ?? greeting;
}
