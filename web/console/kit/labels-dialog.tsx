import { useState } from 'preact/hooks';
import { call, isAdministrator } from '../session.ts';
import { Dialog } from './dialog.tsx';
import { CheckField, Form } from './form.tsx';
import { Show, useLoad } from './load.tsx';

interface Props {
  /** Labels that the record has now. */
  labels: readonly string[];
  /** Gives the record these labels, and no others. */
  save: (labels: string[]) => Promise<void>;
  close: () => void;
}

/** Chooses the labels of a record. */
export function LabelsDialog(props: Props) {
  const labels = useLoad((signal) => call('GET labels', { signal }));
  return (
    <Dialog title="Labels" onClose={props.close}>
      <Show of={labels}>
        {({ payload }) =>
          payload.length === 0 ? <EmptyState /> : <Choice {...props} titles={payload.map(({ title }) => title)} />
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

function Choice({ labels, save, close, titles }: Props & { titles: readonly string[] }) {
  const [atFirst] = useState<ReadonlySet<string>>(new Set(labels));
  const [chosen, setChosen] = useState(atFirst);
  function choose(title: string, isChosen: boolean): void {
    const next = new Set(chosen);
    if (isChosen) next.add(title);
    else next.delete(title);
    setChosen(next);
  }
  async function send(): Promise<void> {
    // Others label too while the dialog is open: of theirs nothing is taken back.
    const kept = labels.filter((title) => chosen.has(title) || !atFirst.has(title));
    const added = [...chosen].filter((title) => !atFirst.has(title));
    await save([...new Set([...kept, ...added])]);
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
