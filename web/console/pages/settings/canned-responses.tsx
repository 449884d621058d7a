import type { Reply } from '../../../shared/call.ts';
import { CrudPage } from '../../kit/crud-page.tsx';
import { TextField } from '../../kit/form.tsx';
import { pageOf } from '../../kit/pages.tsx';
import type { RecordForm } from '../../kit/record-form.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';

type CannedResponse = Reply<'GET canned_responses'>['payload'][number];
type Draft = Pick<CannedResponse, 'short_code' | 'content'>;

const form: RecordForm<CannedResponse, Draft> = {
  noun: 'canned response',
  nameOf: ({ short_code: code }) => code,
  fresh: { short_code: '', content: '' },
  draftOf: ({ short_code, content }) => ({ short_code, content }),
  fields: () => [
    { name: 'short_code', label: 'Short code', hint: 'Agents type / and this code in a reply.', required: true },
    {
      name: 'content',
      label: 'Content',
      hint: 'Variables such as {{contact.first_name}} and {{agent.name}} are filled in when it is inserted.',
      type: 'lines',
      required: true,
    },
  ],
  save: (body, response) =>
    response ? call('PATCH canned_responses/:id', { id: response.id, body }) : call('POST canned_responses', { body }),
};

/** The canned responses of the account: all agents create, change and delete them. */
export function CannedResponsesPage({ query }: ViewProps) {
  const page = pageOf(query);
  const search = query.get('q')?.trim() ?? '';
  return (
    <CrudPage
      title="Canned responses"
      caption="Canned responses by short code"
      inputs={[page, search]}
      filters={
        <TextField
          label="Search"
          type="search"
          value={query.get('q') ?? ''}
          onChange={(q) => setQuery({ q, page: null })}
        />
      }
      load={(signal) => call('GET canned_responses', { query: search === '' ? { page } : { page, search }, signal })}
      form={form}
      mayChange
      empty={
        <p>
          {search === ''
            ? 'No canned responses yet. Create one to answer frequent questions by a short code.'
            : 'No canned responses match your search.'}
        </p>
      }
      columns={[
        { title: 'Short code', kind: 'text', cell: ({ short_code: code }) => <code>{code}</code> },
        { title: 'Content', kind: 'line', cell: ({ content }) => <span dir="auto">{content}</span> },
        { title: 'Updated', kind: 'fit', cell: ({ updated_at: at }) => <Time at={at} /> },
      ]}
      remove={{
        question: (code) => `“${code}” is deleted for all agents.`,
        done: (code) => `Canned response “${code}” deleted.`,
        act: ({ id }) => call('DELETE canned_responses/:id', { id }),
      }}
    />
  );
}
