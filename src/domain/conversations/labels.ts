import type { Conversation } from '../../records/conversations/conversation.ts';
import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import { lockConversation } from './access.ts';
import { countBotChange } from './bots/loops.ts';
import { makeMissingLabels, maxLabelsPerAccount } from './label-making.ts';

/**
 * Adds and removes labels of a conversation, by title; unknown titles become labels of the account. Says
 * conversation_updated when the set changes. Errors: 404, 403, 422 when the account has too many labels.
 */
export async function changeLabels(
  tx: Transaction,
  conversationId: number,
  { add, remove }: { add: readonly string[]; remove: readonly string[] },
): Promise<Conversation> {
  const conversation = await lockConversation(tx, conversationId);
  const previous = conversation.labels;
  const current = [...new Set([...previous, ...add])].filter((title) => !remove.includes(title)).sort();
  if (sameSet(current, previous)) return conversation;
  if (!tx.mayPresume) return relabel(tx, conversation, { current, made: add });
  await removeLabels(tx, conversation, without(previous, current));
  presumeLabels(tx, conversation, { titles: without(current, previous), made: add });
  return sayLabels(tx, conversation, current);
}

/** Sets the titles `current`; those in `made` become labels of the account where they are none yet. */
async function relabel(
  tx: Transaction,
  conversation: Conversation,
  { current, made }: { current: string[]; made: readonly string[] },
): Promise<Conversation> {
  const previous = conversation.labels;
  // Only removed labels are deleted: one that stays may be renamed by another transaction right now.
  await removeLabels(tx, conversation, without(previous, current));
  const unknown = await addLabels(tx, [conversation], { titles: without(current, previous), made });
  if (unknown !== undefined) throw invalid('/labels', 'exists', `There is no label \`${unknown}\``);
  return sayLabels(tx, conversation, current);
}

function sayLabels(tx: Transaction, conversation: Conversation, current: string[]): Conversation {
  countBotChange(tx, conversation);
  const previous = conversation.labels;
  Object.assign(conversation, { labels: current, updatedAt: tx.now });
  tx.record('conversation_updated', { conversation, changed: { labels: { previous, current } } });
  return conversation;
}

async function removeLabels(tx: Transaction, conversation: Conversation, titles: readonly string[]): Promise<void> {
  if (titles.length === 0) return;
  await tx.sql(
    `DELETE FROM conversation_labels cl USING labels l WHERE cl.account_id = $1 AND cl.conversation_id = $2
       AND l.account_id = cl.account_id AND l.id = cl.label_id AND l.title = ANY ($3)`,
    [tx.account.id, conversation.id, titles],
  );
}

// Labels that exist are locked in the order of their ids: a label must not be renamed or deleted before the commit.
const adding = `
  WITH made AS (
    INSERT INTO labels (account_id, title, created_at, updated_at)
    SELECT $1, title, $5, $5 FROM unnest($4::text[]) AS title
    WHERE (SELECT count(*) FROM labels WHERE account_id = $1) + cardinality($4::text[]) <= ${maxLabelsPerAccount}
    ORDER BY title ON CONFLICT (account_id, title) DO NOTHING RETURNING id, title
  ), found AS MATERIALIZED (
    SELECT id, title FROM labels WHERE account_id = $1 AND title = ANY ($3) ORDER BY id FOR KEY SHARE
  ), known AS (
    SELECT id, title FROM made UNION ALL SELECT id, title FROM found
  ), added AS (
    INSERT INTO conversation_labels (account_id, conversation_id, label_id)
    SELECT $1, conversation_id, id FROM known, unnest($2::bigint[]) AS conversation_id WHERE title = ANY ($3)
    ON CONFLICT DO NOTHING
  )`;
const addStatement = prepared(`${adding} SELECT title FROM known`);
const presumeStatement = prepared(`${adding}
  SELECT CASE WHEN (SELECT count(DISTINCT title) FROM known WHERE title = ANY ($3)) = cardinality($3::text[]) THEN true
    ELSE refuse_presumption() END`);

// Adds labels without waiting to hear that the account has them or had room for them.
function presumeLabels(
  tx: Transaction,
  { id }: Conversation,
  { titles, made }: { titles: readonly string[]; made: readonly string[] },
): void {
  if (titles.length === 0 && made.length === 0) return;
  tx.presume({ text: presumeStatement, parameters: [tx.account.id, [id], titles, made, tx.now] });
}

/** Adds labels to conversations, and makes those in `made`; returns the first title that is no label of the account. */
async function addLabels(
  tx: Transaction,
  conversations: readonly Conversation[],
  { titles, made }: { titles: readonly string[]; made: readonly string[] },
): Promise<string | undefined> {
  if (titles.length === 0 && made.length === 0) return undefined;
  const ids = conversations.map(({ id }) => id);
  const add = () => tx.sql<{ title: string }>(addStatement, [tx.account.id, ids, titles, made, tx.now]);
  const missing = (known: readonly { title: string }[]) =>
    titles.find((title) => !known.some((label) => label.title === title));
  const unknown = missing(await add());
  // A label that another transaction made meanwhile is seen by the next statement only.
  return unknown !== undefined && made.includes(unknown) ? missing(await add()) : unknown;
}

/**
 * Adds a label, by title, to locked conversations of a batch, with one statement for all of them. The caller calls the
 * returned function once for each of them: it says conversation_updated unless the conversation had the label. When the
 * account has too many labels, nothing changes and nothing is said.
 */
export async function labelMany(
  tx: Transaction,
  conversations: readonly Conversation[],
  title: string,
): Promise<(conversation: Conversation) => void> {
  const lacking = conversations.filter(({ labels }) => !labels.includes(title));
  const unknown = lacking.length > 0 ? await addLabels(tx, lacking, { titles: [title], made: [title] }) : undefined;
  return (conversation) => {
    const { labels } = conversation;
    if (unknown === undefined && !labels.includes(title)) sayLabels(tx, conversation, [...labels, title].sort());
  };
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((title) => other.includes(title));
}

/**
 * Replaces the labels of a conversation, by title; `make` makes those that the account lacks, for who may. Says
 * conversation_updated when the set changes. Errors: 404, 403, 422 for a title that is no label of the account, and when there
 * is not room for all that are made.
 */
export async function setLabels(
  tx: Transaction,
  conversationId: number,
  { titles, make = false }: { titles: readonly string[]; make?: boolean | undefined },
): Promise<Conversation> {
  const conversation = await lockConversation(tx, conversationId);
  const current = [...new Set(titles)].sort();
  if (sameSet(current, conversation.labels)) return conversation;
  if (make) await makeMissingLabels(tx, current);
  return relabel(tx, conversation, { current, made: [] });
}

function without(titles: readonly string[], others: readonly string[]): string[] {
  return titles.filter((title) => !others.includes(title));
}
