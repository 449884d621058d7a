import { useState } from 'preact/hooks';
import type { Query } from '../../../shared/call.ts';
import './conversations.css';
import { Action } from '../../kit/action.tsx';
import { LabelMark } from '../../kit/label-mark.tsx';
import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Pages } from '../../kit/pages.tsx';
import { SelectionBar, type Selection } from '../../kit/selection.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { conversationFilters as filters } from '../../saved-views.ts';
import { call, isAdministrator } from '../../session.ts';
import { BulkDialog, changeSelected } from './bulk-dialog.tsx';
import { Assignments, Filters, type Options } from './filters.tsx';
import { ViewActions } from './view-actions.tsx';
import { holderOf, nameOf, StatusBadge, type Conversation } from './words.tsx';

type Asked = Partial<Query<'GET conversations'>>;

/** The conversations that the person may see: filtered, counted, and followed as they happen. */
export function ConversationsPage({ query }: ViewProps) {
  const conversations = useLoad(
    (signal) => call('GET conversations', { query: askedOf(query), signal }),
    [query.toString()],
  );
  const options = useLoad(readOptions);
  useReloadOn(
    ({ conversation_id: id, event }) => id !== null || event === 'conversation_deleted',
    conversations.reload,
  );
  return (
    <Page title="Conversations">
      <Show of={options}>{(value) => <Filters query={query} options={value} />}</Show>
      <div class="toolbar">
        <Assignments query={query} meta={conversations.value?.data.meta ?? null} />
        <ViewActions query={query} />
      </div>
      <Show of={conversations}>
        {({ data: { payload, meta } }) => (
          <>
            <SelectableConversations
              // A selection is of the rows that are shown: other filters and pages begin with none.
              key={query.toString()}
              rows={payload}
              options={options.value}
              reload={conversations.reload}
              empty={<EmptyState isFiltered={filters.some((name) => query.has(name))} isBehind={meta.count > 0} />}
            />
            <Pages meta={meta} />
          </>
        )}
      </Show>
    </Page>
  );
}

function askedOf(query: URLSearchParams): Asked {
  const given = [...filters, 'page'].flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

async function readOptions(signal: AbortSignal): Promise<Options> {
  const [inboxes, teams, labels] = await Promise.all([
    call('GET inboxes', { signal }),
    call('GET teams', { signal }),
    call('GET labels', { signal }),
  ]);
  return { inboxes: inboxes.payload, teams, labels: labels.payload };
}

function EmptyState({ isFiltered, isBehind }: { isFiltered: boolean; isBehind: boolean }) {
  if (isBehind || isFiltered) {
    return (
      <p>
        {isBehind ? 'You have reached the end of the list.' : 'No conversations match these filters.'}{' '}
        <a href="/console/conversations">{isBehind ? 'Back to the first page' : 'Clear filters'}</a>
      </p>
    );
  }
  if (!isAdministrator()) {
    return <p>No conversations in your inboxes and teams yet. They appear here when customers write.</p>;
  }
  return (
    <p>
      No conversations yet. To try it, open the chat page of an <a href="/console/settings/inboxes">inbox</a> and write
      a message.
    </p>
  );
}

interface ListProps {
  rows: readonly Conversation[];
  options: Options | null;
  reload: () => Promise<void>;
  empty: preact.ComponentChildren;
}

function SelectableConversations({ rows, options, reload, empty }: ListProps) {
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [isEditing, setEditing] = useState(false);
  // Conversations that left the list meanwhile are not changed unseen.
  const ids = rows.flatMap(({ id }) => (selected.has(id) ? [id] : []));
  const clear = () => setSelected(new Set());
  async function resolve(): Promise<void> {
    await changeSelected(ids, { fields: { status: 'resolved' } });
    clear();
    await reload();
  }
  return (
    <>
      <SelectionBar count={ids.length} clear={clear}>
        <Action act={resolve}>Resolve selected</Action>
        <button type="button" onClick={() => setEditing(true)}>
          Edit selected
        </button>
      </SelectionBar>
      {isEditing && (
        <BulkDialog
          ids={ids}
          labels={options?.labels ?? []}
          teams={options?.teams ?? []}
          changed={() => {
            clear();
            void reload();
          }}
          close={() => setEditing(false)}
        />
      )}
      <ConversationTable
        rows={rows}
        labels={options?.labels ?? []}
        empty={empty}
        selection={{ selected, onChange: setSelected, idOf: ({ id }) => id, nameOf: ({ contact }) => nameOf(contact) }}
      />
    </>
  );
}

interface TableProps {
  rows: readonly Conversation[];
  labels: Options['labels'];
  empty: preact.ComponentChildren;
  selection: Selection<Conversation>;
}

function ConversationTable({ rows, labels, empty, selection }: TableProps) {
  return (
    <Table
      caption="Conversations, newest first"
      rows={rows}
      keyOf={({ id }) => id}
      empty={empty}
      selection={selection}
      columns={[
        { title: 'Contact', kind: 'line', cell: (row) => <Customer conversation={row} /> },
        { title: 'Last message', kind: 'line', cell: ({ last_message: last }) => <Last message={last} /> },
        {
          title: 'Status',
          kind: 'fit',
          cell: (row) => (
            <>
              <StatusBadge of={row} /> {row.priority}
            </>
          ),
        },
        { title: 'Assignee', kind: 'line', cell: holderOf },
        {
          title: 'Labels',
          kind: 'line',
          isExtra: true,
          cell: (row) => (
            <span class="marks">
              {row.labels.map((title) => (
                <LabelMark key={title} title={title} color={labels.find((label) => label.title === title)?.color} />
              ))}
            </span>
          ),
        },
        { title: 'Last activity', kind: 'fit', cell: ({ last_activity_at: at }) => <Time at={at} /> },
      ]}
    />
  );
}

function Customer({ conversation: { id, contact, unread_count: unread } }: { conversation: Conversation }) {
  return (
    <span class="contact">
      <a href={`/console/conversations/${id}`} title={nameOf(contact)}>
        {nameOf(contact)}
      </a>{' '}
      {unread > 0 && <span class="badge wait">{unread} unread</span>}
    </span>
  );
}

function Last({ message }: { message: Conversation['last_message'] }) {
  if (!message) return <>–</>;
  const { content, content_attributes: attributes, private: isNote, attachments } = message;
  const files = attachments.map(({ file_name: name }) => name).join(', ');
  const text = attributes['deleted'] === true ? 'Message deleted' : content || files;
  return (
    <span class="last" dir="auto">
      {isNote && <b>Private: </b>}
      {text}
    </span>
  );
}
