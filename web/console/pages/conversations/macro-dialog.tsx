import { Action } from '../../kit/action.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import type { ConversationChange } from './actions.tsx';

interface Props extends ConversationChange {
  close: () => void;
}

/** Runs a macro on a conversation. */
export function MacroDialog({ conversation: { id }, changed, close }: Props) {
  const macros = useLoad((signal) => call('GET macros', { signal }));
  async function run(macro: { id: number; name: string }): Promise<void> {
    const body = { conversation_ids: [id] };
    const { payload } = await call('POST macros/:id/execute', { id: macro.id, body });
    const refused = payload.find(({ success }) => !success);
    // An action may have taken the conversation out of sight.
    await call('GET conversations/:id', { id }).then(changed, () => undefined);
    if (refused) throw new Error(`Nothing was changed by “${macro.name}”. ${refused.error ?? ''}`);
    toast(`Macro “${macro.name}” done.`);
    close();
  }
  return (
    <Dialog title="Run a macro" onClose={close}>
      <Show of={macros}>
        {({ payload }) =>
          payload.length === 0 ? (
            <p>
              No macros yet. <a href="/console/settings/macros">Create macros</a>
            </p>
          ) : (
            <ul class="macros">
              {payload.map((macro) => (
                <li key={macro.id}>
                  <Action act={() => run(macro)}>{macro.name}</Action>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </Dialog>
  );
}
