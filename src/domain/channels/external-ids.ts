import type { Transaction } from '../../events/transaction.ts';

/** A message of an inbox, and its id in the other system. */
interface ExternalMessage {
  inboxId: number;
  externalId: string;
  messageId: number;
  /** JSON of the files that it awaits, and the request of a hook that brings them; absent for none. */
  awaited?: { files: string; requestId: number | null };
}

/** Returns the message of the inbox that the other system knows by this id; null when there is none. */
export async function findByExternalId(
  { sql, account }: Transaction,
  inboxId: number,
  externalId: string,
): Promise<number | null> {
  const [found] = await sql<{ message_id: number }>(
    'SELECT message_id FROM channel_messages WHERE account_id = $1 AND inbox_id = $2 AND external_id = $3',
    [account.id, inboxId, externalId],
  );
  return found?.message_id ?? null;
}

/** Keeps the id of a message in the other system, which may be inserted later in the transaction; an id that is known stays. */
export async function keepExternalId(
  { sql, account }: Transaction,
  { inboxId, externalId, messageId, awaited }: ExternalMessage,
): Promise<void> {
  await sql(
    `INSERT INTO channel_messages (account_id, inbox_id, external_id, message_id, awaited, awaited_by)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6)
     ON CONFLICT (account_id, inbox_id, external_id) DO NOTHING`,
    [account.id, inboxId, externalId, messageId, awaited?.files ?? null, awaited?.requestId ?? null],
  );
}

/** Returns the conversation of a message; null when it is gone. */
export async function conversationOf({ sql, account }: Transaction, messageId: number): Promise<number | null> {
  const [place] = await sql<{ conversation_id: number }>(
    'SELECT conversation_id FROM messages WHERE account_id = $1 AND id = $2',
    [account.id, messageId],
  );
  return place?.conversation_id ?? null;
}
