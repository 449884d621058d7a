import type { Reply } from '../../../shared/call.ts';
import { CrudPage } from '../../kit/crud-page.tsx';
import { LabelMark } from '../../kit/label-mark.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import { Time } from '../../kit/time.tsx';
import { call, isAdministrator } from '../../session.ts';

type Label = Reply<'GET labels'>['payload'][number];
type Draft = Pick<Label, 'title' | 'color' | 'show_on_sidebar'> & { description: string };

const form: RecordForm<Label, Draft> = {
  noun: 'label',
  nameOf: ({ title }) => title,
  fresh: { title: '', description: '', color: '#1f93ff', show_on_sidebar: false },
  draftOf: ({ title, description, color, show_on_sidebar }) => ({
    title,
    description: description ?? '',
    color,
    show_on_sidebar,
  }),
  fields: () => [
    { name: 'title', label: 'Title', hint: 'Lowercase', required: true },
    { name: 'description', label: 'Description' },
    { name: 'color', label: 'Color', type: 'color' },
    { name: 'show_on_sidebar', label: 'Show on the sidebar', type: 'check' },
  ],
  save: (body, label) => (label ? call('PATCH labels/:id', { id: label.id, body }) : call('POST labels', { body })),
};

/** The labels of the account: administrators create, change and delete them. */
export function LabelsPage() {
  return (
    <CrudPage
      title="Labels"
      caption="Labels by title"
      load={(signal) => call('GET labels', { signal })}
      form={form}
      empty={
        <p>
          No labels yet. {isAdministrator() ? 'Create one to group' : 'Administrators create them to group'}{' '}
          conversations.
        </p>
      }
      columns={[
        { title: 'Title', kind: 'text', cell: ({ title, color }) => <LabelMark title={title} color={color} /> },
        { title: 'Description', kind: 'text', cell: ({ description }) => description ?? '–' },
        { title: 'Updated', kind: 'fit', cell: ({ updated_at: at }) => <Time at={at} /> },
      ]}
      remove={{
        question: (title) => `“${title}” is removed from all conversations.`,
        done: (title) => `Label “${title}” deleted.`,
        act: ({ id }) => call('DELETE labels/:id', { id }),
      }}
    />
  );
}
