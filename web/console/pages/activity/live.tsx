import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveEvent } from '../../../shared/live.ts';
import { useStore } from '../../../shared/store.ts';
import { Json } from '../../kit/code.tsx';
import { IdField } from '../../kit/filter-fields.tsx';
import { ChoiceField } from '../../kit/form.tsx';
import { useLive } from '../../kit/live.ts';
import { Page } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import type { ViewProps } from '../../page-row.ts';
import { setQuery } from '../../router.ts';
import { live } from '../../session.ts';
import { eventExamples } from './event-examples.ts';
import { emptyTail, hear, mostShown, pause, resume, type Tail } from './tail.ts';

const names = [...new Set(eventExamples.map(({ name }) => name))].toSorted();

/** The account's events as they happen. */
export function LivePage({ query }: ViewProps) {
  const isWanted = wantedBy(query);
  const state = useStore(live.state);
  const [tail, setTail] = useTail(isWanted, state === 'live');
  const shown = tail.shown.filter(isWanted);
  return (
    <Page
      title="Live"
      actions={
        <>
          {tail.waiting === null ? (
            <button type="button" onClick={() => setTail(pause)}>
              Pause
            </button>
          ) : (
            <button type="button" class="primary" onClick={() => setTail(resume)}>
              Resume
            </button>
          )}
          <button type="button" onClick={() => setTail((before) => ({ ...emptyTail, waiting: before.waiting && [] }))}>
            Clear
          </button>
        </>
      }
    >
      <p>
        Live events, newest first. The latest {mostShown} are shown.{' '}
        {state === 'waiting' && 'Offline. Missed events appear when the connection is back.'}
      </p>
      <Filters query={query} />
      <Notes tail={tail} />
      <Table
        caption="Events, newest first"
        rows={shown}
        keyOf={({ cursor }) => cursor}
        empty={<p>No events since you opened this page. Write a message in a chat to see its events here.</p>}
        columns={[
          { title: 'Time', kind: 'fit', cell: ({ created_at: at }) => <Moment at={at} /> },
          { title: 'Event', kind: 'text', cell: ({ event }) => event },
          {
            title: 'Conversation',
            kind: 'fit',
            cell: ({ conversation_id: id }) => (id === null ? '–' : <a href={`/console/conversations/${id}`}>{id}</a>),
          },
          { title: 'Sequence', kind: 'fit', isExtra: true, cell: ({ sequence }) => sequence ?? '–' },
          { title: 'Payload', kind: 'text', cell: (event) => <Payload event={event} /> },
        ]}
      />
    </Page>
  );
}

function wantedBy(query: URLSearchParams): (event: LiveEvent) => boolean {
  const type = query.get('type');
  const conversation = query.get('conversation_id');
  return (event) =>
    (type === null || event.event === type) &&
    (conversation === null || String(event.conversation_id) === conversation);
}

const gatherMs = 100;

// Many events at once draw the page once.
function useTail(isWanted: (event: LiveEvent) => boolean, isLive: boolean) {
  const [tail, setTail] = useState<Tail>(emptyTail);
  const gathered = useRef<LiveEvent[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const wasLive = useRef(false);
  if (isLive) wasLive.current = true;
  useLive((event) => {
    // Before the first stream nothing was promised.
    if (event === 'missed') return wasLive.current && setTail((before) => ({ ...before, hasMissed: true }));
    // Filtered events must not displace matching ones.
    if (!isWanted(event)) return;
    gathered.current.push(event);
    timer.current ??= setTimeout(() => {
      timer.current = null;
      const events = gathered.current.splice(0);
      setTail((before) => hear(before, events));
    }, gatherMs);
  });
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  return [tail, setTail] as const;
}

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <search class="filters">
      <ChoiceField
        label="Event"
        value={query.get('type') ?? ''}
        onChange={(type) => setQuery({ type })}
        options={[['', 'All'], ...names.map((name) => [name, name] as const)]}
      />
      <IdField
        label="Conversation"
        value={query.get('conversation_id')}
        onChange={(id) => setQuery({ conversation_id: id })}
      />
    </search>
  );
}

function Notes({ tail: { waiting, dropped, hasMissed } }: { tail: Tail }) {
  return (
    <div role="status">
      {waiting !== null && (
        <p class="note">
          Paused: {waiting.length} new {waiting.length === 1 ? 'event' : 'events'}.{' '}
          {dropped > 0 && ` ${dropped} older events were dropped.`}
        </p>
      )}
      {hasMissed && <p class="note error">Some events were missed while offline. See deliveries and conversations.</p>}
    </div>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

function Moment({ at }: { at: number }) {
  const moment = new Date(at * 1000);
  return <time dateTime={moment.toISOString()}>{clock.format(moment)}</time>;
}

// Drawn when it is unfolded: a page of large bodies would be slow.
function Payload({ event: { event, cursor, payload } }: { event: LiveEvent }) {
  const [isOpen, setOpen] = useState(false);
  if (payload === null) return <>Bots only</>;
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summaryOf(payload)}</summary>
      {isOpen && <Json key={cursor} label={`Payload of ${event}`} value={payload} />}
    </details>
  );
}

const longest = 60;

/** Short text that distinguishes an event from the next. */
function summaryOf(payload: object): string {
  const { content, name, status } = payload as Record<string, unknown>;
  const text = [content, name, status].find((one) => typeof one === 'string' && one !== '');
  if (typeof text !== 'string') return 'Payload';
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
