import type { ComponentChildren } from 'preact';
import type { Query } from '../../../shared/call.ts';
import { useReloadOn } from '../../kit/live.ts';
import { Show } from '../../kit/load.tsx';
import { More, useParts, type Growing, type Part } from '../../kit/more.tsx';
import { useRepeat } from '../../kit/repeat.ts';
import { Table, type Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { setQuery } from '../../router.ts';
import { deliveryAddress } from '../../shared-webhook.ts';
import { filterNames, LogFilters } from './log-filters.tsx';
import { Conversation, errorInWords, isUnderWay, Receiver, State, type Delivery } from './states.tsx';

type Wanted = Partial<Query<'GET deliveries'>>;

/** The deliveries that the query of the address asks for; they are looked at again while one of them is under way. */
export function useDeliveries(
  query: URLSearchParams,
  load: (wanted: Wanted, signal?: AbortSignal) => Promise<Part<Delivery>>,
  inputs: readonly unknown[] = [],
): Growing<Delivery> {
  const given = Object.fromEntries(filterNames.map((name) => [name, query.get(name) ?? undefined]));
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
  /** Actions on what the filters select, and their progress. */
  actions?: ComponentChildren;
}

/** A log of deliveries, with its filters. */
export function DeliveryLog({ query, deliveries, receivers, actions }: Props) {
  const isFiltered = filterNames.some((name) => query.has(name));
  return (
    <>
      <LogFilters query={query} />
      {actions}
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

function EmptyState({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) return <p>No deliveries yet. They appear here when an event happens or you send a test.</p>;
  return (
    <>
      <p>No deliveries match these filters.</p>
      <button type="button" onClick={() => setQuery(Object.fromEntries(filterNames.map((name) => [name, null])))}>
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
