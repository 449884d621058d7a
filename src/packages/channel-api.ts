// The API of channels: part of `switchboard/bot` (bot-api.ts). It imports types only.
import type { Context, JsonObject } from './bot-api.ts';
import type { AttachedFile } from './bot-doors.ts';
import type { HookRequest } from './hook-doors.ts';

/** A file of a message that a channel is to send, which `ctx.fetch` sends in a `form`: `{ file: attachment.id }`. */
export interface OutgoingFile extends AttachedFile {
  readonly id: number;
  readonly content_type: string;
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
  readonly conversation_id: number;
  /** The agent, the bot or the automation that wrote it; null for messages of the service. */
  readonly sender: { readonly id: number; readonly name: string; readonly type: string } | null;
}

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
  attachments?: readonly { url: string; file_name?: string; headers?: Readonly<Record<string, string>> }[];
  /** When it was written: a Date, or Unix seconds. */
  at?: Date | number;
  /** The customer changed a message that may be known already. */
  edited?: boolean;
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
}
