// The API of bots, published as `switchboard/bot`. It imports only files beside it, so that the types of a bot need no other file.

import type { ConversationChoice, Current } from './automation-api.ts';
import type {
  AttachedFile,
  Attachment,
  ConfiguredTools,
  CustomerWords,
  FetchAnswer,
  FetchOptions,
  KnowledgeBase,
  LanguageModel,
  Moment,
  Sender,
  Store,
} from './bot-doors.ts';
import type { HookFields } from './hook-doors.ts';
import type { HandoffCause, Priority, ReplyOptions } from './rich-replies.ts';

export * from './automation-api.ts';
export * from './define-channel.ts';
export type * from './channel-api.ts';
export type * from './bot-doors.ts';
export type * from './rich-replies.ts';
export { basicAuth, hmac, runTools, secret, sha256 } from './bundled-functions.ts';

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

/** A message. `created_at` is in Unix seconds. */
export interface Message {
  readonly id: number;
  readonly content: string;
  readonly content_type: 'text' | 'input_select' | 'input_email' | 'cards';
  readonly content_attributes: JsonObject;
  /** `incoming` = from the customer. Bots receive `outgoing` messages only with `permissions.receive_own`. */
  readonly message_type: 'incoming' | 'outgoing';
  /** True for a private note; bots receive notes only with `permissions.notes_read`. */
  readonly private: boolean;
  readonly created_at: number;
  readonly sender: Sender | null;
  /** The files of a message that has any; `content` may then be empty. In `ctx.history` they have no links. */
  readonly attachments?: readonly AttachedFile[];
}

/** The message of the event. */
export interface EventMessage extends Message {
  readonly attachments?: readonly Attachment[];
}

/** The conversation of the event. */
export interface Conversation {
  readonly id: number;
  readonly status: 'open' | 'resolved' | 'pending' | 'snoozed';
  readonly account_id?: number;
  readonly inbox_id?: number;
  readonly assignee?: { readonly id: number; readonly name: string } | null;
}

/** A message with options, for `ctx.reply`; `content` has 1 to 20,000 characters, and may be left out beside `attachments`. */
export interface Reply extends ReplyOptions {
  content?: string;
}

/** A handoff with options, for `ctx.handoff`. */
export interface Handoff {
  /** The reason, at most 500 characters; agents see it. */
  reason: string;
  /** Becomes the conversation's `handoff_reason`, which is `plugin` without it. Needs `permissions.handoff_cause`. */
  cause?: HandoffCause;
  /** Passages of the knowledge base that the bot had, at most 10; the service's note lists them. */
  passages?: readonly { readonly title: string; readonly url?: string | null }[];
  /** A private note for the agents, in place of the service's, which tells reason, last question and passages. */
  note?: string;
  /** A last public message to the customer. */
  message?: string;
  /** A team, by its id or its name. One that is not there is named in a note. */
  team?: number | string;
  /** An agent, by id. One who is not there is named in a note. */
  assignee?: number;
  priority?: Priority;
}

/** The event `schedule`: what `ctx.schedule` was given. */
export interface ScheduledEvent extends JsonObject {
  readonly name: string;
  readonly data: unknown;
  readonly scheduled_at: number;
}

/**
 * The argument of every handler. Its data is a frozen snapshot. Its commands are collected and applied together after
 * the handler has ended: all of them or none.
 */
export interface Context<Config = JsonObject> {
  /** The whole event, for example `ctx.event.changed_attributes`. */
  readonly event: JsonObject;
  /** The message; null for events without a message. */
  readonly message: EventMessage | null;
  /** The conversation; null for events without a conversation. */
  readonly conversation: Conversation | null;
  /** The customer, for example `ctx.contact?.name ?? 'there'`. */
  readonly contact: Contact | null;
  /**
   * The latest messages, oldest first, as many as `permissions.history` says; reading it without that throws.
   * `ctx.history.at(-1)?.content`, `ctx.history.some(({ attachments }) => attachments?.[0]?.file_type === 'image')`
   */
  readonly history: readonly Message[];
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
   * Sends the customer a message; at most 5 in a run. Needs the permission `reply`. `ctx.reply('Hello!')`,
   * `ctx.reply('Your invoice', { attachments: [{ url: 'https://files.shop.example/17.pdf' }] })`,
   * `ctx.reply('Which plan?', { input_select: { items: [{ title: 'Basic', value: 'basic' }] } })`
   */
  reply(message: string | Reply, options?: ReplyOptions & ConversationChoice): void;
  /** Writes a private note for the agents. Needs the permission `note`. `ctx.note('Asked for a refund twice')` */
  note(text: string, options?: ConversationChoice): void;
  /**
   * Gives the conversation to people; the bot may not answer in it any more. Needs the permission `handoff`.
   * `ctx.handoff({ reason: 'wants a person', message: 'A colleague will be with you.' })`
   */
  handoff(handoff: string | Handoff): void;
  /** Resolves the conversation. Needs the permission `resolve`. `ctx.resolve()` */
  resolve(): void;
  /**
   * Sets the conversation aside until then; it opens by itself. Needs the permission `snooze`.
   * `ctx.snooze({ inSeconds: 3600 })`
   */
  snooze(until: Moment): void;
  /** Opens the conversation for people; the bot is silent then. Needs the permission `open`. `ctx.open()` */
  open(): void;
  /**
   * Assigns the conversation to a team (by id or name), an agent (by id) or both; null takes it from them. While an agent is
   * assigned, the bot is silent. Needs the permission `assign`. `ctx.assign({ team: 'Billing' })`
   */
  assign(to: { team?: number | string | null; assignee?: number | null }): void;
  /** Sets the priority; null for none. Needs the permission `priority`. `ctx.priority('urgent')` */
  priority(priority: Priority | null): void;
  /**
   * Merges values into the conversation's `custom_attributes`; null removes one. Needs the permission `attributes`.
   * `ctx.attributes({ score: 5 })`
   */
  attributes(values: JsonObject): void;
  /** Changes the labels of the conversation. Needs the permission `label`. */
  readonly label: {
    /** `ctx.label.add('billing', 'vip')` */
    add(...titles: string[]): void;
    /** `ctx.label.remove('vip')` */
    remove(...titles: string[]): void;
  };
  /**
   * Calls the bot again then, with the event `schedule`: in 60 seconds at the earliest, 90 days at the latest. The same name
   * in the same conversation replaces the earlier one. Needs `permissions.schedule`.
   * `ctx.schedule({ inSeconds: 86_400 }, 'ask', { order: 'A-17' })`
   */
  schedule(at: Moment, name: string, data?: unknown): void;

  /**
   * Values that the bot remembers. Needs `permissions.storage` with the scope. `ctx.storage.get(…)` reads the conversation's:
   * `await ctx.storage.incr('misses')`
   */
  readonly storage: Store & {
    /** `await ctx.storage.conversation.get('step')` */
    readonly conversation: Store;
    /** Values of the customer, in all conversations. `await ctx.storage.contact.set('language', 'de')` */
    readonly contact: Store;
    /** Values of the account. `await ctx.storage.installation.incr('answers')` */
    readonly installation: Store;
  };
  /**
   * Sends a request to a host that `permissions.network.hosts` lists: https only, 10 seconds, 1 MB, 10 requests in a run.
   * Rejects with an error whose `code` says why. `const answer = await ctx.fetch('https://api.shop.example/orders/17')`
   */
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchAnswer>;
  /** The account's language model. Needs `permissions.llm`. `(await ctx.llm.status())?.model` */
  readonly llm: LanguageModel;
  /** The published articles of the account. Needs `permissions.kb`. `const [best] = await ctx.kb.search('hours')` */
  readonly kb: KnowledgeBase;
  /** The tools that the account has set for the bot. Needs `permissions.tools`. `await ctx.tools.call('stock', { item: 7 })` */
  readonly tools: ConfiguredTools;
  /**
   * The conversation and the contact of the event as they are now, as REST shows them, and whether it is within the hours of
   * the inbox. `const { conversation } = await ctx.current()`
   */
  current(): Promise<Current>;
  /**
   * Waits until the customer pauses (1.5 seconds after the last message, at most 5 in all, as the service is set), and
   * returns what the customer has written since `ctx.message`: for bots that answer a burst of messages once. The bot is
   * called for each of them, too. `const more = await ctx.settled()`
   */
  settled(): Promise<CustomerWords[]>;
  /**
   * How many public messages the bot has sent since the session began, in runs and through the API with its token; a line
   * with which it handed the conversation over does not count. `if ((await ctx.replies()) >= 3) ctx.handoff('enough')`
   */
  replies(): Promise<number>;
  /**
   * Sends the event to the server that the account has set for the bot (`outgoing_url`): signed, once the run's actions are
   * committed, and again on the schedule of bots until it arrives. Needs `permissions.forward`; rejects with the code
   * `unavailable` where there is no server. `await ctx.forward()`
   */
  forward(): Promise<unknown>;
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
  readonly message: EventMessage;
  readonly conversation: Conversation;
  readonly contact: Contact;
}

/** The context of conversation events, and of `webwidget_triggered`. */
export interface ConversationContext<Config = JsonObject> extends Context<Config> {
  readonly message: null;
  readonly conversation: Conversation;
  readonly contact: Contact;
}

/** The context of `schedule`: `ctx.event.name`, `ctx.event.data`. */
export interface ScheduleContext<Config = JsonObject> extends ConversationContext<Config> {
  readonly event: ScheduledEvent;
}

/** The context of `hook_received`, which has no conversation: `ctx.reply(text, { conversation_id })`. */
export type HookContext<Config = JsonObject> = Context<Config> & HookFields;

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
    /** The time of a `ctx.schedule` has come. */
    schedule?: Handler<ScheduleContext<Config>>;
    /** Another system sent a request to a hook; needs no entry in `events`. */
    hook_received?: Handler<HookContext<Config>>;
  };
  /** Called when a handler has thrown; may write to the log and do nothing else. */
  onError?: (ctx: Context<Config>, error: unknown) => void | Promise<void>;
}

/**
 * Adds the types of the API to a bot, which must be the default export of the main file.
 * `export default defineBot({ on: { async message_created(ctx) { ctx.reply('Hello!'); } } });`
 */
export function defineBot<Config = JsonObject>(bot: Bot<Config>): Bot<Config> {
  return bot;
}
