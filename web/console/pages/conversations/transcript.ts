import type { Call, Reply } from '../../../shared/call.ts';
import type { Live } from '../../../shared/live.ts';
import { sentenceOf, ServiceError } from '../../../shared/service-error.ts';
import { Store } from '../../../shared/store.ts';

export type Message = Reply<'GET conversations/:conversation_id/messages'>['payload'][number];

interface TranscriptState {
  /** Oldest first. */
  messages: readonly Message[];
  hasEarlier: boolean;
  /** Whether the first of them are still on their way. */
  isLoading: boolean;
  /** Why it is not up to date; null while it is. */
  error: string | null;
}

/** The service tells so many messages at once, and so many after a moment. */
const pageSize = 20;
const pageSizeAfter = 100;
const soonMs = 50;
const firstAgainMs = 2_000;
const lastAgainMs = 60_000;
/** Statuses that no retry changes. */
const final = new Set([401, 403, 404]);

/** The messages of one conversation, as they are written, changed and deleted. */
export class Transcript {
  readonly state = new Store<TranscriptState>({ messages: [], hasEarlier: false, isLoading: true, error: null });
  readonly #service: { call: Call; live: Live };
  readonly #conversationId: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isReading = false;
  #againMs = firstAgainMs;
  /** Whether the last reading failed and is to be tried again. */
  #isBehind = false;
  /** Everything up to this second was read; what was added meanwhile says nothing of what came before it. */
  #readUntil: number | null = null;
  #isStopped = false;
  /** Messages to read: new ones, or shown ones too, as some have changed. */
  #wanted: 'nothing' | 'new' | 'all' = 'nothing';

  constructor(service: { call: Call; live: Live }, conversationId: number) {
    this.#service = service;
    this.#conversationId = conversationId;
  }

  /** Follows the conversation. Returns what ends that. */
  start(): () => void {
    const end = this.#service.live.listen((event) => {
      if (event === 'missed') this.#hurry('all');
      else if (event.conversation_id !== this.#conversationId || !event.event.startsWith('message_')) return;
      else this.#want(event.event === 'message_created' ? 'new' : 'all');
    });
    const look = (): void => {
      if (this.#isBehind && document.visibilityState !== 'hidden') this.#hurry('new');
    };
    document.addEventListener('visibilitychange', look);
    this.#want('new');
    return () => {
      this.#isStopped = true;
      document.removeEventListener('visibilitychange', look);
      if (this.#timer !== null) clearTimeout(this.#timer);
      end();
    };
  }

  /** Shows a message at once that the service has just taken. */
  add(message: Message): void {
    this.#keep([message]);
  }

  /** Reads what was written before. Rejects with a ServiceError. */
  async readEarlier(): Promise<void> {
    const [oldest] = this.state.value.messages;
    if (!oldest) return;
    const { created_at: at } = oldest;
    // Moments are whole seconds here, and finer at the service: others of the same second are asked for again.
    let page = await this.#read({ before: at + 1 });
    if (this.#keep(page) === 0 && page.length === pageSize) {
      this.#keep(await this.#read({ after: at - 1, before: at + 1 }));
      page = await this.#read({ before: at });
      this.#keep(page);
    }
    this.#set({ hasEarlier: page.length === pageSize });
  }

  #want(what: 'new' | 'all'): void {
    if (this.#wanted !== 'all') this.#wanted = what;
    if (this.#isReading || this.#isStopped || this.#timer !== null) return;
    this.#timer = setTimeout(() => void this.#look(), soonMs);
  }

  // There is no reason to wait on for the next try.
  #hurry(what: 'new' | 'all'): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#want(what);
  }

  // Longer each time; and nobody is served by what is read for a page that nobody sees.
  #again(): void {
    const ms = this.#againMs;
    this.#againMs = Math.min(lastAgainMs, ms * 2);
    if (this.#wanted === 'nothing') this.#wanted = 'new';
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (document.visibilityState !== 'hidden') void this.#look();
    }, ms);
  }

  async #look(): Promise<void> {
    const wanted = this.#wanted;
    this.#timer = null;
    this.#wanted = 'nothing';
    this.#isReading = true;
    this.#isBehind = false;
    try {
      await this.#catchUp(wanted === 'all');
      this.#againMs = firstAgainMs;
      this.#set({ isLoading: false, error: null });
    } catch (error) {
      this.#isBehind = !(error instanceof ServiceError && final.has(error.status));
      if (this.#isBehind && wanted === 'all') this.#wanted = 'all';
      this.#set({ error: sentenceOf(error), ...(this.#isBehind ? {} : { isLoading: false }) });
    }
    this.#isReading = false;
    if (this.#isBehind) this.#again();
    else if (this.#wanted !== 'nothing') this.#want(this.#wanted);
  }

  async #catchUp(all: boolean): Promise<void> {
    if (this.#readUntil === null) {
      const latest = await this.#read({});
      this.#keep(latest);
      this.#readUntil = latest.at(-1)?.created_at ?? null;
      return this.#set({ hasEarlier: latest.length === pageSize });
    }
    const [oldest] = this.state.value.messages;
    const from = all && oldest ? Math.min(oldest.created_at, this.#readUntil) : this.#readUntil;
    for (let after = from - 1; ;) {
      const page = await this.#read({ after });
      this.#keep(page);
      const last = page.at(-1);
      if (last) this.#readUntil = Math.max(this.#readUntil, last.created_at);
      if (!last || page.length < pageSizeAfter) return;
      after = Math.max(after + 1, last.created_at - 1);
    }
  }

  async #read(query: { before?: number; after?: number }): Promise<Message[]> {
    const id = this.#conversationId;
    const { call } = this.#service;
    return (await call('GET conversations/:conversation_id/messages', { conversation_id: id, query })).payload;
  }

  /** Puts messages into their places; returns how many of them are new. */
  #keep(read: readonly Message[]): number {
    const known = new Map(this.state.value.messages.map((message) => [message.id, message]));
    const before = known.size;
    for (const message of read) known.set(message.id, message);
    const messages = [...known.values()].toSorted(
      (one, other) => one.created_at - other.created_at || one.id - other.id,
    );
    this.#set({ messages });
    return known.size - before;
  }

  #set(changes: Partial<TranscriptState>): void {
    if (!this.#isStopped) this.state.set({ ...this.state.value, ...changes });
  }
}
