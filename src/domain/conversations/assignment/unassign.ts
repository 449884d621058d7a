import type { Detachment } from './detach.ts';
import { undergo } from '../status.ts';

/** How conversations let go of an assignee: see Detachment. */
export function unassign(userId: number): Pick<Detachment, 'detach'> {
  return {
    detach: (tx, conversations) =>
      conversations
        .filter(({ assignee }) => assignee?.id === userId)
        .map((conversation) => {
          conversation.assignee = null;
          undergo(tx, conversation, { kind: 'unassigned' });
          return { conversation, changed: { assignee_id: { previous: userId, current: null } } };
        }),
  };
}
