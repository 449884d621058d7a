// The API that bots are written against, published as `switchboard/bot`. It imports nothing, so that a bot's types need
// nothing else of the service. At run time `switchboard/bot` is only `defineBot`; everything else is the `ctx`.

/** JSON as an object. */
export type JsonObject = Record<string, unknown>;

/** The customer. `id` is always there; every other field only when plugin.json asks for it under `permissions.contact`. */
export interface Contact {
  readonly id: number;
  readonly name?: string;
  readonly email?: string | null;
  readonly phone_number?: string | null;
  readonly identifier?: string | null;
  readonly custom_attributes?: JsonObject;
  /** What it said about itself in the widget; nobody vouches for it. */
  readonly visitor_attributes?: JsonObject;
}

/** Who wrote a message: a contact (with the granted fields), an agent (`user`) or a bot. */
export interface Sender {
  readonly type: 'contact' | 'user' | 'agent_bot';
  readonly id: number;
  readonly name?: string;
}

/** The message the event is about. `created_at` is in Unix seconds. */
export interface Message {
  readonly id: number;
  readonly content: string;
  readonly content_type: 'text' | 'input_select' | 'input_email';
  readonly content_attributes: JsonObject;
  /** `incoming` = from the customer. Bots hear `outgoing` ones only with `permissions.receive_own`. */
  readonly message_type: 'incoming' | 'outgoing';
  /** A private note; bots hear these only with `permissions.notes_read`. */
  readonly private: boolean;
  readonly created_at: number;
  readonly sender: Sender | null;
}

/** The conversation the event belongs to. */
export interface Conversation {
  readonly id: number;
  readonly status: 'open' | 'resolved' | 'pending' | 'snoozed';
  readonly account_id?: number;
  readonly inbox_id?: number;
  readonly assignee?: { readonly id: number; readonly name: string } | null;
}

/** What `ctx.reply` takes beside plain text. */
export interface Reply {
  /** 1 to 20,000 characters. */
  content: string;
  /** Default `text`. */
  content_type?: 'text' | 'input_select' | 'input_email';
  /** For `input_select`: `{ items: [{ title: 'Yes', value: 'yes' }] }`. */
  content_attributes?: JsonObject;
}

/** What `ctx.handoff` takes beside a plain reason. */
export interface Handoff {
  /** Why, in at most 500 characters; agents see it. */
  reason: string;
  /** A private note for the agents. */
  note?: string;
  /** A last public message to the customer. */
  message?: string;
}

/** What every handler gets. Everything to read is a frozen snapshot; everything to do is collected, and applied together once the handler is through: all of it or nothing. */
export interface Context<Config = JsonObject> {
  /** The event as it was sent, for example `ctx.event.changed_attributes`. */
  readonly event: JsonObject;
  /** The message; null for events that are about none. */
  readonly message: Message | null;
  /** The conversation; null for an event that belongs to none. */
  readonly conversation: Conversation | null;
  /** The customer, for example `ctx.contact?.name ?? 'there'`. */
  readonly contact: Contact | null;
  /** The inbox; its name comes with messages only. */
  readonly inbox: { readonly id: number; readonly name?: string; readonly channel?: string } | null;
  /** The account that uses the bot. */
  readonly account: { readonly id: number; readonly name: string } | null;
  /** The account's settings, defaults filled in: what `config` in plugin.json describes. `ctx.config.greeting` */
  readonly config: Config;
  /** When the run began. `new Date()` and `Date.now()` give the same: a bot's clock stands still while it runs. `ctx.now.getUTCHours()` */
  readonly now: Date;
  /** Identifies the run; the same when it is replayed. `ctx.log.info(ctx.run.id)` */
  readonly run: { readonly id: string; readonly seed: number };

  /** Sends the customer a message; at most 5 in a run. Needs `reply`. `ctx.reply('Hello!')` or `ctx.reply({ content: 'Your e-mail?', content_type: 'input_email' })` */
  reply(message: string | Reply): void;
  /** Leaves a private note for the agents. Needs `note`. `ctx.note('Asked for a refund twice')` */
  note(text: string): void;
  /** Gives the conversation to humans; the bot is silent from then on. Needs `handoff`. `ctx.handoff({ reason: 'wants a person', message: 'A colleague will be with you.' })` */
  handoff(handoff: string | Handoff): void;
  /** Changes the labels of the conversation. Needs `label`. */
  readonly label: {
    /** `ctx.label.add('billing', 'vip')` */
    add(...titles: string[]): void;
    /** `ctx.label.remove('vip')` */
    remove(...titles: string[]): void;
  };
  /** Writes to the log of the run: at most 100 lines, 1,024 characters each, 16,384 in all; the rest is left out. */
  readonly log: {
    /** `ctx.log.info('order found', { order: 'A-17' })` */
    info(message: string, fields?: JsonObject): void;
    /** `ctx.log.warn('unknown order', { order: 'A-17' })` */
    warn(message: string, fields?: JsonObject): void;
    /** `ctx.log.error('no such setting')` */
    error(message: string, fields?: JsonObject): void;
  };
  /**
   * Asks the service for something and waits for it; at most 20 times in a run. Which names there are is for the service to
   * say; an unknown one rejects with an error whose `code` is `unknown_call`. `await ctx.call('name', { … })`
   */
  call(name: string, input?: unknown): Promise<unknown>;
}

/** The context of message events. */
export interface MessageContext<Config = JsonObject> extends Context<Config> {
  readonly message: Message;
  readonly conversation: Conversation;
  readonly contact: Contact;
}

/** The context of conversation events, and of `webwidget_triggered`. */
export interface ConversationContext<Config = JsonObject> extends Context<Config> {
  readonly message: null;
  readonly conversation: Conversation;
  readonly contact: Contact;
}

/** A handler; what it returns is ignored, what it throws ends the run and gives the conversation to humans. */
export type Handler<Ctx> = (ctx: Ctx) => void | Promise<void>;

/** A bot: one handler per event that plugin.json lists under `events`. */
export interface Bot<Config = JsonObject> {
  on: {
    /** A message appeared in a conversation the bot serves. */
    message_created?: Handler<MessageContext<Config>>;
    /** A message was edited; what changed is in `ctx.event.changed_attributes`. */
    message_updated?: Handler<MessageContext<Config>>;
    /** A resolved conversation was reopened. */
    conversation_opened?: Handler<ConversationContext<Config>>;
    /** The conversation was resolved. */
    conversation_resolved?: Handler<ConversationContext<Config>>;
    /** A customer opened the chat widget; `ctx.event.conversation_begun` tells whether a conversation began with it. */
    webwidget_triggered?: Handler<ConversationContext<Config>>;
  };
}

/**
 * Gives the bot its types; the default export of the main file.
 * `export default defineBot({ on: { async message_created(ctx) { ctx.reply('Hello!'); } } });`
 */
export function defineBot<Config = JsonObject>(bot: Bot<Config>): Bot<Config> {
  return bot;
}
