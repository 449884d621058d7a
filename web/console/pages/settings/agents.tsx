import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { toast } from '../../kit/toast.tsx';
import { call, currentAccount, isAdministrator } from '../../session.ts';

type Agent = Reply<'GET agents'>[number];

const roles = [
  ['agent', 'Agent'],
  ['administrator', 'Administrator'],
] as const;
const availabilities = [
  ['online', 'Online'],
  ['busy', 'Busy'],
  ['offline', 'Offline'],
] as const;

/** Who works in the account: administrators invite, change and remove; everybody sets the own availability. */
export function AgentsPage() {
  const agents = useLoad((signal) => call('GET agents', { signal }));
  const [edited, setEdited] = useState<Agent | 'new' | null>(null);
  const own = currentAccount()?.agent_id;
  return (
    <Page
      title="Agents"
      actions={
        isAdministrator() && (
          <button type="button" class="primary" onClick={() => setEdited('new')}>
            Invite an agent
          </button>
        )
      }
    >
      <Show of={agents}>
        {(list) => (
          <Table
            caption="Agents by name"
            rows={list}
            keyOf={({ id }) => id}
            empty={<p>Nobody works here yet. Invite somebody with “Invite an agent”.</p>}
            columns={[
              { title: 'Name', cell: ({ id, name }) => (id === own ? `${name} (you)` : name) },
              { title: 'E-mail', cell: ({ email }) => email },
              { title: 'Role', cell: ({ role }) => textOf(roles, role) },
              { title: 'Availability', cell: (agent) => <Presence agent={agent} /> },
              {
                title: 'Actions',
                cell: (agent) => (
                  <AgentActions
                    agent={agent}
                    isOwn={agent.id === own}
                    edit={() => setEdited(agent)}
                    changed={agents.reload}
                  />
                ),
              },
            ]}
          />
        )}
      </Show>
      {edited && (
        <AgentDialog
          agent={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
          saved={() => {
            setEdited(null);
            void agents.reload();
          }}
        />
      )}
    </Page>
  );
}

function textOf<Value extends string>(options: readonly (readonly [Value, string])[], value: Value): string {
  return options.find(([one]) => one === value)?.[1] ?? value;
}

function Presence({ agent: { confirmed, availability } }: { agent: Agent }) {
  if (!confirmed) return <span class="badge wait">Invited</span>;
  const kind = availability === 'online' ? 'good' : availability === 'busy' ? 'wait' : '';
  return <span class={`badge ${kind}`}>{textOf(availabilities, availability)}</span>;
}

interface ActionsProps {
  agent: Agent;
  isOwn: boolean;
  edit: () => void;
  changed: () => Promise<void>;
}

function AgentActions({ agent: { id, name, confirmed }, isOwn, edit, changed }: ActionsProps) {
  const mayChange = isAdministrator();
  if (!mayChange && !isOwn) return null;
  return (
    <div class="actions">
      <button type="button" aria-label={`Edit ${name}`} onClick={edit}>
        Edit
      </button>
      {mayChange && !confirmed && (
        <Action
          label={`Send the invitation of ${name} again`}
          done={`${name} is invited again.`}
          act={() => call('POST agents/:id/resend_invitation', { id })}
        >
          Invite again
        </Action>
      )}
      {mayChange && (
        <Action
          kind="danger"
          label={`Remove ${name}`}
          question={`${name} loses access to this account, is signed out, and the conversations become unassigned.`}
          done={`${name} works here no more.`}
          act={async () => {
            await call('DELETE agents/:id', { id });
            await changed();
          }}
        >
          Remove
        </Action>
      )}
    </div>
  );
}

function AgentDialog({ agent, close, saved }: { agent: Agent | null; close: () => void; saved: () => void }) {
  const [name, setName] = useState(agent?.name ?? '');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState(agent?.role ?? 'agent');
  const [availability, setAvailability] = useState(agent?.availability ?? 'online');
  async function send(): Promise<void> {
    if (agent) {
      // Others change it too, while the dialog is open.
      const own = availability === agent.availability ? {} : { availability };
      const body = isAdministrator() ? { name, role, ...own } : own;
      if (Object.keys(body).length > 0) await call('PATCH agents/:id', { id: agent.id, body });
    } else {
      await call('POST agents', { body: { name, email, role } });
      toast(`An invitation is on its way to ${email}; without mail it is in the log of the service.`);
    }
    saved();
  }
  return (
    <Dialog title={agent ? `Agent ${agent.name}` : 'Invite an agent'} onClose={close}>
      <Form submit={agent ? 'Save' : 'Invite'} send={send}>
        {(problemOf) => (
          <>
            {isAdministrator() && (
              <>
                <TextField label="Name" required value={name} onChange={setName} problem={problemOf('name')} />
                {!agent && (
                  <TextField
                    label="E-mail"
                    type="email"
                    required
                    value={email}
                    onChange={setEmail}
                    problem={problemOf('email')}
                  />
                )}
                <ChoiceField label="Role" value={role} onChange={setRole} options={roles} problem={problemOf('role')} />
              </>
            )}
            {agent && (
              <ChoiceField
                label="Availability"
                hint="Conversations are assigned by themselves to people who are online."
                value={availability}
                onChange={setAvailability}
                options={availabilities}
                problem={problemOf('availability')}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
