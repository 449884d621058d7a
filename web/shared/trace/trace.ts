import type { Call, Reply } from '../call.ts';
import type { Live } from '../live.ts';
import { sentenceOf, ServiceError } from '../service-error.ts';
import { Store } from '../store.ts';
import { dueInMs, lookOf } from './under-way.ts';

export type TracedEvent = Reply<'GET events'>['payload'][number];
export type Serving = Reply<'GET conversations/:id/agent_bot'>;
export type Decision = Serving['history'][number];
export type Run = Reply<'GET conversations/:id/runs'>['payload'][number];
export type Delivery = Reply<'GET deliveries/:id'>;

/** Reader of a trace. Deliveries are for administrators only. */
export interface TraceReader {
  call: Call;
  live: Live;
  isAdministrator: boolean;
}

/** An event with its trace. */
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
/** Attempts are no events: one that is due is looked for after this time, then at growing distances. */
const firstPauseMs = 1_000;
/** Not longer, however late an attempt is due: the browser's clock may be another one than the service's. */
const longestPauseMs = 60_000;
/** Statuses that no retry changes: signed out, not permitted, or deleted. */
const finalStatuses = [401, 403, 404];
const goneStatus = 410;
/** The service tells this many decisions of a conversation. */
const decisionsTold = 25;

/** Live trace of a conversation. */
export class Trace {
  readonly state = new Store<TraceState>({ entries: [], serving: null, error: null });
  readonly #reader: TraceReader;
  readonly #conversationId: number;
  readonly #shown: number;
  readonly #deliveries = new Map<number, Delivery>();
  #events: TracedEvent[] = [];
  #cursor: string | undefined;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #pauseMs = firstPauseMs;
  #lastLook = '';
  #isLoading = false;
  #isStale = true;
  /** Ends what it listens to; null before the start and after the end. */
  #end: (() => void) | null = null;

  /** `shown`: how many events it has at most, the newest ones. */
  constructor(reader: TraceReader, conversationId: number, shown = shownByDefault) {
    this.#reader = reader;
    this.#conversationId = conversationId;
    this.#shown = shown;
  }

  /** Follows the conversation while somebody looks at the page. Returns what ends that. */
  start(): () => void {
    const { live } = this.#reader;
    const endEvents = live.listen((event) => {
      if (event === 'missed' || event.conversation_id === this.#conversationId) this.#lookSoon();
    });
    const endState = live.state.watch((state) => {
      if (state === 'live' && this.state.value.error !== null) this.#lookSoon();
    });
    const seen = (): void => {
      if (!document.hidden && this.#isStale) this.#lookSoon();
    };
    document.addEventListener('visibilitychange', seen);
    this.#end = () => {
      endEvents();
      endState();
      document.removeEventListener('visibilitychange', seen);
    };
    this.#lookIn(0);
    return () => this.#stop();
  }

  #stop(): void {
    this.#end?.();
    this.#end = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #lookSoon(): void {
    this.#pauseMs = firstPauseMs;
    this.#lookIn(soonMs);
  }

  #lookIn(ms: number): void {
    this.#isStale = true;
    if (this.#isLoading || this.#end === null) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), ms);
  }

  async #look(): Promise<void> {
    // It stays stale, and is looked at when somebody looks at the page again.
    if (document.hidden) return;
    this.#isLoading = true;
    this.#isStale = false;
    try {
      const next = await this.#read();
      if (this.#end !== null) this.state.set({ ...next, error: null });
    } catch (error) {
      if (this.#end !== null) this.#fail(error);
    } finally {
      this.#isLoading = false;
    }
    const waitMs = this.#isStale ? soonMs : this.#waitMs();
    if (waitMs !== null) this.#lookIn(waitMs);
  }

  #fail(error: unknown): void {
    const isFinal = error instanceof ServiceError && finalStatuses.includes(error.status);
    const sentence = sentenceOf(error);
    this.state.set({ ...this.state.value, error: isFinal ? `${sentence}. It is not followed any more` : sentence });
    if (isFinal) this.#stop();
  }

  /** After which time to look for what is no event; null where nothing is under way. */
  #waitMs(): number | null {
    const { entries, error } = this.state.value;
    const dueMs = error === null ? dueInMs(entries, Date.now()) : 0;
    if (dueMs === null) return null;
    const look = lookOf(entries);
    if (look !== this.#lastLook) this.#pauseMs = firstPauseMs;
    this.#lastLook = look;
    if (dueMs > this.#pauseMs) return Math.min(dueMs, longestPauseMs);
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    return pauseMs;
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
    try {
      await this.#readOn();
    } catch (error) {
      const isGone = error instanceof ServiceError && error.status === goneStatus;
      if (!isGone || this.#cursor === undefined) throw error;
      // The feed is not kept as far back as this place, or was restored from a backup: it begins with what is kept.
      this.#cursor = undefined;
      this.#events = [];
      await this.#readOn();
    }
  }

  async #readOn(): Promise<void> {
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
