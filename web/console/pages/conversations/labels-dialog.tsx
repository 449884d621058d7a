import { useState } from 'preact/hooks';
import { Dialog } from '../../kit/dialog.tsx';
import { CheckField, Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { call, isAdministrator } from '../../session.ts';
import type { ConversationChange } from './actions.tsx';

interface Props extends ConversationChange {
  close: () => void;
}

/** Chooses the labels of a conversation. */
export function LabelsDialog({ close, ...rest }: Props) {
  const labels = useLoad((signal) => call('GET labels', { signal }));
  return (
    <Dialog title="Labels" onClose={close}>
      <Show of={labels}>
        {({ payload }) =>
          payload.length === 0 ? (
            <EmptyState />
          ) : (
            <Choice {...rest} close={close} titles={payload.map(({ title }) => title)} />
          )
        }
      </Show>
    </Dialog>
  );
}

function EmptyState() {
  return isAdministrator() ? (
    <p>
      No labels yet. <a href="/console/settings/labels">Create labels</a>
    </p>
  ) : (
    <p>No labels yet. Administrators create them.</p>
  );
}

function Choice({ conversation, changed, close, titles }: Props & { titles: readonly string[] }) {
  const { id } = conversation;
  const [atFirst] = useState<ReadonlySet<string>>(new Set(conversation.labels));
  const [chosen, setChosen] = useState(atFirst);
  function choose(title: string, isChosen: boolean): void {
    const next = new Set(chosen);
    if (isChosen) next.add(title);
    else next.delete(title);
    setChosen(next);
  }
  async function send(): Promise<void> {
    // Others label too while the dialog is open: of theirs nothing is taken back.
    const kept = conversation.labels.filter((title) => chosen.has(title) || !atFirst.has(title));
    const added = [...chosen].filter((title) => !atFirst.has(title));
    const labels = [...new Set([...kept, ...added])];
    const { payload } = await call('POST conversations/:id/labels', { id, body: { labels } });
    changed({ ...conversation, labels: payload });
    close();
  }
  return (
    <Form submit="Save" send={send}>
      {() =>
        titles.map((title) => (
          <CheckField
            key={title}
            label={title}
            checked={chosen.has(title)}
            onChange={(isChosen) => choose(title, isChosen)}
          />
        ))
      }
    </Form>
  );
}
