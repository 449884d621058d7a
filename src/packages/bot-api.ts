// The API of bots, published as `switchboard/bot`. It imports nothing, so that the types of a bot need no other file of
// the service. At run time `switchboard/bot` exports only `defineBot`; the service passes everything else as `ctx`.

/** JSON as an object. */
export type JsonObject = Record<string, unknown>;

/** The customer. Every field but `id` is there only if plugin.json lists it under `permissions.contact`. */
export interface Contact {
  readonly id: number;
  readonly name?: string;
  readonly email?: string | null;
  readonly phone_number?: string | null;
  readonly identifier?: string | null;
  readonly custom_attributes?: JsonObject;
  /** Attributes that the visitor set in the widget; they are not verified. */
  readonly visitor_attributes?: JsonObject;
}

/** Who wrote a message: a contact (with the granted fields), an agent (`user`) or a bot. */
export interface Sender {
  readonly type: 'contact' | 'user' | 'agent_bot';
  readonly id: number;
  readonly name?: string;
}

/** The message of the event. `created_at` is in Unix seconds. */
export interface Message {
  readonly id: number;
  readonly content: string;
  readonly content_type: 'text' | 'input_select' | 'input_email';
  readonly content_attributes: JsonObject;
  /** `incoming` = from the customer. Bots receive `outgoing` messages only with `permissions.receive_own`. */
  readonly message_type: 'incoming' | 'outgoing';
  /** True for a private note; bots receive notes only with `permissions.notes_read`. */
  readonly private: boolean;
  readonly created_at: number;
  readonly sender: Sender | null;
}

/** The conversation of the event. */
export interface Conversation {
  readonly id: number;
  readonly status: 'open' | 'resolved' | 'pending' | 'snoozed';
  readonly account_id?: number;
  readonly inbox_id?: number;
  readonly assignee?: { readonly id: number; readonly name: string } | null;
}

/** A message with options, for `ctx.reply`. */
export interface Reply {
  /** 1 to 20,000 characters. */
  content: string;
  /** Default `text`. */
  content_type?: 'text' | 'input_select' | 'input_email';
  /** For `input_select`: `{ items: [{ title: 'Yes', value: 'yes' }] }`. */
  content_attributes?: JsonObject;
}

/** A handoff with options, for `ctx.handoff`. */
export interface Handoff {
  /** The reason, at most 500 characters; agents see it. */
  reason: string;
  /** A private note for the agents. */
  note?: string;
  /** A last public message to the customer. */
  message?: string;
}

/**
 * The argument of every handler. Its data is a frozen snapshot. Its commands are collected and applied together after
 * the handler has ended: all of them or none.
 */
export interface Context<Config = JsonObject> {
  /** The whole event, for example `ctx.event.changed_attributes`. */
  readonly event: JsonObject;
  /** The message; null for events without a message. */
  readonly message: Message | null;
  /** The conversation; null for events without a conversation. */
  readonly conversation: Conversation | null;
  /** The customer, for example `ctx.contact?.name ?? 'there'`. */
  readonly contact: Contact | null;
  /** The inbox; its name is there in message events only. */
  readonly inbox: { readonly id: number; readonly name?: string; readonly channel?: string } | null;
  /** The account that uses the bot. */
  readonly account: { readonly id: number; readonly name: string } | null;
  /**
   * The account's settings for this bot with their defaults; `config` in plugin.json declares them.
   * `ctx.config.greeting`
   */
  readonly config: Config;
  /**
   * The start of the run. `new Date()` and `Date.now()` return the same: the clock stands still.
   * `ctx.now.getUTCHours()`
   */
  readonly now: Date;
  /** The run's id, the same when the run is replayed. `ctx.log.info(ctx.run.id)` */
  readonly run: { readonly id: string; readonly seed: number };

  /**
   * Sends the customer a message; at most 5 in a run. Needs the permission `reply`. `ctx.reply('Hello!')` or
   * `ctx.reply({ content: 'Your e-mail?', content_type: 'input_email' })`
   */
  reply(message: string | Reply): void;
  /** Writes a private note for the agents. Needs the permission `note`. `ctx.note('Asked for a refund twice')` */
  note(text: string): void;
  /**
   * Gives the conversation to people; the bot may not answer in it any more. Needs the permission `handoff`.
   * `ctx.handoff({ reason: 'wants a person', message: 'A colleague will be with you.' })`
   */
  handoff(handoff: string | Handoff): void;
  /** Changes the labels of the conversation. Needs the permission `label`. */
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
   * Calls a function of the service by its name and waits for the result; at most 20 times in a run. Rejects with an
   * error whose `code` is `unknown_call` when the service offers no such function. `await ctx.call('name', { … })`
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

/** A handler. Its result is ignored; an error that it throws ends the run and gives the conversation to people. */
export type Handler<Ctx> = (ctx: Ctx) => void | Promise<void>;

/** A bot: one handler per event that plugin.json lists under `events`. */
export interface Bot<Config = JsonObject> {
  on: {
    /** A message was created in a conversation that the bot serves. */
    message_created?: Handler<MessageContext<Config>>;
    /** A message was edited; `ctx.event.changed_attributes` holds the changes. */
    message_updated?: Handler<MessageContext<Config>>;
    /** A resolved conversation was reopened. */
    conversation_opened?: Handler<ConversationContext<Config>>;
    /** The conversation was resolved. */
    conversation_resolved?: Handler<ConversationContext<Config>>;
    /** A customer opened the chat widget; `ctx.event.conversation_begun` is true if this began a conversation. */
    webwidget_triggered?: Handler<ConversationContext<Config>>;
  };
}

/**
 * Adds the types of the API to a bot, which must be the default export of the main file.
 * `export default defineBot({ on: { async message_created(ctx) { ctx.reply('Hello!'); } } });`
 */
export function defineBot<Config = JsonObject>(bot: Bot<Config>): Bot<Config> {
  return bot;
}
