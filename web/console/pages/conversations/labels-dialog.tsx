import { LabelsDialog as ChooseLabels } from '../../kit/labels-dialog.tsx';
import { call } from '../../session.ts';
import type { ConversationChange } from './actions.tsx';

/** Chooses the labels of a conversation. */
export function LabelsDialog({ conversation, changed, close }: ConversationChange & { close: () => void }) {
  const { id, labels } = conversation;
  async function save(chosen: string[]): Promise<void> {
    const { payload } = await call('POST conversations/:id/labels', { id, body: { labels: chosen } });
    changed({ ...conversation, labels: payload });
  }
  return <ChooseLabels labels={labels} save={save} close={close} />;
}
