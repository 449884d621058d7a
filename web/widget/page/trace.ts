import type { Reply } from '../../shared/call.ts';
import { sentenceOf } from '../../shared/service-error.ts';
import { Store } from '../../shared/store.ts';
import type { Member } from './member.ts';

export type TracedEvent = Reply<'GET events'>['payload'][number];
export type Serving = Reply<'GET conversations/:id/agent_bot'>;
export type Decision = Serving['history'][number];
export type Run = Reply<'GET conversations/:id/runs'>['payload'][number];
export type Delivery = Reply<'GET deliveries/:id'>;

/** One event, and all that came of it. */
export interface Traced {
  event: TracedEvent;
  /** Whether a bot was called, and why not; null for what bots are not told of. */
  decision: Decision | null;
  /** Several where a run failed and was tried again. */
  runs: Run[];
  /** To webhooks; for administrators only. */
  deliveries: Delivery[];
}

export interface TraceState {
  /** Newest first. */
  entries: readonly Traced[];
  serving: Serving | null;
  /** Why it is not up to date; null while it is. */
  error: string | null;
}

const shown = 25;
const pageSize = 500;
const soonMs = 100;
/** Attempts are no events: as long as one is due, it is looked for. */
const lookMs = 1_000;

/** What happens behind one conversation, as it happens. */
export class Trace {
  readonly state = new Store<TraceState>({ entries: [], serving: null, error: null });
  readonly #member: Member;
  readonly #conversationId: number;
  readonly #deliveries = new Map<number, Delivery>();
  #events: TracedEvent[] = [];
  #cursor: string | undefined;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isLoading = false;
  #isStopped = false;
  #isStale = true;

  constructor(member: Member, conversationId: number) {
    this.#member = member;
    this.#conversationId = conversationId;
  }

  /** Follows the conversation. Returns what ends that. */
  start(): () => void {
    const end = this.#member.live.listen((event) => {
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
    const { call, isAdministrator } = this.#member;
    const id = this.#conversationId;
    const [, serving, runs, deliveries] = await Promise.all([
      this.#readEvents(),
      call('GET conversations/:id/agent_bot', { id }),
      call('GET conversations/:id/runs', { id }),
      isAdministrator ? this.#readDeliveries() : [],
    ]);
    const entries = this.#events.map((event) => ({
      event,
      decision: serving.history.find((decision) => decision.event.id === event.id) ?? null,
      runs: runs.payload.filter((run) => run.event.id === event.id).toReversed(),
      deliveries: deliveries.filter((delivery) => delivery.event_id === event.id),
    }));
    return { entries, serving };
  }

  async #readEvents(): Promise<void> {
    for (;;) {
      const query = { conversation_id: this.#conversationId, after: this.#cursor, limit: pageSize };
      const { payload, meta } = await this.#member.call('GET events', { query: withoutUndefined(query) });
      this.#cursor = meta.next_cursor;
      this.#events = [...payload.toReversed(), ...this.#events].slice(0, shown);
      if (payload.length < pageSize) return;
    }
  }

  async #readDeliveries(): Promise<Delivery[]> {
    const { call } = this.#member;
    const { payload } = await call('GET deliveries', { query: { conversation_id: this.#conversationId } });
    const toWebhooks = payload.filter((delivery) => delivery.endpoint_kind === 'webhook');
    return Promise.all(
      toWebhooks.map(async ({ id, state, attempts }) => {
        const known = this.#deliveries.get(id);
        if (known?.state === state && known.attempts.length === attempts) return known;
        const read = await call('GET deliveries/:id', { id });
        this.#deliveries.set(id, read);
        return read;
      }),
    );
  }
}

function withoutUndefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function isGoingOn({ decision, deliveries }: Traced): boolean {
  if (decision?.reason === 'waiting') return true;
  return deliveries.some(({ state }) => state === 'pending' || state === 'failing');
}
