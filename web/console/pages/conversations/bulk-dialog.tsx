import { useState } from 'preact/hooks';
import type { Body, Reply } from '../../../shared/call.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { CheckField, ChoiceField, Form } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import { firstSnoozeEnd, snoozedUntil, SnoozeFields } from './snooze-dialog.tsx';

type Changes = Pick<Body<'POST bulk_actions'>, 'fields' | 'labels' | 'snoozed_until'>;
type Result = Reply<'POST bulk_actions'>;

/** Changes the selected conversations, and reports how that went. */
export async function changeSelected(ids: readonly number[], changes: Changes): Promise<Result> {
  const result = await call('POST bulk_actions', { body: { type: 'Conversation', ids: [...ids], ...changes } });
  if (result.done > 0) toast(`${conversations(result.done)} changed.`);
  const [first] = result.failures;
  if (first) toast(`${conversations(result.failed)} not changed. #${first.conversation_id}: ${first.error}`, 'error');
  return result;
}

function conversations(count: number): string {
  return `${count} ${count === 1 ? 'conversation' : 'conversations'}`;
}

interface Props {
  ids: readonly number[];
  labels: readonly { title: string }[];
  teams: readonly { id: number; name: string }[];
  changed: () => void;
  close: () => void;
}

/** Changes of several conversations together; fields that are left alone stay as they are in each. */
export function BulkDialog(props: Props) {
  const agents = useLoad((signal) => call('GET agents', { signal }));
  return (
    <Dialog title={`Edit ${conversations(props.ids.length)}`} onClose={props.close}>
      <Show of={agents}>{(value) => <Fields {...props} agents={value} />}</Show>
    </Dialog>
  );
}

const keep = 'keep';
const none = 'none';
const statuses = [
  [keep, 'No change'],
  ['open', 'Open'],
  ['pending', 'Pending'],
  ['snoozed', 'Snoozed'],
  ['resolved', 'Resolved'],
] as const;
const priorities = [
  [keep, 'No change'],
  [none, 'None'],
  ['low', 'Low'],
  ['medium', 'Medium'],
  ['high', 'High'],
  ['urgent', 'Urgent'],
] as const;

function Fields({ ids, labels, teams, agents, changed, close }: Props & { agents: Reply<'GET agents'> }) {
  const [status, setStatus] = useState<(typeof statuses)[number][0]>(keep);
  const [end, setEnd] = useState(firstSnoozeEnd);
  const [priority, setPriority] = useState<(typeof priorities)[number][0]>(keep);
  const [agent, setAgent] = useState(keep);
  const [team, setTeam] = useState(keep);
  const [add, setAdd] = useState<readonly string[]>([]);
  const [remove, setRemove] = useState<readonly string[]>([]);
  async function send(): Promise<void> {
    const fields = {
      ...(status === keep ? {} : { status }),
      ...(priority === keep ? {} : { priority: priority === none ? null : priority }),
      ...(agent === keep ? {} : { assignee_id: idOf(agent) }),
      ...(team === keep ? {} : { team_id: idOf(team) }),
    };
    const until = status === 'snoozed' ? { snoozed_until: snoozedUntil(end) } : {};
    await changeSelected(ids, { fields, labels: { add: [...add], remove: [...remove] }, ...until });
    changed();
    close();
  }
  return (
    <Form submit="Save" send={send} isScratch>
      {(problemOf) => (
        <>
          <ChoiceField label="Status" value={status} onChange={setStatus} options={statuses} />
          {status === 'snoozed' && <SnoozeFields end={end} onChange={setEnd} problem={problemOf('snoozed_until')} />}
          <ChoiceField label="Agent" value={agent} onChange={setAgent} options={optionsOf('Unassigned', agents)} />
          <ChoiceField label="Team" value={team} onChange={setTeam} options={optionsOf('None', teams)} />
          <ChoiceField label="Priority" value={priority} onChange={setPriority} options={priorities} />
          <Titles legend="Add labels" labels={labels} chosen={add} onChange={setAdd} />
          <Titles legend="Remove labels" labels={labels} chosen={remove} onChange={setRemove} />
        </>
      )}
    </Form>
  );
}

interface TitlesProps {
  legend: string;
  labels: readonly { title: string }[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

function Titles({ legend, labels, chosen, onChange }: TitlesProps) {
  if (labels.length === 0) return null;
  return (
    <fieldset class="titles">
      <legend>{legend}</legend>
      {labels.map(({ title }) => (
        <CheckField
          key={title}
          label={title}
          checked={chosen.includes(title)}
          onChange={(isChosen) => onChange(isChosen ? [...chosen, title] : chosen.filter((one) => one !== title))}
        />
      ))}
    </fieldset>
  );
}

function optionsOf(nobody: string, options: readonly { id: number; name: string }[]): [string, string][] {
  return [[keep, 'No change'], [none, nobody], ...options.map(({ id, name }): [string, string] => [String(id), name])];
}

function idOf(value: string): number | null {
  return value === none ? null : Number(value);
}
