import type { Query } from '../../../shared/call.ts';
import './conversations.css';
import { LabelMark } from '../../kit/label-mark.tsx';
import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { Pages } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { conversationFilters as filters } from '../../saved-views.ts';
import { call, isAdministrator } from '../../session.ts';
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
            <ConversationTable
              rows={payload}
              labels={options.value?.labels ?? []}
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

interface TableProps {
  rows: readonly Conversation[];
  labels: Options['labels'];
  empty: preact.ComponentChildren;
}

function ConversationTable({ rows, labels, empty }: TableProps) {
  return (
    <Table
      caption="Conversations, newest first"
      rows={rows}
      keyOf={({ id }) => id}
      empty={empty}
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
