import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { pageOf, Pages } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call, isAdministrator } from '../../session.ts';

type Policy = Reply<'GET sla_policies'>['payload'][number];

/** The SLA policies of the account: how long customers wait at most. */
export function SlaPoliciesPage({ query }: ViewProps) {
  const page = pageOf(query);
  const policies = useLoad((signal) => call('GET sla_policies', { query: { page }, signal }), [page]);
  const [edited, setEdited] = useState<Policy | 'new' | null>(null);
  const mayChange = isAdministrator();
  return (
    <Page
      title="SLA policies"
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setEdited('new')}>
            New policy
          </button>
        )
      }
    >
      <Show of={policies}>
        {({ payload, meta }) => (
          <>
            <Table
              caption="SLA policies by name"
              rows={payload}
              keyOf={({ id }) => id}
              empty={
                <p>
                  There are no policies yet.{' '}
                  {mayChange ? 'Make one with “New policy”' : 'An administrator can make one'}: a conversation that has
                  it is told to webhooks as soon as somebody waits too long.
                </p>
              }
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                { title: 'First reply within', cell: (policy) => inWords(policy.first_response_seconds) },
                { title: 'Resolved within', cell: (policy) => inWords(policy.resolution_seconds) },
                ...(mayChange
                  ? [
                      {
                        title: 'Actions',
                        cell: (policy: Policy) => (
                          <PolicyActions policy={policy} edit={() => setEdited(policy)} changed={policies.reload} />
                        ),
                      },
                    ]
                  : []),
              ]}
            />
            <Pages meta={meta} />
          </>
        )}
      </Show>
      {edited && (
        <PolicyDialog
          policy={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
          saved={() => {
            setEdited(null);
            void policies.reload();
          }}
        />
      )}
    </Page>
  );
}

interface ActionsProps {
  policy: Policy;
  edit: () => void;
  changed: () => Promise<void>;
}

function PolicyActions({ policy: { id, name }, edit, changed }: ActionsProps) {
  return (
    <div class="actions">
      <button type="button" aria-label={`Edit ${name}`} onClick={edit}>
        Edit
      </button>
      <Action
        kind="danger"
        label={`Delete ${name}`}
        question={`Conversations with “${name}” have no promise any more.`}
        done={`“${name}” is deleted.`}
        act={async () => {
          await call('DELETE sla_policies/:id', { id });
          await changed();
        }}
      >
        Delete
      </Action>
    </div>
  );
}

function PolicyDialog({ policy, close, saved }: { policy: Policy | null; close: () => void; saved: () => void }) {
  const [name, setName] = useState(policy?.name ?? '');
  const [reply, setReply] = useState(minutesOf(policy?.first_response_seconds ?? null));
  const [resolution, setResolution] = useState(minutesOf(policy?.resolution_seconds ?? null));
  async function send(): Promise<void> {
    const body = { name, first_response_seconds: secondsOf(reply), resolution_seconds: secondsOf(resolution) };
    await (policy ? call('PATCH sla_policies/:id', { id: policy.id, body }) : call('POST sla_policies', { body }));
    saved();
  }
  return (
    <Dialog title={policy ? `Policy ${policy.name}` : 'New policy'} onClose={close}>
      <Form submit={policy ? 'Save' : 'Create'} send={send}>
        {(problemOf) => (
          <>
            <TextField label="Name" required value={name} onChange={setName} problem={problemOf('name')} />
            <TextField
              label="First reply within (minutes)"
              hint="From the conversation's start; empty for no promise"
              type="number"
              value={reply}
              onChange={setReply}
              problem={problemOf('first_response_seconds')}
            />
            <TextField
              label="Resolved within (minutes)"
              hint="From the conversation's start; empty for no promise"
              type="number"
              value={resolution}
              onChange={setResolution}
              problem={problemOf('resolution_seconds')}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

const secondsPerMinute = 60;

function minutesOf(seconds: number | null): string {
  return seconds === null ? '' : String(seconds / secondsPerMinute);
}

function secondsOf(minutes: string): number | null {
  return minutes.trim() === '' ? null : Math.round(Number(minutes) * secondsPerMinute);
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

// The largest unit of which it is a whole number.
function inWords(seconds: number | null): string {
  if (seconds === null) return '–';
  const [unit, length] = units.find(([, one]) => seconds % one === 0) ?? ['second', 1];
  const count = seconds / length;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
