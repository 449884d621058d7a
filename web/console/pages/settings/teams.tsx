import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { CheckField, Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { call, isAdministrator } from '../../session.ts';
import { MembersDialog } from './members.tsx';

type Team = Reply<'GET teams'>[number];

/** The teams of the account, and who belongs to them. */
export function TeamsPage() {
  const teams = useLoad((signal) => call('GET teams', { signal }));
  const [edited, setEdited] = useState<Team | 'new' | null>(null);
  const [opened, setOpened] = useState<Team | null>(null);
  const mayChange = isAdministrator();
  return (
    <Page
      title="Teams"
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setEdited('new')}>
            New team
          </button>
        )
      }
    >
      <Show of={teams}>
        {(list) => (
          <Table
            caption="Teams by name"
            rows={list}
            keyOf={({ id }) => id}
            empty={
              <p>
                There are no teams yet. {mayChange ? 'Make one with “New team”' : 'An administrator can make one'};
                conversations are then given to it.
              </p>
            }
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'Description', cell: ({ description }) => description ?? '–' },
              { title: 'Assigns by itself', cell: ({ allow_auto_assign: allowed }) => (allowed ? 'Yes' : 'No') },
              ...(mayChange
                ? [
                    {
                      title: 'Actions',
                      cell: (team: Team) => (
                        <TeamActions
                          team={team}
                          edit={() => setEdited(team)}
                          open={() => setOpened(team)}
                          changed={teams.reload}
                        />
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Show>
      {edited && (
        <TeamDialog
          team={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
          saved={() => {
            setEdited(null);
            void teams.reload();
          }}
        />
      )}
      {opened && (
        <MembersDialog
          title={`Members of ${opened.name}`}
          load={async () => (await call('GET teams/:id/team_members', { id: opened.id })).map(({ id }) => id)}
          save={(ids) => call('PATCH teams/:id/team_members', { id: opened.id, body: { user_ids: ids } })}
          close={() => setOpened(null)}
        />
      )}
    </Page>
  );
}

interface ActionsProps {
  team: Team;
  edit: () => void;
  open: () => void;
  changed: () => Promise<void>;
}

function TeamActions({ team: { id, name }, edit, open, changed }: ActionsProps) {
  async function remove(): Promise<void> {
    await call('DELETE teams/:id', { id });
    await changed();
  }
  return (
    <div class="actions">
      <button type="button" aria-label={`Edit ${name}`} onClick={edit}>
        Edit
      </button>
      <button type="button" aria-label={`Members of ${name}`} onClick={open}>
        Members
      </button>
      <Action
        kind="danger"
        label={`Delete ${name}`}
        question={`Deleting “${name}” takes it from all conversations that were given to it.`}
        done={`“${name}” is deleted.`}
        act={remove}
      >
        Delete
      </Action>
    </div>
  );
}

function TeamDialog({ team, close, saved }: { team: Team | null; close: () => void; saved: () => void }) {
  const [name, setName] = useState(team?.name ?? '');
  const [description, setDescription] = useState(team?.description ?? '');
  const [isAssigning, setAssigning] = useState(team?.allow_auto_assign ?? false);
  async function send(): Promise<void> {
    const body = { name, description, allow_auto_assign: isAssigning };
    await (team ? call('PATCH teams/:id', { id: team.id, body }) : call('POST teams', { body }));
    saved();
  }
  return (
    <Dialog title={team ? `Team ${team.name}` : 'New team'} onClose={close}>
      <Form submit={team ? 'Save' : 'Create'} send={send}>
        {(problemOf) => (
          <>
            <TextField label="Name" required value={name} onChange={setName} problem={problemOf('name')} />
            <TextField
              label="Description"
              value={description}
              onChange={setDescription}
              problem={problemOf('description')}
            />
            <CheckField
              label="Assign conversations to members by itself"
              checked={isAssigning}
              onChange={setAssigning}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
