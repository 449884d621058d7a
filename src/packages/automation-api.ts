// The API of automations: part of `switchboard/bot` (bot-api.ts).
import type { Context, Handler, JsonObject, Message } from './bot-api.ts';
import type { Attachment } from './bot-doors.ts';

/** Subject of an event, as it is now: null for an event without it. */
export interface Current {
  readonly conversation: Readonly<Record<string, unknown>> | null;
  /** With the granted fields. */
  readonly contact: Readonly<Record<string, unknown>> | null;
  /** An inbox without working hours is always open. */
  readonly hours: 'inside' | 'outside' | null;
}

/** Where to write, for automations and for events without a conversation; elsewhere it can only be that of the event. */
export interface ConversationChoice {
  conversation_id?: number;
}

/** A message in the events of accounts, which automations get: its id is a text, and its time is written out. */
export interface AccountMessage {
  readonly id: string;
  readonly content: string;
  readonly content_type: Message['content_type'];
  readonly content_attributes: JsonObject;
  readonly message_type: Message['message_type'];
  readonly private: boolean;
  readonly created_at: string;
  readonly sender: { readonly id: number; readonly name?: string; readonly type: string } | null;
  readonly attachments?: readonly Attachment[];
}

/** The argument of the handlers of an automation: it serves no conversation, and may do more to any. */
export interface AutomationContext<Config = JsonObject> extends Omit<
  Context<Config>,
  'message' | 'settled' | 'replies' | 'forward'
> {
  /** The message; null for events without a message. */
  readonly message: AccountMessage | null;
  /** Blocks the contact: its messages reopen nothing, and no bot answers them. Needs the permission `mute`. `ctx.mute()` */
  mute(): void;
  /** Sets the SLA policy of the conversation; null for none. Needs the permission `sla`. `ctx.sla(3)` */
  sla(policyId: number | null): void;
  /** Sets the bot of the conversation; null for that of its inbox. Needs the permission `bot`. `ctx.bot(null)` */
  bot(id: number | null): void;
}

/** An event that an automation may hear. */
export type AutomationEvent =
  | 'message_created'
  | 'message_updated'
  | 'message_deleted'
  | 'contact_created'
  | 'contact_updated'
  | 'contact_deleted'
  | 'conversation_created'
  | 'conversation_updated'
  | 'conversation_deleted'
  | 'conversation_status_changed'
  | 'conversation_typing_on'
  | 'conversation_typing_off'
  | 'sla_breached'
  | 'webwidget_triggered'
  | 'webhook_disabled'
  | 'webhook_failing'
  | 'webhook_recovered'
  | 'delivery_exhausted'
  | 'schedule';

/** An automation: one handler per event that plugin.json lists under `events`. */
export interface Automation<Config = JsonObject> {
  on: { [Name in AutomationEvent]?: Handler<AutomationContext<Config>> };
  /** Called when a handler has thrown; may write to the log and do nothing else. */
  onError?: (ctx: AutomationContext<Config>, error: unknown) => void | Promise<void>;
}

/**
 * Adds the types of the API to an automation, which must be the default export of the main file.
 * `export default defineAutomation({ on: { conversation_created(ctx) { ctx.label.add('new'); } } });`
 */
export function defineAutomation<Config = JsonObject>(automation: Automation<Config>): Automation<Config> {
  return automation;
}
