import type { Conversation } from '../../records/conversations/conversation.ts';
import { findMessage, findNewestQuestion, type Message } from '../../records/messages/message.ts';
import { choicesOf } from '../../records/messages/rich-content.ts';
import { invalid, type ApiError } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { findProblems } from '../../schemas.ts';

/** A contact's answer to a message that asks for a choice or an e-mail address. */
export interface GivenAnswer {
  /** The address, or the chosen value where `value` is null. */
  content: string;
  /** The value of the chosen item or postback. */
  value: string | null;
  /** The message with the question; null for the newest one. */
  inReplyTo: number | null;
}

/** An answer that fits its question. */
export interface Answer {
  /** The title of the choice, or the address. */
  content: string;
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
  { content, value, inReplyTo }: GivenAnswer,
): Promise<Answer> {
  const question = await findQuestion(tx, conversation.id, inReplyTo);
  if (!question) throw nothingAsked();
  if (question.contentType === 'input_email') return readEmail(question, content);
  const chosen = choicesOf(question).find((choice) => choice.value === (value ?? content));
  if (!chosen) throw invalid('/content', 'enum', 'This is none of the choices that the message offers');
  const contentAttributes = { in_reply_to: question.id, submitted_values: [chosen] };
  return { content: chosen.title, contentAttributes, email: null };
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
  return { content: email, contentAttributes: { in_reply_to: id, submitted_email: email }, email };
}
