import type { Sql } from '../../postgres/sql.ts';
import { Contact } from '../../records/contacts/contact.ts';
import { findConversation } from '../../records/conversations/rows.ts';
import { Inbox } from '../../records/inbox.ts';
import { findRow } from '../small-rows.ts';
import { isOpen, weekOf } from './deadlines/working-hours.ts';

/**
 * Returns a conversation, its contact, and whether its inbox is open now; without a conversation the contact. An inbox without
 * working hours is always open.
 */
export async function readCurrent(
  sql: Sql,
  {
    accountId,
    conversationId,
    contactId,
  }: { accountId: number; conversationId: number | null; contactId: number | null },
  now: Date,
) {
  const conversation = conversationId === null ? null : await findConversation(sql, accountId, conversationId);
  const id = conversation?.contact.id ?? contactId;
  const contact = id === null ? null : await findRow(sql, Contact, { id, accountId });
  const inbox = conversation && (await findRow(sql, Inbox, { id: conversation.inbox.id, accountId }));
  const keepsHours = inbox?.workingHoursEnabled ?? false;
  const isWithin = inbox && (!keepsHours || isOpen(weekOf(inbox.workingHours), inbox.timezone, now));
  return { conversation, contact, isOpen: isWithin };
}
