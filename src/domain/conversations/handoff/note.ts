import type { Transaction } from '../../../events/transaction.ts';
import { findLastQuestion } from '../../../records/messages/message.ts';
import type { Conversation } from '../../../records/conversations/conversation.ts';
import { storableText } from '../../../lib/text/storable.ts';
import type { NewMessage } from '../send.ts';

/** Summary of the conversation in a note: in its attributes, and in its text if `passages` is set, even to an empty list. */
export interface NoteSummary {
  /** Passages of the knowledge base that the bot had. */
  passages?: readonly { title: string; url?: string | null }[];
}

/** The note's text before the summary, and how to sum up; without a summary the words are all. */
interface Draft {
  words: string;
  summary: NoteSummary | undefined;
}

// The maximum length of a message.
const maxNoteChars = 150_000;
const maxQuestionChars = 2000;

/**
 * Returns the private note for the agents who get a locked conversation from its bot. A summary names the customer's last
 * question and the bot's passages; content_attributes has it as `handoff: {reason, last_question, passages}`.
 */
export async function noteOf(
  tx: Transaction,
  conversation: Conversation,
  { words, summary }: Draft,
): Promise<NewMessage> {
  const note = { type: 'outgoing', private: true } as const;
  if (!summary) return { ...note, content: storableText(words, maxNoteChars) };
  const question = await lastQuestion(tx, conversation);
  const text = summary.passages ? spellOut(words, question, summary.passages) : words;
  const handoff = { reason: conversation.handoffReason, last_question: question, passages: summary.passages ?? [] };
  return { ...note, content: storableText(text, maxNoteChars), contentAttributes: { handoff } };
}

async function lastQuestion(tx: Transaction, { id }: Conversation): Promise<string | null> {
  const unwritten = tx.unwritten.findLast(({ conversationId, type }) => conversationId === id && type === 'incoming');
  const question = unwritten?.content ?? (await findLastQuestion(tx.sql, tx.account.id, id));
  if (question === null || question.length <= maxQuestionChars) return question;
  return `${storableText(question, maxQuestionChars)}…`;
}

function spellOut(words: string, question: string | null, passages: NonNullable<NoteSummary['passages']>): string {
  const listed = passages.map(({ title, url }, index) => `[${index + 1}] ${title}${url ? ` ${url}` : ''}`);
  return [
    words,
    ...(question === null ? [] : [`Last question: ${question}`]),
    ...(listed.length === 0 ? [] : [`Passages shown:\n${listed.join('\n')}`]),
  ].join('\n\n');
}
