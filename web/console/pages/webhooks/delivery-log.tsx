import type { Query } from '../../../shared/call.ts';
import { IdField, MomentField, numberIn, TextField } from '../../kit/filter-fields.tsx';
import { ChoiceField } from '../../kit/form.tsx';
import { useReloadOn } from '../../kit/live.ts';
import { Show } from '../../kit/load.tsx';
import { More, useParts, type Growing, type Part } from '../../kit/more.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { Table, type Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { setQuery } from '../../router.ts';
import { deliveryAddress } from '../../shared-webhook.ts';
import {
  deliveredEvents,
  errorClasses,
  Conversation,
  errorInWords,
  isUnderWay,
  Receiver,
  State,
  states,
  type Delivery,
} from './states.tsx';

type Wanted = Partial<Query<'GET deliveries'>>;

const names = ['state', 'event', 'status_code', 'error_class', 'q', 'conversation_id', 'since', 'until'] as const;

/** The deliveries that the query of the address asks for; they are looked at again while one of them is under way. */
export function useDeliveries(
  query: URLSearchParams,
  load: (wanted: Wanted, signal?: AbortSignal) => Promise<Part<Delivery>>,
  inputs: readonly unknown[] = [],
): Growing<Delivery> {
  const given = Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]));
  // Invalid values in the address are refused by the service, whose message is shown.
  const wanted = given as unknown as Wanted;
  const deliveries = useParts<Delivery>(
    (cursor, signal) => load({ ...wanted, ...(cursor === undefined ? {} : { cursor }) }, signal),
    [...inputs, ...Object.values(given)],
  );
  const { value, reload } = deliveries;
  // A reload would throw people who loaded more rows back to the first ones.
  const isAtBegin = value !== null && value.payload.length <= partLength;
  useRepeat(isAtBegin && value.payload.some(isUnderWay), reload);
  useReloadOn(() => isAtBegin, reload);
  return deliveries;
}

const partLength = 25;

interface Props {
  query: URLSearchParams;
  deliveries: Growing<Delivery>;
  /** Names of the receivers, where they are of several. */
  receivers?: ReadonlyMap<number, string>;
}

/** A log of deliveries, with its filters. */
export function DeliveryLog({ query, deliveries, receivers }: Props) {
  const isFiltered = names.some((name) => query.has(name));
  return (
    <>
      <Filters query={query} />
      <Show of={deliveries}>
        {({ payload, meta }) => (
          <>
            <Table
              caption="Deliveries, newest first"
              rows={payload}
              keyOf={({ id }) => id}
              empty={
                meta.next_cursor === null ? (
                  <EmptyState isFiltered={isFiltered} />
                ) : (
                  <p>No matches so far. Show more to continue.</p>
                )
              }
              columns={columnsOf(receivers)}
            />
            <More of={deliveries} />
          </>
        )}
      </Show>
    </>
  );
}

function Filters({ query }: { query: URLSearchParams }) {
  return (
    <search class="filters">
      <ChoiceField
        label="State"
        value={query.get('state') ?? ''}
        onChange={(state) => setQuery({ state })}
        options={[['', 'All'], ...states.map((state) => [state, state] as const)]}
      />
      <ChoiceField
        label="Event"
        value={query.get('event') ?? ''}
        onChange={(event) => setQuery({ event })}
        options={[['', 'All'], ...deliveredEvents.map((event) => [event, event] as const)]}
      />
      <IdField
        label="Status code"
        value={query.get('status_code')}
        onChange={(status) => setQuery({ status_code: status })}
      />
      <ChoiceField
        label="Error"
        value={query.get('error_class') ?? ''}
        onChange={(error) => setQuery({ error_class: error })}
        options={[['', 'All'], ...errorClasses.map((error) => [error, errorInWords(error)] as const)]}
      />
      <TextField label="Response contains" value={query.get('q')} onChange={(q) => setQuery({ q })} />
      <IdField
        label="Conversation"
        value={query.get('conversation_id')}
        onChange={(id) => setQuery({ conversation_id: id })}
      />
      <MomentField label="Since" value={numberIn(query, 'since')} onChange={(since) => setQuery({ since })} />
      <MomentField label="Until" value={numberIn(query, 'until')} onChange={(until) => setQuery({ until })} />
    </search>
  );
}

function EmptyState({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) return <p>No deliveries yet. They appear here when an event happens or you send a test.</p>;
  return (
    <>
      <p>No deliveries match these filters.</p>
      <button type="button" onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, null])))}>
        Clear filters
      </button>
    </>
  );
}

function columnsOf(receivers: ReadonlyMap<number, string> | undefined): Column<Delivery>[] {
  const endpoint: Column<Delivery> = {
    title: 'Endpoint',
    kind: 'text',
    cell: (of) => <Receiver of={of} names={receivers ?? new Map()} />,
  };
  return [
    { title: 'Delivery', kind: 'fit', cell: ({ id }) => <a href={deliveryAddress(id)}>Delivery {id}</a> },
    ...(receivers ? [endpoint] : []),
    { title: 'Event', kind: 'text', cell: ({ event }) => event },
    {
      title: 'Conversation',
      kind: 'fit',
      isExtra: true,
      cell: ({ conversation_id: id }) => (id === null ? '–' : <Conversation id={id}>{id}</Conversation>),
    },
    { title: 'State', kind: 'fit', cell: ({ state }) => <State state={state} /> },
    { title: 'Attempts', kind: 'fit', isExtra: true, cell: ({ attempts }) => attempts },
    { title: 'Last response', kind: 'text', cell: lastAnswer },
    { title: 'Next attempt', kind: 'fit', cell: ({ next_attempt_at: at }) => <Time at={at} /> },
    { title: 'Trigger', kind: 'fit', isExtra: true, cell: ({ trigger }) => trigger },
    { title: 'Created', kind: 'fit', cell: ({ created_at: at }) => <Time at={at} /> },
  ];
}

function lastAnswer({ last_status: status, last_error: error }: Delivery): string {
  const words = error === null ? null : errorInWords(error);
  return [status, words].filter((part) => part !== null).join(', ') || '–';
}
