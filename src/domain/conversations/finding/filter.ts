import { contactText } from '../../../records/contacts/search-text.ts';
import type { ConversationStatus } from '../../../records/conversations/conversation.ts';
import type { Actor } from '../../../events/transaction.ts';
import { containing } from '../../../postgres/like.ts';
import { visibleConversations } from '../access.ts';

/** Which conversations to list, in which order, and which page. */
export interface ConversationFilter {
  status: ConversationStatus | null;
  assigneeType: 'me' | 'unassigned' | 'all' | 'assigned';
  /** Titles; a conversation with any of them matches. */
  labels: readonly string[] | null;
  /** Conversations of this contact only; null for all. */
  contactId: number | null;
  inboxId: number | null;
  teamId: number | null;
  /** Text in a public message, or in the contact's name, e-mail address, phone number or identifier, in any case. */
  text: string | null;
  sort: 'created_at' | 'updated_at' | 'last_activity_at';
  ascending: boolean;
  page: number;
}

/** The parameters `$1` to `$8` of the conditions below: the account, the actor, and the filter's values. */
export function parametersOf(accountId: number, actor: Actor, filter: ConversationFilter): unknown[] {
  const { status, labels, contactId, inboxId, teamId, text } = filter;
  return [accountId, actor.id, status, labels, contactId, inboxId, teamId, text === null ? null : containing(text)];
}

/** FROM and WHERE of the matching conversations `c`, with any assignee. */
export function matching(actor: Actor, { text: wanted }: ConversationFilter): string {
  return `FROM conversations c WHERE ${ofKind(actor)} AND ($5::bigint IS NULL OR c.contact_id = $5)
      AND ($4::text[] IS NULL OR EXISTS (SELECT FROM conversation_labels cl
        JOIN labels l ON l.account_id = cl.account_id AND l.id = cl.label_id
        WHERE cl.account_id = c.account_id AND cl.conversation_id = c.id AND l.title = ANY ($4)))
      AND ${wanted === null ? '$8::text IS NULL' : `c.id IN (${conversationsWithText})`}`;
}

/** The part of the filter that rows of counts can answer: a condition on `c`, a conversation or a row of counts. */
export function ofKind(actor: Actor): string {
  return `c.account_id = $1 AND ${visibleConversations(actor)} AND ($3::text IS NULL OR c.status = $3)
      AND ($6::bigint IS NULL OR c.inbox_id = $6) AND ($7::bigint IS NULL OR c.team_id = $7)`;
}

/** The filter by assignee: a condition on `c`. */
export function assigneeCondition(actor: Actor, type: ConversationFilter['assigneeType']): string {
  if (type === 'all') return 'true';
  if (type === 'me') return isMine(actor);
  return type === 'assigned' ? 'c.assignee_id IS NOT NULL' : 'c.assignee_id IS NULL';
}

/** Whether `c` is assigned to the actor: a condition. Only agents are assignees. */
export function isMine(actor: Actor): string {
  return actor.kind === 'user' ? 'c.assignee_id = $2' : 'false';
}

// Written as the trigram indexes of messages and contacts are, so that both are used.
const conversationsWithText = `
  SELECT m.conversation_id FROM messages m WHERE m.account_id = $1 AND NOT m.private AND m.content ILIKE $8
  UNION SELECT o.id FROM contacts k JOIN conversations o ON o.account_id = k.account_id AND o.contact_id = k.id
  WHERE k.account_id = $1
    AND ${contactText} LIKE lower($8)`;
