import type { Conversation } from '../../records/conversations/conversation.ts';
import { findMessage, findNewestQuestion, type Message } from '../../records/messages/message.ts';
import { invalid, type ApiError } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { findProblems } from '../../schemas.ts';

/** A contact's answer to a message that asks for a choice or an e-mail address. */
export interface GivenAnswer {
  /** The `value` of the chosen item, or the address. */
  content: string;
  /** The message with the question; null for the newest one. */
  inReplyTo: number | null;
}

/** An answer that fits its question. */
export interface Answer {
  contentAttributes: Record<string, unknown>;
  /** The contact's e-mail address; null if the question was another one. */
  email: string | null;
}

/** 422: the conversation has no message to which this could be the answer. */
export function nothingAsked(): ApiError {
  const message = 'There is no message that asks for a choice or an e-mail address';
  return invalid('/content_attributes/in_reply_to', 'question', message);
}

/** Reads an answer by its question. Errors: 422 without a question, and for an answer that does not fit it. */
export async function readAnswer(
  tx: Transaction,
  conversation: Conversation,
  { content, inReplyTo }: GivenAnswer,
): Promise<Answer> {
  const question = await findQuestion(tx, conversation.id, inReplyTo);
  if (!question) throw nothingAsked();
  if (question.contentType === 'input_email') return readEmail(question, content);
  const chosen = itemsOf(question).find(({ value }) => value === content);
  if (!chosen) throw invalid('/content', 'enum', 'This is none of the choices that the message offers');
  return { contentAttributes: { in_reply_to: question.id, submitted_values: [chosen] }, email: null };
}

async function findQuestion(tx: Transaction, conversationId: number, id: number | null): Promise<Message | null> {
  if (id === null) return findNewestQuestion(tx.sql, tx.account.id, conversationId);
  const message = await findMessage(tx.sql, tx.account.id, conversationId, id);
  const asks = message?.type === 'outgoing' && !message.private && message.contentType !== 'text';
  return asks ? message : null;
}

function readEmail({ id }: Message, content: string): Answer {
  const email = content.trim();
  const [problem] = findProblems('requests/widget-session.create', { email });
  if (problem) throw invalid('/content', 'email', '`content` must be an e-mail address such as ada@example.com');
  return { contentAttributes: { in_reply_to: id, submitted_email: email }, email };
}

// Items come from the sender of the choice, and are not validated.
function itemsOf({ contentAttributes: { items } }: Message): { title: string; value: string }[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) => {
    const { title, value } = (item ?? {}) as Record<string, unknown>;
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    return [{ title: typeof title === 'string' ? title : String(value), value: String(value) }];
  });
}
