import type { Detachment } from './detach.ts';

/** How conversations let go of their assignee. With nobody assigned any more the bot goes on, unless it handed off itself. */
export function unassign(userId: number): Pick<Detachment, 'detach' | 'assignments'> {
  return {
    detach: (_, conversations) =>
      conversations
        .filter(({ assignee }) => assignee?.id === userId)
        .map((conversation) => {
          conversation.assignee = null;
          return { conversation, changed: { assignee_id: { previous: userId, current: null } } };
        }),
    assignments: [
      'assignee_id = NULL',
      `bot_silence = CASE bot_silence WHEN 'handed_off' THEN bot_silence END`,
      `bot_streak = CASE bot_silence WHEN 'handed_off' THEN bot_streak ELSE 0 END`,
    ],
  };
}
