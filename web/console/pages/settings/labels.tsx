import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { CheckField, Form, TextField } from '../../kit/form.tsx';
import { LabelMark } from '../../kit/label-mark.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { call, isAdministrator } from '../../session.ts';

type Label = Reply<'GET labels'>['payload'][number];

/** The labels of the account: administrators create, change and delete them. */
export function LabelsPage() {
  const labels = useLoad((signal) => call('GET labels', { signal }));
  const [edited, setEdited] = useState<Label | 'new' | null>(null);
  const mayChange = isAdministrator();
  return (
    <Page
      title="Labels"
      actions={
        mayChange && (
          <button type="button" class="primary" onClick={() => setEdited('new')}>
            New label
          </button>
        )
      }
    >
      <Show of={labels}>
        {({ payload }) => (
          <Table
            caption="Labels by title"
            rows={payload}
            keyOf={({ id }) => id}
            empty={<EmptyState mayChange={mayChange} />}
            columns={[
              { title: 'Title', cell: ({ title, color }) => <LabelMark title={title} color={color} /> },
              { title: 'Description', cell: ({ description }) => description ?? '–' },
              { title: 'Changed', cell: ({ updated_at: at }) => <Time at={at} /> },
              ...(mayChange
                ? [
                    {
                      title: 'Actions',
                      cell: (label: Label) => (
                        <LabelActions label={label} edit={() => setEdited(label)} changed={labels.reload} />
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Show>
      {edited && (
        <LabelDialog
          label={edited === 'new' ? null : edited}
          close={() => setEdited(null)}
          saved={() => {
            setEdited(null);
            void labels.reload();
          }}
        />
      )}
    </Page>
  );
}

function EmptyState({ mayChange }: { mayChange: boolean }) {
  return mayChange ? (
    <p>There are no labels yet. Make one with “New label”; conversations can then carry it.</p>
  ) : (
    <p>There are no labels yet. An administrator can make some.</p>
  );
}

function LabelActions({ label, edit, changed }: { label: Label; edit: () => void; changed: () => Promise<void> }) {
  const { id, title } = label;
  async function remove(): Promise<void> {
    await call('DELETE labels/:id', { id });
    await changed();
  }
  return (
    <div class="actions">
      <button type="button" aria-label={`Edit ${title}`} onClick={edit}>
        Edit
      </button>
      <Action
        kind="danger"
        label={`Delete ${title}`}
        question={`Deleting “${title}” takes it from all conversations that carry it.`}
        done={`“${title}” is deleted.`}
        act={remove}
      >
        Delete
      </Action>
    </div>
  );
}

function LabelDialog({ label, close, saved }: { label: Label | null; close: () => void; saved: () => void }) {
  const [title, setTitle] = useState(label?.title ?? '');
  const [description, setDescription] = useState(label?.description ?? '');
  const [color, setColor] = useState(label?.color ?? '#1f93ff');
  const [isShown, setShown] = useState(label?.show_on_sidebar ?? false);
  async function send(): Promise<void> {
    const body = { title, description, color, show_on_sidebar: isShown };
    await (label ? call('PATCH labels/:id', { id: label.id, body }) : call('POST labels', { body }));
    saved();
  }
  return (
    <Dialog title={label ? `Label ${label.title}` : 'New label'} onClose={close}>
      <Form submit={label ? 'Save' : 'Create'} send={send}>
        {(problemOf) => (
          <>
            <TextField
              label="Title"
              hint="Lowercase"
              required
              value={title}
              onChange={setTitle}
              problem={problemOf('title')}
            />
            <TextField
              label="Description"
              value={description}
              onChange={setDescription}
              problem={problemOf('description')}
            />
            <TextField label="Colour" type="color" value={color} onChange={setColor} problem={problemOf('color')} />
            <CheckField label="Show on the sidebar" checked={isShown} onChange={setShown} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
