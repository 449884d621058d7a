import { useLayoutEffect, useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { ChoiceField, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { pageOf, Pages } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { call } from '../../session.ts';
import { nameOf } from '../conversations/words.tsx';

type Contact = Reply<'GET contacts'>['payload'][number];

const orders = [
  ['-last_activity_at', 'Last activity'],
  ['name', 'Name'],
  ['-created_at', 'Newest'],
] as const;
type Order = (typeof orders)[number][0];

interface Wanted {
  page: number;
  search: string;
  label: string;
  sort: Order;
}

/** The contacts of the account; what is looked for is kept in the address. */
export function ContactsPage({ query }: ViewProps) {
  const wanted = wantedBy(query);
  const { page, search, label, sort } = wanted;
  const contacts = useLoad((signal) => find(wanted, signal), [page, search, label, sort]);
  const isFiltered = search !== '' || label !== '';
  return (
    <Page
      title="Contacts"
      actions={
        <a class="button primary" href="/console/contacts/new">
          New contact
        </a>
      }
    >
      <Filters {...wanted} />
      <Show of={contacts}>
        {({ payload, meta }) => (
          <>
            <Table
              caption={isFiltered ? 'Contacts found, by name' : 'Contacts'}
              rows={payload}
              keyOf={({ id }) => id}
              empty={<EmptyState isFiltered={isFiltered} />}
              columns={columns}
            />
            <Pages meta={meta} />
          </>
        )}
      </Show>
    </Page>
  );
}

const columns = [
  {
    title: 'Name',
    kind: 'text' as const,
    cell: (contact: Contact) => (
      <>
        <a href={`/console/contacts/${contact.id}`}>{nameOf(contact)}</a>{' '}
        {contact.blocked && <span class="badge bad">Blocked</span>}
      </>
    ),
  },
  { title: 'Email', kind: 'line' as const, cell: ({ email }: Contact) => email ?? '–' },
  { title: 'Phone', kind: 'fit' as const, cell: ({ phone_number: phone }: Contact) => phone ?? '–' },
  {
    title: 'Last activity',
    kind: 'fit' as const,
    cell: ({ last_activity_at: at }: Contact) => (at === null ? '–' : <Time at={at} />),
  },
  { title: 'Created', kind: 'fit' as const, isExtra: true, cell: ({ created_at: at }: Contact) => <Time at={at} /> },
];

function wantedBy(query: URLSearchParams): Wanted {
  const asked = query.get('sort');
  return {
    page: pageOf(query),
    search: query.get('q') ?? '',
    label: query.get('label') ?? '',
    sort: orders.find(([order]) => order === asked)?.[0] ?? '-last_activity_at',
  };
}

function find({ page, search, label, sort }: Wanted, signal: AbortSignal) {
  if (label !== '') {
    const labelled = { attribute_key: 'labels', filter_operator: 'equal_to' as const, values: [label] };
    const named = { attribute_key: 'name', filter_operator: 'contains' as const, values: [search] };
    const payload = search === '' ? [labelled] : [{ ...labelled, query_operator: 'and' as const }, named];
    return call('POST contacts/filter', { query: { page }, body: { payload }, signal });
  }
  if (search !== '') return call('GET contacts/search', { query: { q: search, page }, signal });
  return call('GET contacts', { query: { page, sort }, signal });
}

function Filters({ search, label, sort }: Wanted) {
  const [typed, setTyped] = useState(search);
  const labels = useLoad((signal) => call('GET labels', { signal }));
  const titles = labels.value?.payload.map(({ title }) => title) ?? [];
  const isListed = search === '' && label === '';
  useLayoutEffect(() => setTyped(search), [search]);
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ q: typed.trim(), page: null });
        }}
      >
        <TextField
          label={label === '' ? 'Name, email, phone or identifier' : 'Name'}
          type="search"
          value={typed}
          onChange={setTyped}
        />
        <ChoiceField
          label="Label"
          value={label}
          onChange={(value) => setQuery({ label: value, page: null })}
          options={[['', 'All'], ...titlesWith(titles, label).map((title) => [title, title] as const)]}
        />
        {isListed && (
          <ChoiceField
            label="Order"
            value={sort}
            onChange={(value) => setQuery({ sort: value, page: null })}
            options={orders}
          />
        )}
        <button type="submit">Search</button>
      </form>
    </search>
  );
}

// A label in the address may be gone by now, or not known yet.
function titlesWith(titles: readonly string[], label: string): readonly string[] {
  return label === '' || titles.includes(label) ? titles : [...titles, label];
}

function EmptyState({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <p>
      No contacts match. <a href="/console/contacts">Clear the search</a>
    </p>
  ) : (
    <p>No contacts yet. Whoever writes to an inbox becomes one.</p>
  );
}
