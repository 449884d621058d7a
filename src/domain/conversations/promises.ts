import type { Conversation } from '../../records/conversation.ts';

// What is overdue stays: the alarm that looks for it has still to tell of it.
function settle(due: Date | null, now: Date): Date | null {
  return due !== null && due <= now ? due : null;
}

/** The first public reply was given: a first response that was not overdue is owed no more. */
export function settleFirstResponse(conversation: Conversation, now: Date): void {
  conversation.firstResponseDueAt = settle(conversation.firstResponseDueAt, now);
}

/** The conversation was resolved: it owes neither a resolution nor a first response, unless they were overdue. */
export function settleResolution(conversation: Conversation, now: Date): void {
  settleFirstResponse(conversation, now);
  conversation.resolutionDueAt = settle(conversation.resolutionDueAt, now);
}
