import type { EntityManager } from '@mikro-orm/postgresql';
import { Label } from '../../records/label.ts';
import { invalid, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { differs } from '../differs.ts';
import { sql } from '../../postgres/sql.ts';
import { brokenUniqueConstraint } from '../../postgres/errors.ts';
import { detachAndRemove, type Transact } from '../conversations/detach.ts';
import { holdConversations, noteRename, tellRename, tellRest } from './renames.ts';
import { maxLabelsPerAccount } from '../conversations/labels.ts';

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

/** The labels of the account, by title; their number is bounded, so they come whole. */
export function listLabels(em: EntityManager, accountId: number): Promise<Label[]> {
  return em.find(Label, { accountId }, { orderBy: { title: 'asc' } });
}

async function flushLabel(tx: Transaction): Promise<void> {
  try {
    await tx.em.flush();
  } catch (error) {
    if (brokenUniqueConstraint(error) !== 'labels_title_unique') throw error;
    throw invalid('/title', 'unique', 'Another label of this account has this title');
  }
}

/** Creates a label. Errors: 422 for a title that another label has, and when the account has too many. */
export async function createLabel(tx: Transaction, input: NewLabel): Promise<Label> {
  const accountId = tx.account.id;
  if ((await tx.em.count(Label, { accountId })) >= maxLabelsPerAccount) {
    throw invalid('', 'limit', `An account can have at most ${maxLabelsPerAccount} labels`);
  }
  const label = tx.em.create(Label, { ...input, accountId, createdAt: tx.now, updatedAt: tx.now });
  await flushLabel(tx);
  return label;
}

async function lockLabel(tx: Transaction, id: number): Promise<string> {
  const [row] = await sql<{ title: string }>(
    tx.em,
    'SELECT title FROM labels WHERE account_id = $1 AND id = $2 FOR UPDATE',
    [tx.account.id, id],
  );
  if (!row) throw notFound('Label');
  return row.title;
}

// With few carriers all is one transaction; the rest of many follows in others.
async function renameLabel(tx: Transaction, label: Label, title: string): Promise<void> {
  // Conversations before the label, as those who label a conversation do.
  await holdConversations(tx, `${carriers} ORDER BY conversation_id LIMIT ${renameBatch}`, [label.id]);
  const previousTitle = await lockLabel(tx, label.id);
  label.title = title;
  await flushLabel(tx);
  if (title === previousTitle) return;
  await noteRename(tx, label.id, previousTitle);
  await tellRename(tx, label.id);
}

async function changeLabel(tx: Transaction, id: number, input: Partial<NewLabel>): Promise<Label> {
  const label = await tx.em.findOne(Label, { id, accountId: tx.account.id });
  if (!label) throw notFound('Label');
  if (!differs(label, input)) return label;
  const { title, ...rest } = input;
  if (title !== undefined) await renameLabel(tx, label, title);
  Object.assign(label, { ...rest, updatedAt: tx.now });
  await tx.em.flush();
  return label;
}

/**
 * Changes a label. A new title shows on the conversations that carry it: says conversation_updated for each, a batch to a
 * transaction; after a crash in between, the service goes on by itself. Errors: 404; 422 for a title that another label
 * has.
 */
export async function updateLabel(transact: Transact, id: number, input: Partial<NewLabel>): Promise<Label> {
  const label = await transact((tx) => changeLabel(tx, id, input));
  if (input.title !== undefined) await tellRest(transact, id);
  return label;
}

/** Deletes a label, and takes it off every conversation: says conversation_updated for each. Errors: 404. */
export async function deleteLabel(transact: Transact, id: number): Promise<void> {
  await detachAndRemove(transact, id, {
    referring: carriers,
    detach: async (tx, conversations) => {
      const ids = conversations.map((conversation) => conversation.id);
      const rows = await sql<{ id: number; title: string }>(
        tx.em,
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
    remove: (tx) => tx.em.nativeDelete(Label, { id, accountId: tx.account.id }),
  });
}
