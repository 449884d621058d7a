import { changeLabels } from '../domain/conversations/labels.ts';
import { handOff } from '../domain/conversations/lifecycle.ts';
import { send } from '../domain/conversations/send.ts';
import type { Transaction } from '../events/transaction.ts';
import type { Action } from '../sandbox/run.ts';

/** Whether an action shows the customer something or ends the bot's part: what a silent bot may not do. */
export function isPublic(action: Action): boolean {
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

/** Does what a bot decided, in order, through the same verbs as everybody else; in the caller's transaction. */
export async function applyActions(tx: Transaction, conversationId: number, actions: readonly Action[]): Promise<void> {
  for (const action of actions) await applyAction(tx, conversationId, action);
}
