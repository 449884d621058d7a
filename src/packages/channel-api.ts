// The API of channels: part of `switchboard/bot` (bot-api.ts). It imports types only.
import type { Context, JsonObject } from './bot-api.ts';
import type { AttachedFile } from './bot-doors.ts';
import type { HookRequest } from './hook-doors.ts';

/**
 * A file of a message that a channel is to send. `ctx.fetch` sends it in a `form`, `{ form: { file: { file: attachment.id } } }`, or sends a
 * link to it, `{ body: { text, files: attachments.map(({ url, file_name }) => ({ url, file_name })) } }`.
 */
export interface OutgoingFile extends AttachedFile {
  readonly id: number;
  readonly content_type: string;
  /**
   * Stands for a link to the file, which expires. Only the service fills it in, in headers, `body` and `form` of `ctx.fetch`: no run shows
   * the link. A body that `hmac` signs must be a text, and is signed with the link.
   */
  readonly url: string;
}

/** A message that a channel is to send. */
export interface OutgoingMessage {
  readonly id: number;
  readonly content: string;
  readonly content_type: 'text' | 'input_select' | 'input_email' | 'cards';
  readonly content_attributes: JsonObject;
  readonly attachments: readonly OutgoingFile[];
  /** The customer, as `ctx.channel.incoming` named the customer. */
  readonly source_id: string;
  /** The customer's last message before it that has an id in the other system; `mail` as `incoming` brought it. */
  readonly in_reply_to: { readonly external_id: string; readonly mail: MailDetails | null } | null;
  /** Ids in the other system of the last 20 messages of the conversation before it, oldest first. */
  readonly references: readonly string[];
  /** Unix seconds. */
  readonly created_at: number;
  readonly conversation_id: number;
  /** The agent, the bot or the automation that wrote it; null for messages of the service. */
  readonly sender: { readonly id: number; readonly name: string; readonly type: string } | null;
}

/** A file of a message: at a URL, at a place in the JSON of the request (`hook: '/files/0'`, as base64), or whole as base64. */
export type IncomingFile = { file_name?: string } & (
  | { url: string; headers?: Readonly<Record<string, string>> }
  | { hook: string }
  | { data: string }
);

/** A message of a customer. */
export interface IncomingMessage {
  /** The customer in the other system, for example the number of a chat. */
  source_id: string;
  /** The message there, unique in the inbox: the same message again changes nothing. */
  external_id: string;
  /** May be left out beside `attachments`. */
  content?: string;
  /** Name, address and phone number of a customer who is new. */
  name?: string;
  email?: string;
  phone_number?: string;
  /**
   * Files at hosts of `permissions.network.hosts`, which the service fetches: `${secret('TOKEN')}` may be a part of a URL, or of a header
   * such as `authorization`.
   */
  attachments?: readonly IncomingFile[];
  /**
   * Ids of messages that it answers, the nearest first: it joins the customer's conversation with the first that is known, else it begins
   * a conversation.
   */
  thread?: readonly string[];
  /** Nobody wrote it, as an out-of-office reply: it becomes a private note, which no bot answers. */
  automatic?: boolean;
  /** Kept as `content_attributes.mail`. */
  mail?: MailDetails;
  /** When it was written: a Date, or Unix seconds. */
  at?: Date | number;
  /** The customer changed a message that may be known already. */
  edited?: boolean;
}

/** A mail, for `ctx.mail.send`. */
export interface OutgoingMail {
  from: string;
  to: string;
  /** A single line. */
  subject: string;
  text: string;
  /** Ids with their angle brackets. A mail that is sent again has the same one. */
  message_id: string;
  in_reply_to?: string;
  references?: readonly string[];
  /**
   * `auto-submitted`, `precedence` and those that begin with `x-`, in lower case; by the server of the service, of these only
   * `x-auto-response-suppress`, `x-pm-keepid` and `x-pm-metadata-…`.
   */
  headers?: Readonly<Record<string, string>>;
  /** Ids of files of public messages of the conversation. */
  attachments?: readonly number[];
}

/** Beside the text of a message that came by mail. */
export interface MailDetails {
  subject?: string;
  /** Where the customer wants the answer, if not at the address that wrote. */
  reply_to?: string;
  references?: readonly string[];
  /** Text below, which was folded. */
  quoted?: string;
}

/** `ctx.channel`. */
export interface ChannelDoor {
  /**
   * Brings in a message: into the customer's conversation that is not resolved, else into a new one.
   * `ctx.channel.incoming({ source_id: '42', external_id: '42:7', content: 'Hello', name: 'Ada' })`
   */
  incoming(message: IncomingMessage): void;
  /**
   * Sets what became of a message that `send` has sent. `ctx.channel.status({ external_id: '42:8', status: 'read' })`. `message_id` is the
   * `id` that `send` got, where the other system repeats it: the message is found before `send` has answered, and if its answer was lost.
   */
  status(change: {
    external_id: string;
    status: 'sent' | 'delivered' | 'read' | 'failed';
    reason?: string;
    message_id?: number;
  }): void;
  /** An error for `send` to throw: the message cannot be sent. `throw ctx.channel.refused('The customer blocked the bot')` */
  refused(reason: string): Error;
  /**
   * An error for `send` to throw: the message is sent later. `throw ctx.channel.later('Too many', { seconds: 30 })`. With `progress`, a part
   * of the message was sent, and the rest follows: no failed attempt is counted.
   */
  later(reason: string, options?: { seconds?: number; progress?: boolean }): Error;
}

/** The argument of the handlers of a channel. */
export interface ChannelContext<Config = JsonObject> extends Pick<
  Context<Config>,
  'event' | 'contact' | 'account' | 'config' | 'now' | 'run' | 'storage' | 'fetch' | 'log' | 'call'
> {
  readonly channel: ChannelDoor;
  readonly mail: {
    /**
     * Sends a mail with `permissions.mail`, from the address of the inbox: the setting that `identity` names. Rejects with the code
     * `mail_refused` for good, `mail_server` for settings that are wrong, `mail_failed` for now, and `mail_unknown` when the server got the
     * mail and did not confirm it: the message fails, and is not sent again by itself. `await ctx.mail.send({ from, to, subject, text, message_id })`
     */
    send(mail: OutgoingMail): Promise<{ message_id: string }>;
  };
}

/** A channel: it connects an inbox with another system. */
export interface Channel<Config = JsonObject> {
  /** Called for each request to a hook of the inbox, in order by its key: brings in messages. */
  received(ctx: ChannelContext<Config>, request: HookRequest): void | Promise<void>;
  /**
   * Called for each public message in the inbox that is not the customer's, in order for each conversation. Its answer has the id
   * of the message in the other system. A message whose `send` throws is tried again.
   */
  send(ctx: ChannelContext<Config>, message: OutgoingMessage): Promise<{ external_id: string }>;
  /** Called for requests to the hook `status` in place of `received`. */
  status?(ctx: ChannelContext<Config>, request: HookRequest): void | Promise<void>;
  /**
   * Called each hour: returns the URL to which the other system sends its requests, null when none is set. A URL that is no hook of the
   * inbox, and an error, are shown in the inbox's health.
   */
  check?(ctx: ChannelContext<Config>): Promise<{ webhook_url: string | null }>;
}
