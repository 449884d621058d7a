import type { Reply } from '../../../shared/call.ts';
import { Time } from '../../kit/time.tsx';

export type Conversation = Reply<'GET conversations/:id'>;

/** The statuses of a conversation, in words. */
export const statuses = [
  ['open', 'Open'],
  ['pending', 'Pending'],
  ['snoozed', 'Snoozed'],
  ['resolved', 'Resolved'],
] as const satisfies readonly (readonly [Conversation['status'], string])[];

const kinds = { open: 'wait', pending: '', snoozed: '', resolved: 'good' } as const;

/** The status of a conversation, and until when it is snoozed. */
export function StatusBadge({ of: { status, snoozed_until: until } }: { of: Conversation }) {
  const text = statuses.find(([one]) => one === status)?.[1] ?? status;
  return (
    <span class={`badge ${kinds[status]}`}>
      {text}
      {until !== null && <Time at={until} />}
    </span>
  );
}

/** Display name of a contact. Contacts of the chat may have no name. */
export function nameOf({ id, name, email }: { id: number; name: string; email?: string | null }): string {
  return name.trim() || email || `Contact ${id}`;
}

/** Assignee of a conversation: an agent, else the bot that serves it, else its team. */
export function holderOf({ meta: { assignee, team, agent_bot: bot }, status }: Conversation): string {
  if (assignee) return assignee.name;
  if (bot && status === 'pending') return `${bot.name} (bot)`;
  return team ? `${team.name} (team)` : 'Unassigned';
}
