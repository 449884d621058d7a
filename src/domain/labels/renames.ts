import type { Database } from '../../postgres/database.ts';
import { system, transact, type Transaction, type Transact } from '../../events/transaction.ts';
import { holdConversations } from '../conversations/hold.ts';
import { updateConversations, type Change } from '../conversations/assignment/detach.ts';
import { sweep } from '../upkeep/sweep.ts';

// Conversations in one transaction, so that none locks many for long.
const batch = 200;
const untold = `SELECT conversation_id FROM label_renames WHERE account_id = $1 AND label_id = $2
  ORDER BY conversation_id LIMIT ${batch}`;

/** Stores for each conversation with the label that the rename is still to be said; an earlier stored title is kept. */
export async function noteRename(tx: Transaction, labelId: number, previousTitle: string): Promise<void> {
  await tx.sql(
    `INSERT INTO label_renames (account_id, label_id, conversation_id, previous_title)
     SELECT account_id, label_id, conversation_id, $3 FROM conversation_labels WHERE account_id = $1 AND label_id = $2
     ON CONFLICT DO NOTHING`,
    [tx.account.id, labelId, previousTitle],
  );
}

/** Says conversation_updated for a batch of the conversations for which the rename is still to be said; true while more are left. */
export async function tellRename(tx: Transaction, labelId: number): Promise<boolean> {
  // Lock order: conversations before the label. Read afterwards, when the title cannot change any more.
  await holdConversations(tx, untold, [labelId]);
  const [label] = await tx.sql<{ title: string }>(
    'SELECT title FROM labels WHERE account_id = $1 AND id = $2 FOR KEY SHARE',
    [tx.account.id, labelId],
  );
  if (!label) return false;
  const conversations = await tx.conversations({ ids: untold, parameters: [labelId] });
  const told = await tx.sql<{ conversation_id: number; previous_title: string }>(
    `DELETE FROM label_renames WHERE account_id = $1 AND label_id = $2 AND conversation_id = ANY ($3)
     RETURNING conversation_id, previous_title`,
    [tx.account.id, labelId, conversations.map(({ id }) => id)],
  );
  const titles = new Map(told.map((row) => [row.conversation_id, row.previous_title]));
  const changes = conversations.flatMap((conversation): Change[] => {
    const previousTitle = titles.get(conversation.id);
    // Renamed back to the title that was said last.
    if (previousTitle === undefined || previousTitle === label.title) return [];
    const current = conversation.labels;
    const previous = current.map((title) => (title === label.title ? previousTitle : title)).sort();
    return [{ conversation, changed: { labels: { previous, current } } }];
  });
  updateConversations(tx, changes);
  return told.length === batch;
}

/** Says conversation_updated for all remaining conversations, in batches, one transaction each. */
export async function tellRest(transactHere: Transact, labelId: number): Promise<void> {
  while (await transactHere((tx) => tellRename(tx, labelId)));
}

interface Unfinished {
  label_id: number;
  account_id: number;
  account_name: string;
}

const pageSize = 100;

function findUnfinished(database: Database, after: Unfinished | null): Promise<Unfinished[]> {
  return database.sql<Unfinished>(
    `SELECT DISTINCT r.label_id, r.account_id, a.name AS account_name
     FROM label_renames r JOIN accounts a ON a.id = r.account_id WHERE r.label_id > $1 ORDER BY r.label_id LIMIT ${pageSize}`,
    [after?.label_id ?? 0],
  );
}

async function finishOne(database: Database, { label_id: id, account_id, account_name }: Unfinished): Promise<number> {
  const account = { id: account_id, name: account_name };
  await tellRest((work) => transact(database, { account, actor: system }, work), id);
  return 1;
}

/** Continues renames that a crash interrupted; returns the number of labels. */
export function finishRenames(database: Database): Promise<number> {
  return sweep<Unfinished>(database, {
    name: 'telling of renamed labels',
    nameOf: ({ label_id: id, account_id: accountId }) => `label ${id} of account ${accountId}`,
    page: (after) => findUnfinished(database, after),
    pageSize,
    atOnce: 1,
    work: async ([rename]) => (rename ? finishOne(database, rename) : 0),
  });
}
