import { useEffect, useRef, useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import { place, setQuery } from '../../router.ts';
import { statuses } from './words.tsx';

/** Options of the filters. */
export interface Options {
  inboxes: Reply<'GET inboxes'>['payload'];
  teams: Reply<'GET teams'>;
  labels: Reply<'GET labels'>['payload'];
}

type Meta = Reply<'GET conversations'>['data']['meta'];

/** The service searches texts of three characters and more. */
const shortestText = 3;

/** The filters of the list of conversations; they are kept in the address. */
export function Filters({ query, options: { inboxes, teams, labels } }: { query: URLSearchParams; options: Options }) {
  const choice = (name: string) => ({
    value: query.get(name) ?? '',
    onChange: (value: string) => setQuery({ [name]: value, page: null }),
  });
  return (
    <search class="filters">
      <TextFilter query={query} />
      <ChoiceField label="Status" {...choice('status')} options={[['', 'All'], ...statuses]} />
      <ChoiceField
        label="Inbox"
        {...choice('inbox_id')}
        options={[['', 'All'], ...inboxes.map(({ id, name }) => [String(id), name] as const)]}
      />
      {teams.length > 0 && (
        <ChoiceField
          label="Team"
          {...choice('team_id')}
          options={[['', 'All'], ...teams.map(({ id, name }) => [String(id), name] as const)]}
        />
      )}
      {labels.length > 0 && (
        <ChoiceField
          label="Label"
          {...choice('labels')}
          options={[['', 'All'], ...labels.map(({ title }) => [title, title] as const)]}
        />
      )}
    </search>
  );
}

function TextFilter({ query }: { query: URLSearchParams }) {
  const value = query.get('q') ?? '';
  const [text, setText] = useState(value);
  const own = useRef(query);
  // A link leads elsewhere, or another filter is chosen: what does not count is not shown as if it did. What this field asked
  // for itself changes nothing in it, however late that is drawn: meanwhile more was written.
  useEffect(() => {
    if (query === place.value.query && query !== own.current) setText(value);
  }, [query]);
  function enter(entered: string): void {
    setText(entered);
    const asked = entered.trim();
    if (asked !== '' && asked.length < shortestText) return;
    setQuery({ q: asked, page: null });
    own.current = place.value.query;
  }
  return (
    <TextField label="Search" type="search" hint="Messages, names, email addresses" value={text} onChange={enter} />
  );
}

const assignments = [
  ['all', 'All', 'all_count'],
  ['me', 'Mine', 'mine_count'],
  ['unassigned', 'Unassigned', 'unassigned_count'],
  ['assigned', 'Assigned', 'assigned_count'],
] as const satisfies readonly (readonly [string, string, keyof Meta])[];

/** Filter by assignee, with counts. */
export function Assignments({ query, meta }: { query: URLSearchParams; meta: Meta | null }) {
  const present = query.get('assignee_type') ?? 'all';
  return (
    <div class="assignments" role="group" aria-label="Assignee">
      {assignments.map(([type, text, count]) => (
        <a key={type} href={addressOf(query, type)} aria-current={present === type ? 'true' : undefined}>
          {text} {meta && <span class="count">{meta[count]}</span>}
        </a>
      ))}
    </div>
  );
}

function addressOf(query: URLSearchParams, type: string): string {
  const next = new URLSearchParams(query);
  next.delete('page');
  next.set('assignee_type', type);
  return `/console/conversations?${next.toString()}`;
}
