import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { CrudPage } from '../../kit/crud-page.tsx';
import { optionText } from '../../kit/form.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call, currentAccount, isAdministrator } from '../../session.ts';

type Agent = Reply<'GET agents'>[number];
type Draft = Pick<Agent, 'name' | 'email' | 'role' | 'availability'>;

const roles = [
  ['agent', 'Agent'],
  ['administrator', 'Administrator'],
] as const;
const availabilities = [
  ['online', 'Online'],
  ['busy', 'Busy'],
  ['offline', 'Offline'],
] as const;

const form: RecordForm<Agent, Draft> = {
  noun: 'agent',
  create: { title: 'Invite an agent', submit: 'Invite' },
  nameOf: ({ name }) => name,
  fresh: { name: '', email: '', role: 'agent', availability: 'online' },
  draftOf: ({ name, email, role, availability }) => ({ name, email, role, availability }),
  fields: (_, agent) => [
    ...(isAdministrator()
      ? ([
          { name: 'name', label: 'Name', required: true },
          ...(agent ? [] : ([{ name: 'email', label: 'Email', type: 'email', required: true }] as const)),
          { name: 'role', label: 'Role', options: roles },
        ] as const)
      : []),
    ...(agent
      ? ([
          {
            name: 'availability',
            label: 'Availability',
            hint: 'Only online agents get conversations automatically.',
            options: availabilities,
          },
        ] as const)
      : []),
  ],
  save: async ({ name, email, role, availability }, agent) => {
    if (!agent) {
      await call('POST agents', { body: { name, email, role } });
      return toast(`Invitation sent to ${email}. Without a mail server, the link is in the log of the service.`);
    }
    // Agents change their availability while the dialog is open.
    const own = availability === agent.availability ? {} : { availability };
    const body = isAdministrator() ? { name, role, ...own } : own;
    if (Object.keys(body).length > 0) await call('PATCH agents/:id', { id: agent.id, body });
  },
};

/** The agents of the account: administrators invite, change and remove them; all set their own availability. */
export function AgentsPage() {
  const own = currentAccount()?.agent_id;
  const mayChange = isAdministrator();
  return (
    <CrudPage
      title="Agents"
      caption="Agents by name"
      load={async (signal) => ({ payload: await call('GET agents', { signal }) })}
      form={form}
      empty={<p>No agents yet. Invite one to answer conversations.</p>}
      columns={[
        { title: 'Name', kind: 'text', cell: ({ id, name }) => (id === own ? `${name} (you)` : name) },
        { title: 'Email', kind: 'text', cell: ({ email }) => email },
        { title: 'Role', kind: 'fit', cell: ({ role }) => optionText(roles, role) },
        { title: 'Availability', kind: 'fit', cell: (agent) => <Presence agent={agent} /> },
      ]}
      mayEdit={({ id }) => mayChange || id === own}
      mayRemove={() => mayChange}
      more={(agent) => mayChange && !agent.confirmed && <Resend agent={agent} />}
      remove={{
        verb: 'Remove',
        question: (name) =>
          `${name} is signed out and loses access to this account. Conversations assigned to ${name} become unassigned.`,
        done: (name) => `${name} was removed.`,
        act: ({ id }) => call('DELETE agents/:id', { id }),
      }}
    />
  );
}

function Presence({ agent: { confirmed, availability } }: { agent: Agent }) {
  if (!confirmed) return <span class="badge wait">Invited</span>;
  const kind = availability === 'online' ? 'good' : availability === 'busy' ? 'wait' : '';
  return <span class={`badge ${kind}`}>{optionText(availabilities, availability)}</span>;
}

function Resend({ agent: { id, name } }: { agent: Agent }) {
  return (
    <Action
      label={`Resend invitation to ${name}`}
      done={`Invitation resent to ${name}.`}
      act={() => call('POST agents/:id/resend_invitation', { id })}
    >
      Resend invitation
    </Action>
  );
}
