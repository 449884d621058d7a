import { useState } from 'preact/hooks';
import { Dialog } from '../../kit/dialog.tsx';
import { CheckField, Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';

interface Props {
  title: string;
  /** The ids of the present members. */
  load: () => Promise<number[]>;
  save: (ids: number[]) => Promise<unknown>;
  close: () => void;
}

/** The dialog that chooses agents: of a team, or of an inbox. */
export function MembersDialog({ title, load, save, close }: Props) {
  const loaded = useLoad(async (signal) => {
    const [agents, members] = await Promise.all([call('GET agents', { signal }), load()]);
    return { agents, members };
  });
  return (
    <Dialog title={title} onClose={close}>
      <Show of={loaded}>
        {({ agents, members }) => <Choice agents={agents} members={members} save={save} close={close} />}
      </Show>
    </Dialog>
  );
}

interface ChoiceProps extends Pick<Props, 'save' | 'close'> {
  agents: readonly { id: number; name: string }[];
  members: readonly number[];
}

function Choice({ agents, members, save, close }: ChoiceProps) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set(members));
  function choose(id: number, isMember: boolean): void {
    const next = new Set(chosen);
    if (isMember) next.add(id);
    else next.delete(id);
    setChosen(next);
  }
  async function send(): Promise<void> {
    await save([...chosen]);
    close();
  }
  return (
    <Form submit="Save" send={send}>
      {() =>
        agents.map(({ id, name }) => (
          <CheckField key={id} label={name} checked={chosen.has(id)} onChange={(checked) => choose(id, checked)} />
        ))
      }
    </Form>
  );
}
