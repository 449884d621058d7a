import type { Reply } from '../../../shared/call.ts';
import { useEffect } from 'preact/hooks';
import { Store, useStore } from '../../../shared/store.ts';
import { Action } from '../../kit/action.tsx';
import { Code } from '../../kit/code.tsx';
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
      return tellInvited(await call('POST agents', { body: { name, email, role } }));
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
  const link = useStore(shownLink);
  // A link is a secret: who comes back gets a new one.
  useEffect(() => () => shownLink.set(null), []);
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
      more={(agent) => mayChange && (agent.confirmed ? <SignInActions agent={agent} /> : <Resend agent={agent} />)}
      remove={{
        verb: 'Remove',
        question: (name) =>
          `${name} is signed out and loses access to this account. Conversations assigned to ${name} become unassigned.`,
        done: (name) => `${name} was removed.`,
        act: ({ id }) => call('DELETE agents/:id', { id }),
      }}
    >
      {link && (
        <section class="note" role="status">
          <p>{link.hint}</p>
          <Code label={link.label} text={link.text} />
        </section>
      )}
    </CrudPage>
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
      act={async () => tellInvited(await call('POST agents/:id/resend_invitation', { id }))}
    >
      Resend invitation
    </Action>
  );
}

function SignInActions({ agent: { id, name } }: { agent: Agent }) {
  async function send(): Promise<void> {
    const { sent_by: way, link } = await call('POST agents/:id/sign_in_link', { id });
    if (link === null) return toast(way === 'mail' ? `Sign-in link sent to ${name}.` : inLog);
    shownLink.set({
      label: 'Sign-in link',
      text: link,
      hint: `Send this link to ${name}. It works once, within 15 minutes.`,
    });
  }
  return (
    <div class="stack">
      <Action label={`Send sign-in link to ${name}`} act={send}>
        Send sign-in link
      </Action>
      <Action
        label={`Reset second factor of ${name}`}
        question={`${name} can sign in without a code until a new second factor is set up.`}
        done={`Second factor of ${name} removed.`}
        act={() => call('DELETE agents/:id/second_factor', { id })}
      >
        Reset second factor
      </Action>
    </div>
  );
}

/** Link that the service could not mail, shown once below the list. */
const shownLink = new Store<{ label: string; text: string; hint: string } | null>(null);

const inLog = 'There is no mail server: the link is in the log of the service.';

function tellInvited({ name, email, invitation_link: text }: Reply<'POST agents'>): void {
  if (text === null)
    return toast(`Invitation sent to ${email}. Without a mail server, the link is in the log of the service.`);
  shownLink.set({ label: 'Invitation link', text, hint: `Send this link to ${name}. It works once, within 7 days.` });
  toast(`${name} is invited. Copy the link below the list.`);
}
