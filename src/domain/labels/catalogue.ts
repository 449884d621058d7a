import { Label } from '../../records/label.ts';
import type { Transaction, Transact } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { detachAndRemove } from '../conversations/assignment/detach.ts';
import { holdConversations } from '../conversations/hold.ts';
import { noteRename, tellRename, tellRest } from './renames.ts';
import { maxLabelsPerAccount, takeLabelTurn } from '../conversations/label-making.ts';
import {
  checkRoom,
  createRow,
  deleteRows,
  findRows,
  lockOne,
  readOne,
  save,
  uniqueOr422,
  update,
} from '../small-rows.ts';

export interface NewLabel {
  title: string;
  description: string | null;
  /** `#rrggbb` or `#rgb`. */
  color: string;
  showOnSidebar: boolean;
}

// Conversations that a rename locks in its own transaction.
const renameBatch = 200;
const carriers = 'SELECT conversation_id FROM conversation_labels WHERE account_id = $1 AND label_id = $2';

/** All labels of the account, by title; their number is limited, so there are no pages. */
export function listLabels(sql: Sql, accountId: number): Promise<Label[]> {
  return findRows(sql, Label, { accountId }, { orderBy: { title: 'asc' } });
}

const refuseTitle = uniqueOr422('labels_title_unique', '/title', 'Another label of this account has this title');

/** Creates a label. Errors: 422 for a title in use, and when the account has too many labels. */
export async function createLabel(tx: Transaction, input: NewLabel): Promise<Label> {
  await takeLabelTurn(tx);
  await checkRoom(tx, Label, { most: maxLabelsPerAccount, plural: 'labels' });
  return createRow(tx.sql, Label, { ...input, accountId: tx.account.id, createdAt: tx.now, updatedAt: tx.now }).catch(
    refuseTitle,
  );
}

function lockLabel(tx: Transaction, id: number): Promise<Label> {
  return lockOne(tx.sql, Label, { id, accountId: tx.account.id });
}

// Lock order: conversations before the label, as when a conversation is labelled.
async function lockForChange(tx: Transaction, id: number, title: string | undefined): Promise<Label> {
  if (title !== undefined) {
    const label = await readOne(tx.sql, Label, { id, accountId: tx.account.id });
    if (label.title !== title) {
      await holdConversations(tx, `${carriers} ORDER BY conversation_id LIMIT ${renameBatch}`, [id]);
    }
  }
  return lockLabel(tx, id);
}

// A rename says conversation_updated for the first batch in its own transaction; tellRest does the others.
async function changeLabel(tx: Transaction, id: number, input: Partial<NewLabel>): Promise<Label> {
  const label = await lockForChange(tx, id, input.title);
  const previousTitle = label.title;
  if (!update(label, input, tx.now)) return label;
  await save(tx.sql, label).catch(refuseTitle);
  if (label.title === previousTitle) return label;
  await noteRename(tx, id, previousTitle);
  await tellRename(tx, id);
  return label;
}

/**
 * Changes a label. Says conversation_updated for each conversation with a label whose title changed, in batches, one
 * transaction each; after a crash a sweep continues. Errors: 404, 422 for a title in use.
 */
export async function updateLabel(transact: Transact, id: number, input: Partial<NewLabel>): Promise<Label> {
  const label = await transact((tx) => changeLabel(tx, id, input));
  if (input.title !== undefined) await tellRest(transact, id);
  return label;
}

/** Deletes a label and removes it from all conversations. Says conversation_updated for each. Errors: 404. */
export async function deleteLabel(transact: Transact, id: number): Promise<void> {
  await detachAndRemove(transact, id, {
    referring: carriers,
    detach: async (tx, conversations) => {
      const ids = conversations.map((conversation) => conversation.id);
      const rows = await tx.sql<{ id: number; title: string }>(
        `DELETE FROM conversation_labels cl USING labels l
         WHERE cl.account_id = $1 AND cl.label_id = $2 AND cl.conversation_id = ANY ($3)
           AND l.account_id = cl.account_id AND l.id = cl.label_id
         RETURNING cl.conversation_id AS id, l.title`,
        [tx.account.id, id, ids],
      );
      const removed = new Map(rows.map((row) => [row.id, row.title]));
      return conversations.flatMap((conversation) => {
        const title = removed.get(conversation.id);
        if (title === undefined) return [];
        const previous = conversation.labels;
        conversation.labels = previous.filter((carried) => carried !== title);
        return [{ conversation, changed: { labels: { previous, current: conversation.labels } } }];
      });
    },
    lock: (tx) => lockLabel(tx, id),
    remove: (tx) => deleteRows(tx.sql, Label, { id, accountId: tx.account.id }),
  });
}
