import { windowOf } from '../message-window.ts';
import type { Shape } from '../../schemas.ts';

/** A stretch of a conversation that its contact may see. */
export function publicWindowOf(query: Shape<'requests/message.list.query'>) {
  return {
    ...windowOf(query),
    publicOnly: true,
  };
}

/** `in_reply_to` or `submitted_values` tells an answer from what the contact wrote of its own accord. */
export function answerOf({ content_attributes: given }: Shape<'requests/widget-message.create'>) {
  const isAnswer = given?.in_reply_to !== undefined || given?.submitted_values !== undefined;
  if (!isAnswer) return null;
  return { inReplyTo: given.in_reply_to ?? null, value: given.submitted_values?.[0]?.value ?? null };
}
