import type { Actor } from '../../../events/transaction.ts';
import type { Sql } from '../../../postgres/sql.ts';
import type { Attachment } from '../../../records/messages/attachment.ts';
import { findMessagesById, type Message } from '../../../records/messages/message.ts';
import type { Page } from '../../small-rows.ts';
import { visibleConversations } from '../access.ts';

/** A file, and the message that it was sent with, whose text may be shortened. */
export interface SentFile {
  file: Attachment;
  message: Message;
}

const perPage = 100;
const places = { conversation: 'c.id', contact: 'c.contact_id' } as const;

/** Returns a page of the files in a conversation, or in those of a contact that the actor may see, the newest first. */
export async function findSentFiles(
  sql: Sql,
  { accountId, actor }: { accountId: number; actor: Actor },
  { of, id, page }: { of: keyof typeof places; id: number; page: number },
): Promise<Page<SentFile>> {
  const found = await sql<{ count: number; id: number | null; message_id: number }>(
    `WITH found AS MATERIALIZED (
       SELECT a.id, a.message_id FROM conversations c
       JOIN attachments a ON a.account_id = c.account_id AND a.conversation_id = c.id
       WHERE c.account_id = $1 AND ${places[of]} = $3 AND ${visibleConversations(actor)} AND a.message_id IS NOT NULL
     )
     SELECT total.count, page.id, page.message_id FROM (SELECT count(*) AS count FROM found) total
     LEFT JOIN (SELECT * FROM found ORDER BY id DESC LIMIT $4 OFFSET $5) page ON true ORDER BY page.id DESC`,
    [accountId, actor.id, id, perPage, (page - 1) * perPage],
  );
  const present = found.filter((row) => row.id !== null);
  const ids = [...new Set(present.map((row) => row.message_id))];
  const messages = await findMessagesById(sql, accountId, ids, { isShortened: true });
  const byId = new Map(messages.map((message) => [message.id, message]));
  const rows = present.flatMap((row): SentFile[] => {
    const message = byId.get(row.message_id);
    const file = message?.attachments.find((one) => one.id === row.id);
    return message && file ? [{ file, message }] : [];
  });
  return { rows, count: found[0]?.count ?? 0, page, perPage };
}
