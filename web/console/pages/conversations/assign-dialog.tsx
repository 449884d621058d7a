import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import type { ConversationChange } from './actions.tsx';

interface Props extends ConversationChange {
  close: () => void;
}

/** Gives a conversation to an agent, a team, or both. */
export function AssignDialog({ conversation, changed, close }: Props) {
  const loaded = useLoad(async (signal) => {
    const [{ payload: agents }, teams] = await Promise.all([
      call('GET inboxes/:id/assignable_agents', { id: conversation.inbox_id, signal }),
      call('GET teams', { signal }),
    ]);
    return { agents, teams };
  });
  return (
    <Dialog title="Assign" onClose={close}>
      <Show of={loaded}>
        {(options) => <Choice {...options} conversation={conversation} changed={changed} close={close} />}
      </Show>
    </Dialog>
  );
}

interface ChoiceProps extends Props {
  agents: Reply<'GET inboxes/:id/assignable_agents'>['payload'];
  teams: Reply<'GET teams'>;
}

function Choice({ conversation: { id, meta }, changed, close, agents, teams }: ChoiceProps) {
  const [before] = useState({ agent: String(meta.assignee?.id ?? ''), team: String(meta.team?.id ?? '') });
  const [agent, setAgent] = useState(before.agent);
  const [team, setTeam] = useState(before.team);
  // Sends changed fields only: others may have been changed elsewhere.
  async function send(): Promise<void> {
    const body = {
      ...(agent === before.agent ? {} : { assignee_id: idOf(agent) }),
      ...(team === before.team ? {} : { team_id: idOf(team) }),
    };
    changed(await call('POST conversations/:id/assignments', { id, body }));
    close();
  }
  return (
    <Form submit="Save" send={send} isScratch>
      {(problemOf) => (
        <>
          <ChoiceField
            label="Agent"
            hint="The bot is paused while an agent is assigned."
            value={agent}
            onChange={setAgent}
            options={[['', 'Unassigned'], ...optionsOf(agents, meta.assignee)]}
            problem={problemOf('assignee_id')}
          />
          <ChoiceField
            label="Team"
            value={team}
            onChange={setTeam}
            options={[['', 'None'], ...optionsOf(teams, meta.team)]}
            problem={problemOf('team_id')}
          />
        </>
      )}
    </Form>
  );
}

interface Named {
  id: number;
  name: string;
}

// The current assignee stays an option, even if they are no longer assignable.
function optionsOf(options: readonly Named[], present: Named | null): [string, string][] {
  const all = present && !options.some(({ id }) => id === present.id) ? [present, ...options] : options;
  return all.map(({ id, name }) => [String(id), name]);
}

function idOf(value: string): number | null {
  return value === '' ? null : Number(value);
}
