import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { CrudPage } from '../../kit/crud-page.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import { call, isAdministrator } from '../../session.ts';
import { MembersDialog } from './members.tsx';

type Team = Reply<'GET teams'>[number];
type Draft = Pick<Team, 'name' | 'allow_auto_assign'> & { description: string };

const form: RecordForm<Team, Draft> = {
  noun: 'team',
  nameOf: ({ name }) => name,
  fresh: { name: '', description: '', allow_auto_assign: false },
  draftOf: ({ name, description, allow_auto_assign }) => ({ name, description: description ?? '', allow_auto_assign }),
  fields: () => [
    { name: 'name', label: 'Name', required: true },
    { name: 'description', label: 'Description' },
    { name: 'allow_auto_assign', label: 'Assign conversations to members automatically', type: 'check' },
  ],
  save: (body, team) => (team ? call('PATCH teams/:id', { id: team.id, body }) : call('POST teams', { body })),
};

/** The teams of the account, and who belongs to them. */
export function TeamsPage() {
  return (
    <CrudPage
      title="Teams"
      caption="Teams by name"
      load={async (signal) => ({ payload: await call('GET teams', { signal }) })}
      form={form}
      empty={
        <p>
          No teams yet. {isAdministrator() ? 'Create one to assign' : 'Administrators create them to assign'}{' '}
          conversations to.
        </p>
      }
      columns={[
        { title: 'Name', kind: 'text', cell: ({ name }) => name },
        { title: 'Description', kind: 'text', cell: ({ description }) => description ?? '–' },
        { title: 'Auto-assignment', kind: 'fit', cell: ({ allow_auto_assign: allowed }) => (allowed ? 'On' : 'Off') },
      ]}
      more={(team) => <Members team={team} />}
      remove={{
        question: (name) => `Conversations assigned to “${name}” lose their team.`,
        done: (name) => `Team “${name}” deleted.`,
        act: ({ id }) => call('DELETE teams/:id', { id }),
      }}
    />
  );
}

function Members({ team: { id, name } }: { team: Team }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" aria-label={`Members of ${name}`} onClick={() => setOpen(true)}>
        Members
      </button>
      {isOpen && (
        <MembersDialog
          title={`Members of ${name}`}
          load={async () => (await call('GET teams/:id/team_members', { id })).map((member) => member.id)}
          save={(ids) => call('PATCH teams/:id/team_members', { id, body: { user_ids: ids } })}
          close={() => setOpen(false)}
        />
      )}
    </>
  );
}
