import type { Call, Reply } from '../call.ts';
import type { Live } from '../live.ts';
import { sentenceOf } from '../service-error.ts';
import { Store } from '../store.ts';

export type TracedEvent = Reply<'GET events'>['payload'][number];
export type Serving = Reply<'GET conversations/:id/agent_bot'>;
export type Decision = Serving['history'][number];
export type Run = Reply<'GET conversations/:id/runs'>['payload'][number];
export type Delivery = Reply<'GET deliveries/:id'>;

/** Who reads a trace. Administrators read of deliveries too. */
export interface TraceReader {
  call: Call;
  live: Live;
  isAdministrator: boolean;
}

/** One event, and all that came of it. */
export interface Traced {
  event: TracedEvent;
  /** Whether a bot was called, and why not; null for what bots are not told of. */
  decision: Decision | null;
  /** Several where a run failed and was tried again. */
  runs: Run[];
  /** To webhooks; for administrators only. */
  deliveries: Delivery[];
  /** Whether nothing is left out; of older events `readOlder` reads the rest. */
  isWhole: boolean;
}

export interface TraceState {
  /** Newest first. */
  entries: readonly Traced[];
  serving: Serving | null;
  /** Why it is not up to date; null while it is. */
  error: string | null;
}

const shownByDefault = 25;
const pageSize = 500;
const soonMs = 100;
/** Attempts are no events: as long as one is due, it is looked for. */
const lookMs = 1_000;
/** The service tells this many decisions of a conversation. */
const decisionsTold = 25;

/** What happens behind one conversation, as it happens. */
export class Trace {
  readonly state = new Store<TraceState>({ entries: [], serving: null, error: null });
  readonly #reader: TraceReader;
  readonly #conversationId: number;
  readonly #shown: number;
  readonly #deliveries = new Map<number, Delivery>();
  #events: TracedEvent[] = [];
  #cursor: string | undefined;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isLoading = false;
  #isStopped = false;
  #isStale = true;

  /** `shown`: how many events it has at most, the newest ones. */
  constructor(reader: TraceReader, conversationId: number, shown = shownByDefault) {
    this.#reader = reader;
    this.#conversationId = conversationId;
    this.#shown = shown;
  }

  /** Follows the conversation. Returns what ends that. */
  start(): () => void {
    const end = this.#reader.live.listen((event) => {
      if (event === 'missed' || event.conversation_id === this.#conversationId) this.#lookIn(soonMs);
    });
    this.#lookIn(0);
    return () => {
      this.#isStopped = true;
      if (this.#timer !== null) clearTimeout(this.#timer);
      end();
    };
  }

  #lookIn(ms: number): void {
    this.#isStale = true;
    if (this.#isLoading || this.#isStopped) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), ms);
  }

  async #look(): Promise<void> {
    this.#isLoading = true;
    this.#isStale = false;
    const { value } = this.state;
    try {
      const next = await this.#read();
      if (this.#isStopped) return;
      this.state.set({ ...next, error: null });
    } catch (error) {
      this.state.set({ ...value, error: sentenceOf(error) });
    } finally {
      this.#isLoading = false;
    }
    if (this.#isStale) this.#lookIn(soonMs);
    else if (this.state.value.error !== null || this.state.value.entries.some(isGoingOn)) this.#lookIn(lookMs);
  }

  async #read(): Promise<Omit<TraceState, 'error'>> {
    const { call, isAdministrator } = this.#reader;
    const id = this.#conversationId;
    const [, serving, runs, deliveries] = await Promise.all([
      this.#readEvents(),
      call('GET conversations/:id/agent_bot', { id }),
      call('GET conversations/:id/runs', { id }),
      isAdministrator ? this.#readDeliveries() : { known: [], end: 0 },
    ]);
    const decided = serving.history.length < decisionsTold ? 0 : (serving.history.at(-1)?.created_at ?? 0);
    const wholeAfter = Math.max(decided, endOf(runs), deliveries.end);
    const entries = this.#events.map((event) => ({
      event,
      decision: serving.history.find((decision) => decision.event.id === event.id) ?? null,
      runs: runs.payload.filter((run) => run.event.id === event.id).toReversed(),
      deliveries: deliveries.known.filter((delivery) => delivery.event_id === event.id),
      isWhole: event.created_at > wholeAfter,
    }));
    return { entries, serving };
  }

  async #readEvents(): Promise<void> {
    for (;;) {
      const query = { conversation_id: this.#conversationId, limit: pageSize, ...after(this.#cursor) };
      const { payload, meta } = await this.#reader.call('GET events', { query });
      this.#cursor = meta.next_cursor;
      this.#events = [...payload.toReversed(), ...this.#events].slice(0, this.#shown);
      if (payload.length < pageSize) return;
    }
  }

  async #readDeliveries(): Promise<{ known: Delivery[]; end: number }> {
    const { call } = this.#reader;
    const part = await call('GET deliveries', { query: { conversation_id: this.#conversationId } });
    const toWebhooks = part.payload.filter(isToWebhook);
    const known = await Promise.all(
      toWebhooks.map(async ({ id, state, attempts }) => {
        const before = this.#deliveries.get(id);
        if (before?.state === state && before.attempts.length === attempts) return before;
        const read = await call('GET deliveries/:id', { id });
        this.#deliveries.set(id, read);
        return read;
      }),
    );
    return { known, end: endOf(part) };
  }
}

function after(cursor: string | undefined): { after?: string } {
  return cursor === undefined ? {} : { after: cursor };
}

/** The moment down to which a list by cursors, newest first, tells everything; 0 where it has all. */
function endOf({ payload, meta }: { payload: { created_at: number }[]; meta: { next_cursor: string | null } }): number {
  return meta.next_cursor === null ? 0 : (payload.at(-1)?.created_at ?? 0);
}

function isToWebhook({ endpoint_kind: kind }: { endpoint_kind: string }): boolean {
  return kind === 'webhook';
}

function isGoingOn({ decision, deliveries }: Traced): boolean {
  if (decision?.reason === 'waiting') return true;
  return deliveries.some(({ state }) => state === 'pending' || state === 'failing');
}
