import type { Contact } from '../records/contacts/contact.ts';
import type { Conversation, Named } from '../records/conversations/conversation.ts';
import type { Message } from '../records/messages/message.ts';
import type { FileLinks } from '../lib/file-links.ts';
import { unixSeconds } from '../lib/unix-time.ts';
import { jsonOf, type SchemaName, type Shape } from '../schemas.ts';
import {
  accountMessage,
  botConversation,
  botMessage,
  contactRecord,
  conversationRecord,
  typingContact,
} from './payloads.ts';
import { accountSession, botSession, type StartedSession } from './session-payloads.ts';

/** Changed attributes by name, with the previous and current values as the REST API shows them. */
export type ChangedAttributes = Record<string, { previous: unknown; current: unknown }>;

/** A broken promise: which, when it was due, and by which policy. */
export interface SlaBreach {
  which: 'first_response' | 'resolution';
  dueAt: Date;
  policy: Named;
}

/** A call that a bot has scheduled: its name, its data and its time. */
export interface ScheduledCall {
  name: string;
  data: unknown;
  at: Date;
}

/** A webhook that an event is about. */
interface WebhookSubject {
  id: number;
  name: string | null;
  url: string;
}

/** A request of another system, which a hook has stored. */
interface StoredHookRequest {
  id: number;
  hook: { id: number; name: string };
  /** Number of the lane: the same for requests that are handled in order. */
  lane: number;
  /** The channel that receives it; null for a bot's or an automation's. */
  channelId: number | null;
}

/** A delivery that was given up. */
interface ExhaustedDelivery {
  id: number;
  /** The event that did not arrive. */
  event: string;
  lastError: string | null;
  /** How many others of the webhook were given up before it without an event of their own. */
  omitted: number;
}

/** The records that an event is about, in their state after the change. */
export interface Subject {
  conversation?: Conversation;
  message?: Message;
  contact?: Contact;
  account?: Named;
  changed?: ChangedAttributes;
  breach?: SlaBreach;
  session?: StartedSession;
  scheduled?: ScheduledCall;
  webhook?: WebhookSubject;
  /** Why the service has switched the webhook off. */
  reason?: string;
  exhausted?: ExhaustedDelivery;
  request?: StoredHookRequest;
  /** Since when the webhook fails, or failed, and how often it did so far. */
  failing?: { since: Date; failures: number };
  /** The contact that a deleted one was merged into. */
  mergedInto?: number;
}

type Build = (subject: Subject, links: FileLinks) => Record<string, unknown>;

/** The audiences of an event, with the part that each gets. */
export interface Entry {
  /** Builds the body for account webhooks, without `event` and `sequence`; absent when they do not receive the event. */
  account?: Build;
  /** Builds the body for the conversation's bot; absent when bots do not receive the event. */
  bot?: Build;
  /** The row whose deletion the event announces; the event must not be deleted with it. */
  ends?: 'conversation' | 'contact';
  /** It is fleeting: it gets no number among the events of its conversation, and a delivery that fails is not repeated. */
  fleeting?: true;
}

const changed = ({ changed: attributes }: Subject) => (attributes ? { changed_attributes: attributes } : {});
const conversation: Build = (subject) => ({
  ...conversationRecord(need(subject.conversation)),
  account: need(subject.conversation).account,
  ...changed(subject),
});
const breach: Build = (subject, links) => {
  const { which, dueAt, policy } = need(subject.breach);
  return { ...conversation(subject, links), which, due_at: unixSeconds(dueAt), sla_policy: policy };
};
const message: Build = (subject, links) => accountMessage(need(subject.message), need(subject.conversation), links);
const messageToBot: Build = (subject, links) => botMessage(need(subject.message), need(subject.conversation), links);
const contact: Build = (subject) => ({
  ...contactRecord(need(subject.contact)),
  account: need(subject.account),
  ...changed(subject),
});
// Bodies of deletion events hold ids only: they are kept after the deletion.
const deletedConversation: Build = (subject) => {
  const { id, account, inbox, contact: owner } = need(subject.conversation);
  return { id, account_id: account.id, inbox_id: inbox.id, contact_id: owner.id, account };
};
const deletedContact: Build = (subject) => {
  const { id, accountId } = need(subject.contact);
  const { mergedInto } = subject;
  const merged = mergedInto === undefined ? {} : { merged_into_id: mergedInto };
  return { id, account_id: accountId, ...merged, account: need(subject.account) };
};
const disabledWebhook: Build = ({ webhook, reason, account }) => ({
  webhook: need(webhook),
  reason: need(reason),
  account: need(account),
});
const aboutWebhook = ({ webhook, account }: Subject) => ({
  webhook_id: need(webhook).id,
  webhook: need(webhook),
  account: need(account),
});
const exhaustedDelivery: Build = (subject) => {
  const { id, event, lastError, omitted } = need(subject.exhausted);
  return { ...aboutWebhook(subject), delivery_id: id, delivery_event: event, last_error: lastError, omitted };
};
const failingWebhook: Build = (subject) => {
  const { since, failures } = need(subject.failing);
  return { ...aboutWebhook(subject), since: unixSeconds(since), failures };
};
const recoveredWebhook: Build = (subject) => ({
  ...aboutWebhook(subject),
  since: unixSeconds(need(subject.failing).since),
});
const botLifecycle: Build = (subject) => botConversation(need(subject.conversation));

const typing: Build = (subject) => typingContact(need(subject.conversation));

const scheduled: Build = (subject, links) => {
  const { name, data, at } = need(subject.scheduled);
  return { ...botLifecycle(subject, links), name, data, scheduled_at: unixSeconds(at) };
};

// Its content stays in the row of the request, from which runs read it.
const hookReceived: Build = ({ request, account }) => {
  const { id, hook } = need(request);
  return { request_id: id, hook: { id: hook.id, name: hook.name }, account: need(account) };
};

/** All events: their audiences and bodies. The schemas of the bodies are in schemas/events/. */
export const catalog = {
  contact_created: { account: contact },
  contact_updated: { account: contact },
  contact_deleted: { account: deletedContact, ends: 'contact' },
  message_created: { account: message, bot: messageToBot },
  message_updated: {
    account: (subject, links) => ({ ...message(subject, links), ...changed(subject) }),
    bot: (subject, links) => ({ ...messageToBot(subject, links), ...changed(subject) }),
  },
  message_deleted: { account: message },
  conversation_created: { account: conversation },
  conversation_updated: { account: conversation },
  conversation_deleted: { account: deletedConversation, ends: 'conversation' },
  conversation_status_changed: { account: conversation },
  conversation_typing_on: { account: typing, fleeting: true },
  conversation_typing_off: { account: typing, fleeting: true },
  conversation_opened: { bot: botLifecycle },
  conversation_resolved: { bot: botLifecycle },
  sla_breached: { account: breach },
  schedule: { bot: scheduled },
  hook_received: { bot: hookReceived },
  webhook_disabled: { account: disabledWebhook },
  webhook_failing: { account: failingWebhook },
  webhook_recovered: { account: recoveredWebhook },
  delivery_exhausted: { account: exhaustedDelivery },
  webwidget_triggered: {
    account: (subject) => accountSession(need(subject.session)),
    bot: (subject) => botSession(need(subject.session)),
  },
} satisfies Record<string, Entry>;

export type EventName = keyof typeof catalog;
export type Audience = 'account' | 'bot';

/** Events about how deliveries go: of their own deliveries none is told. */
export const deliveryEvents: readonly EventName[] = ['delivery_exhausted', 'webhook_failing', 'webhook_recovered'];

/** The fleeting events: see Entry. */
export const fleetingEvents = (Object.keys(catalog) as EventName[]).filter(isFleeting);

/** Whether the event is fleeting: see Entry. False for events that this version does not know. */
export function isFleeting(name: string): boolean {
  const entry: Entry | undefined = Object.hasOwn(catalog, name) ? catalog[name as EventName] : undefined;
  return entry?.fleeting ?? false;
}

/** The cause of an event, as accounts are told it. */
export interface Cause {
  actor: Shape<'shapes/account-event'>['actor'];
  depth: number;
}

/** Which body: of which event, for whom, as which of its conversation's events, with which links to files. */
interface Wanted {
  name: EventName;
  audience: Audience;
  sequence: number | null;
  links: FileLinks;
  /** Needed for accounts. */
  cause?: Cause;
}

/** The body of an event for an audience, as JSON; null when the audience does not receive it. */
export function bodyOf({ name, audience, sequence, links, cause }: Wanted, subject: Subject): string | null {
  const build = (catalog[name] as Entry)[audience];
  if (!build) return null;
  const counted = sequence === null ? {} : { sequence };
  // The cause is last: the depth of a bot's request is corrected in the text (see enqueue.ts).
  const told = audience === 'account' ? cause : {};
  return jsonOf(payloadSchema(name, audience), { event: name, ...build(subject, links), ...counted, ...told });
}

/** The schema of an event's body for an audience. */
export function payloadSchema(name: EventName, audience: Audience): SchemaName {
  return `events/${audience}/${name}` as SchemaName;
}

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('The event lacks its subject');
  return value;
}
