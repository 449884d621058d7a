import type { Reply } from '../call.ts';
import type { Delivery, Run, Traced, TraceReader } from './trace.ts';

type RunPage = Reply<'GET conversations/:id/runs'>;
type DeliveryPage = Reply<'GET deliveries'>;

/** A bot is tried again for a quarter of an hour. */
const runSeconds = 900;
/** Deliveries are made with their event; the clocks of both may differ. */
const skewSeconds = 2;
const mostPages = 8;

/** Returns the whole trace of an event that is too old for a live trace. Rejects with a ServiceError. */
export async function readOlder(reader: TraceReader, conversationId: number, traced: Traced): Promise<Traced> {
  const [runs, deliveries] = await Promise.all([
    readRuns(reader, conversationId, traced),
    reader.isAdministrator ? readDeliveries(reader, conversationId, traced) : [],
  ]);
  return { ...traced, runs: runs.toReversed(), deliveries, isWhole: true };
}

async function readRuns({ call }: TraceReader, id: number, { event }: Traced): Promise<Run[]> {
  const query = { since: event.created_at, until: event.created_at + runSeconds };
  const runs = await readPages<RunPage>((cursor) =>
    call('GET conversations/:id/runs', { id, query: { ...query, ...cursor } }),
  );
  return runs.filter((run) => run.event.id === event.id);
}

async function readDeliveries({ call }: TraceReader, id: number, { event }: Traced): Promise<Delivery[]> {
  const query = {
    conversation_id: id,
    event: event.event,
    since: event.created_at - skewSeconds,
    until: event.created_at + skewSeconds + 1,
  };
  const listed = await readPages<DeliveryPage>((cursor) => call('GET deliveries', { query: { ...query, ...cursor } }));
  const own = listed.filter((one) => one.event_id === event.id && one.endpoint_kind === 'webhook');
  return Promise.all(own.map((one) => call('GET deliveries/:id', { id: one.id })));
}

async function readPages<Page extends { payload: unknown[]; meta: { next_cursor: string | null } }>(
  read: (cursor: { cursor?: string }) => Promise<Page>,
): Promise<Page['payload'][number][]> {
  const rows: Page['payload'][number][] = [];
  let cursor: { cursor?: string } = {};
  for (let page = 0; page < mostPages; page += 1) {
    const { payload, meta } = await read(cursor);
    rows.push(...payload);
    if (meta.next_cursor === null) break;
    cursor = { cursor: meta.next_cursor };
  }
  return rows;
}
