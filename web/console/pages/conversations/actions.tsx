import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { call, currentAccount } from '../../session.ts';
import { AssignDialog } from './assign-dialog.tsx';
import { LabelsDialog } from './labels-dialog.tsx';
import { MacroDialog } from './macro-dialog.tsx';
import { SnoozeDialog } from './snooze-dialog.tsx';
import type { Conversation } from './words.tsx';

export interface ConversationChange {
  conversation: Conversation;
  /** Gets the conversation as it is then. */
  changed: (conversation: Conversation) => void;
}

const dialogs = [
  ['Assign', AssignDialog],
  ['Labels', LabelsDialog],
  ['Snooze', SnoozeDialog],
  ['Macros', MacroDialog],
] as const;

/** Actions of agents on a conversation. */
export function Actions({ conversation, changed }: ConversationChange) {
  const { id, status, meta } = conversation;
  const [shown, setShown] = useState<(typeof dialogs)[number][0] | null>(null);
  const me = currentAccount()?.agent_id;
  async function takeOver(): Promise<void> {
    changed(await call('POST conversations/:id/assignments', { id, body: { assignee_id: me ?? null } }));
  }
  const move = (to: 'open' | 'resolved') => async () =>
    changed(await call('POST conversations/:id/toggle_status', { id, body: { status: to } }));
  const Shown = dialogs.find(([name]) => name === shown)?.[1];
  return (
    <>
      <Action
        act={takeOver}
        done="Assigned to you. The bot is paused."
        disabled={me === undefined || meta.assignee?.id === me}
      >
        Take over
      </Action>
      {dialogs.map(([name]) => (
        <button key={name} type="button" onClick={() => setShown(name)}>
          {name}
        </button>
      ))}
      {status === 'resolved' || status === 'snoozed' ? (
        <Action act={move('open')} done="Conversation reopened.">
          Reopen
        </Action>
      ) : null}
      {status !== 'resolved' && (
        <Action kind="primary" act={move('resolved')} done="Conversation resolved.">
          Resolve
        </Action>
      )}
      {Shown && <Shown conversation={conversation} changed={changed} close={() => setShown(null)} />}
    </>
  );
}
