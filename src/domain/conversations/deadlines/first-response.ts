import type { Conversation } from '../../../records/conversations/conversation.ts';

/** After the first public reply: the first response is not due any more, unless it was overdue. */
export function meetFirstResponse(conversation: Conversation, now: Date): void {
  conversation.firstResponseDueAt = unlessOverdue(conversation.firstResponseDueAt, now);
}

// Overdue moments stay: the sweep has not said sla_breached for them yet.
function unlessOverdue(due: Date | null, now: Date): Date | null {
  return due !== null && due <= now ? due : null;
}

/** After the conversation was resolved: nothing is due any more, unless it was overdue. */
export function meetResolution(conversation: Conversation, now: Date): void {
  meetFirstResponse(conversation, now);
  conversation.resolutionDueAt = unlessOverdue(conversation.resolutionDueAt, now);
}
