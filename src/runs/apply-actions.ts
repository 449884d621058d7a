import { silenceOfBot } from '../domain/conversations/arbiter.ts';
import { changeLabels } from '../domain/conversations/labels.ts';
import { handOff } from '../domain/conversations/lifecycle.ts';
import { send } from '../domain/conversations/send.ts';
import type { Transaction } from '../events/transaction.ts';
import type { Conversation } from '../records/conversation.ts';
import type { Action } from '../sandbox/run.ts';
import type { Run } from './run.ts';

/**
 * Whether a run's actions are dropped. A replaced bot may do nothing; a silent one may still write notes and set labels.
 */
export function isSuperseded(conversation: Conversation, { bot, result }: Pick<Run, 'bot' | 'result'>): boolean {
  const silence = silenceOfBot(conversation, bot.id);
  return silence === 'not_serving' || (silence !== null && result.actions.some(isPublic));
}

// Actions that the customer sees or that end the bot's part; a silent bot may not take them.
function isPublic(action: Action): boolean {
  return action.type === 'reply' || action.type === 'handoff';
}

async function applyAction(tx: Transaction, conversationId: number, action: Action): Promise<void> {
  switch (action.type) {
    case 'reply':
      await send(tx, conversationId, {
        type: 'outgoing',
        content: action.content,
        contentType: action.content_type ?? 'text',
        contentAttributes: action.content_attributes ?? {},
      });
      return;
    case 'note':
      await send(tx, conversationId, { type: 'outgoing', content: action.content, private: true });
      return;
    case 'label':
      await changeLabels(tx, conversationId, { add: action.add ?? [], remove: action.remove ?? [] });
      return;
    case 'handoff':
      if (action.message !== undefined) await send(tx, conversationId, { type: 'outgoing', content: action.message });
      await handOff(tx, conversationId, { silence: 'handed_off', note: action.note ?? `Handed off: ${action.reason}` });
  }
}

/** Applies a bot's actions in order, by the same domain verbs as every other caller; in the caller's transaction. */
export async function applyActions(tx: Transaction, conversationId: number, actions: readonly Action[]): Promise<void> {
  for (const action of actions) await applyAction(tx, conversationId, action);
}
