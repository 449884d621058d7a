import { followEvents } from '../shared/event-source.ts';
import { KeptToken } from './kept-token.ts';
import { Outbox, type Queued } from './outbox.ts';
import { Refusal } from './refusal.ts';
import { Service, type Conversation, type Inbox, type Message, type Visitor, type WidgetEvent } from './service.ts';

interface ChatOptions {
  /** The origin of the service. */
  origin: string;
  /** The identifier of the inbox. */
  inbox: string;
  visitor: Visitor;
}

const page = 20;

/** A visitor's chat with one inbox: what is said, what waits to be sent, and how things stand. */
export class Chat {
  /** The service's. */
  readonly origin: string;
  inbox: Inbox | null = null;
  /** Why there is no chat here; null while there may be one. */
  refusal: Refusal | null = null;
  /** Messages by time, newest last. */
  messages: readonly Message[] = [];
  conversation: Conversation | null = null;
  isTyping = false;
  isConnected = true;
  /** Whether there are messages before those that are shown. */
  hasEarlier = false;
  readonly outbox: Outbox;
  readonly #visitor: Visitor;
  readonly #service: Service;
  readonly #kept: KeptToken;
  /** The messages of which the outbox knows that they were sent. */
  readonly #answered = new Set<number>();
  readonly #listeners = new Set<() => void>();
  #following: AbortController | null = null;
  #session: Promise<void> | null = null;
  /** Grows when the visitor is forgotten: what was asked as the one before says nothing of the next. */
  #visit = 0;

  constructor({ origin, inbox, visitor }: ChatOptions) {
    this.origin = origin;
    this.#visitor = visitor;
    this.#service = new Service(origin, inbox);
    this.#kept = new KeptToken(inbox);
    this.#service.token = this.#kept.read();
    this.outbox = new Outbox({
      send: async (queued, way) => {
        await this.#ensureSession();
        // It may have been removed meanwhile.
        way.signal.throwIfAborted();
        const visit = this.#visit;
        const said = await (queued.files.length > 0
          ? this.#service.sendFiles(formOf(queued), queued.key, way)
          : this.#service.send(bodyOf(queued), queued.key, way.signal));
        return visit === this.#visit ? said : null;
      },
      sent: (message) => {
        this.#answered.add(message.id);
        this.isConnected = true;
        this.#merge([message]);
      },
      changed: () => this.#tell(),
      failed: async (refusal, { files }) => {
        if (refusal.status === 401) this.#forget();
        // Where files do not get through, words still may.
        // A proxy speaks for a service that is not there.
        else if (files.length === 0) this.#connected(refusal.message !== '');
      },
    });
    addEventListener('beforeunload', (event) => {
      if (this.outbox.isWaiting) event.preventDefault();
    });
  }

  /** Tells every change. Returns what ends that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks whether there is a chat for this page, and goes on with the conversation of a visitor who was here before. */
  async load(): Promise<void> {
    await this.#try(async () => {
      this.inbox = await this.#service.readInbox();
    });
    // A page that tells who its visitor is may have another one now.
    if (this.#service.token !== null && this.#visitor.identifier === undefined && this.inbox) this.#follow();
    this.#tell();
  }

  /** The visitor opens the chat: a session begins, and a bot may speak first. */
  async enter(): Promise<void> {
    if (!this.inbox) await this.load();
    if (this.inbox) await this.#try(() => this.#ensureSession());
  }

  /** Sends what the visitor wrote, or its answer to a message that asks, or files with or without a word. */
  say(content: string, answers: Queued['answers'] = null, files: readonly File[] = []): void {
    this.outbox.add({ content, files, answers, after: this.messages.at(-1)?.id ?? 0 });
  }

  /** Reads the messages before those that are shown. */
  async readEarlier(): Promise<void> {
    const [first] = this.messages;
    if (!first) return;
    await this.#try(async () => {
      const earlier = await this.#asked(this.#service.listMessages(`?before=${first.created_at + 1}`));
      const isNew = earlier.some(({ id }) => id < first.id);
      this.hasEarlier = isNew && earlier.length === page;
      this.#merge(earlier);
    });
  }

  /** Messages that are unsent or refused. The stream may deliver a message before the response to its request arrives. */
  get unsaid(): readonly Queued[] {
    const told = new Set(this.messages.filter(({ id }) => !this.#answered.has(id)));
    return this.outbox.queue.filter((queued) => {
      if (queued.refusal) return true;
      const itself = [...told].find((message) => isSame(queued, message));
      // Each message matches only one queued text: a text written twice is sent twice.
      return !itself || !told.delete(itself);
    });
  }

  /** The visitor sees the messages. */
  async markRead(): Promise<void> {
    if (this.unread === 0) return;
    this.#merge(this.messages.map((message) => (isUnread(message) ? { ...message, status: 'read' } : message)));
    await this.#try(() => this.#service.markRead());
  }

  /** The number of messages that the visitor has not seen. */
  get unread(): number {
    return this.messages.filter(isUnread).length;
  }

  /** Forgets the visitor: who writes next is somebody new. */
  async leave(): Promise<void> {
    this.#forget();
    await this.enter();
  }

  #ensureSession(): Promise<void> {
    if (this.#session) return this.#session;
    const own = this.#openSession().catch((error: unknown) => {
      if (this.#session === own) this.#session = null;
      throw error;
    });
    this.#session = own;
    return own;
  }

  async #openSession(): Promise<void> {
    // Only this request tells a page that its origin is not allowed: browsers hide the other responses.
    this.inbox ??= await this.#service.readInbox();
    const open = () => this.#asked(this.#service.openSession(this.#visitor));
    const { contact_token: token, conversation } = await open().catch((error: Refusal) => {
      // The contact was deleted: who comes now is new.
      if (error.status !== 401 || this.#service.token === null) throw error;
      this.#forget();
      return open();
    });
    if (token !== undefined) {
      this.#forget();
      this.#service.token = token;
      this.#kept.write(token);
    }
    this.conversation = conversation;
    this.#follow();
  }

  // The answer, unless the visitor was forgotten meanwhile.
  async #asked<Reply>(answer: Promise<Reply>): Promise<Reply> {
    const visit = this.#visit;
    const reply = await answer;
    if (visit !== this.#visit) throw new Refusal(0);
    return reply;
  }

  #forget(): void {
    this.#visit += 1;
    this.#following?.abort();
    this.#following = null;
    this.#session = null;
    this.#service.token = null;
    this.#kept.write(null);
    Object.assign(this, { messages: [], conversation: null, isTyping: false, hasEarlier: false });
    this.#tell();
  }

  #follow(): void {
    if (this.#following) return;
    const following = (this.#following = new AbortController());
    const source = {
      open: (signal: AbortSignal) => this.#service.follow(signal),
      opened: () => this.#catchUp(),
      event: ({ data }: { data: string }) => this.#hear(JSON.parse(data) as WidgetEvent),
      leastPauseMs: (error: unknown) => (error instanceof Refusal ? error.retryAfter * 1000 : 0),
      closed: (error: unknown) => {
        const status = error instanceof Refusal ? error.status : 0;
        if (status === 401) this.#forget();
        // Too many follow: it is tried again, and meanwhile messages are read with each try.
        else if (status === 429) void this.#try(() => this.#catchUp());
        else this.#connected(false);
      },
    };
    void followEvents(source, following.signal);
  }

  async #catchUp(): Promise<void> {
    const latest = await this.#asked(this.#service.listMessages());
    const known = this.messages.at(-1);
    const [oldest] = latest;
    if (!known) this.hasEarlier = latest.length === page;
    this.#merge(latest);
    if (known && oldest && oldest.id > known.id) await this.#fillGap(known);
    // Without a message there need not be one, and browsers would complain of the answer.
    if (latest.length > 0) this.conversation = await this.#asked(this.#service.readConversation());
    this.#connected(true);
  }

  async #fillGap(known: Message): Promise<void> {
    for (let last: Message | undefined = known; last;) {
      const more: Message[] = await this.#asked(this.#service.listMessages(`?after=${last.created_at}`));
      const next: Message | undefined = more.at(-1);
      this.#merge(more);
      last = more.length > page && next && next.id > last.id ? next : undefined;
    }
  }

  #hear({ message, conversation, typing }: WidgetEvent): void {
    if (typing !== undefined) this.isTyping = typing;
    if (conversation) this.conversation = conversation;
    if (message) this.#merge([message]);
    else this.#tell();
  }

  #merge(some: readonly Message[]): void {
    const byId = new Map(this.messages.map((message) => [message.id, message]));
    for (const message of some) {
      // Messages read here stay read, whatever an older response says.
      const wasRead = byId.get(message.id)?.status === 'read';
      byId.set(message.id, wasRead ? { ...message, status: 'read' } : message);
    }
    this.messages = [...byId.values()].sort((one, other) => one.created_at - other.created_at || one.id - other.id);
    this.#tell();
  }

  async #try(work: () => Promise<unknown>): Promise<void> {
    const visit = this.#visit;
    try {
      await work();
      this.#connected(true);
    } catch (error) {
      if (visit !== this.#visit) return;
      const refusal = error instanceof Refusal ? error : new Refusal(0);
      if (!this.inbox && !refusal.mayPass) this.refusal = refusal;
      this.#connected(refusal.status !== 0);
    }
  }

  #connected(isConnected: boolean): void {
    this.isConnected = isConnected;
    if (!isConnected) this.isTyping = false;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function isUnread({ message_type: type, status }: Message): boolean {
  return type === 'outgoing' && (status === 'sent' || status === 'delivered');
}

function isSame({ content, files, after }: Queued, { id, message_type: type, ...message }: Message): boolean {
  const names = message.attachments.map((file) => file.file_name + file.file_size);
  const isOwn = type === 'incoming' && id > after && message.content === content;
  return isOwn && names.join('/') === files.map(({ name, size }) => name + size).join('/');
}

function formOf({ content, files }: Queued): FormData {
  const form = new FormData();
  form.set('content', content);
  for (const file of files) form.append('attachments[]', file);
  return form;
}

function bodyOf({ content, answers }: Queued) {
  if (answers === null) return { content };
  const { id, value } = answers;
  const submitted = value === null ? {} : { submitted_values: [{ title: content, value }] };
  return { content, content_attributes: { in_reply_to: id, ...submitted } };
}
