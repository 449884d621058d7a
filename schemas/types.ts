// Generated from schemas/**/*.json by `npm run schemas`. Change the schemas, never this file.

/**
 * A new contact was created.
 */
export type ContactCreated = (ContactShape & AccountEventShape & {
event: "contact_created"
account: Named
})
/**
 * A customer, as REST answers and account webhooks tell it.
 */
export type ContactShape = (AccountRecordShape & ContactIdentityShape & {
blocked: boolean
thumbnail: (string | null)
custom_attributes: Attributes
/**
 * What the contact said about itself in the widget; nobody vouches for it.
 */
visitor_attributes: Attributes
additional_attributes: Attributes
/**
 * Since when the contact is being deleted, where that takes more than a moment.
 */
deletion_requested_at: NullableUnixTime
last_activity_at: NullableUnixTime
})
/**
 * What every record of an account has.
 */
export type AccountRecordShape = (RecordShape & {
account_id: Id
})
/**
 * Identifier: a positive integer below 2^53.
 */
export type Id = number
/**
 * Unix timestamp in seconds.
 */
export type UnixTime = number
/**
 * By what a contact is known and reached.
 */
export type ContactIdentityShape = (ContactBriefShape & {
phone_number: (string | null)
identifier: (string | null)
})
/**
 * Unix timestamp in seconds, or null.
 */
export type NullableUnixTime = (number | null)
/**
 * A contact was deleted for good, with all that belonged to it, or was merged into another.
 */
export type ContactDeleted = (AccountEventShape & {
event: "contact_deleted"
id: Id
account_id: Id
/**
 * The contact that has all of it now; absent when it was deleted for good.
 */
merged_into_id?: Id
account: Named
})
/**
 * A contact's details changed.
 */
export type ContactUpdated = (ContactShape & AccountEventShape & {
event: "contact_updated"
account: Named
changed_attributes: ChangedAttributes
})
/**
 * A new conversation was created.
 */
export type ConversationCreated = (ConversationShape & ConversationEventShape & AccountEventShape & {
event: "conversation_created"
})
/**
 * A customer interaction in an inbox, as REST answers and account webhooks tell it.
 */
export type ConversationShape = (AccountRecordShape & {
inbox_id: Id
status: ConversationStatus
priority: ("urgent" | "high" | "medium" | "low" | null)
unread_count: number
source_id: (string | null)
labels: string[]
snoozed_until: NullableUnixTime
waiting_since: NullableUnixTime
sla_policy_id: NullableId
handoff_reason: HandoffReason
additional_attributes: Attributes
custom_attributes: Attributes
contact: ContactBrief
meta: {
sender: ConversationSender
channel: string
assignee: (Named | null)
team: (Named | null)
/**
 * The bot that serves the conversation, if any.
 */
agent_bot: (Named | null)
}
last_activity_at: UnixTime
})
/**
 * State of a conversation.
 */
export type ConversationStatus = ("open" | "resolved" | "pending" | "snoozed")
/**
 * Identifier, or null for none.
 */
export type NullableId = (number | null)
/**
 * Why people got the conversation from its bot; null when they did not, and again with the next session and when a person sets `pending`. `plugin`: the bot decided so itself; `bot_unreachable`: it could not be called, or failed; `loop`: it was stopped because it talked in a loop; the others are what bots with `permissions.handoff_cause` name.
 */
export type HandoffReason = ("keyword" | "max_exchanges" | "requested_by_model" | "plugin" | "model_failed" | "no_answer" | "budget" | "bot_unreachable" | "loop" | null)
export type ContactBrief = ContactBriefShape
/**
 * The contact of a conversation, as its sender.
 */
export type ConversationSender = (ContactIdentityShape & {
type: "Contact"
})
/**
 * Position of the event among the events of its conversation: 1, 2, 3 …
 */
export type EventSequence = number
/**
 * A conversation was deleted for good, by itself or with its contact.
 */
export type ConversationDeleted = (AccountEventShape & {
event: "conversation_deleted"
id: Id
account_id: Id
inbox_id: Id
contact_id: Id
account: Named
sequence: EventSequence
})
/**
 * A conversation's status changed.
 */
export type ConversationStatusChanged = (ConversationShape & ConversationEventShape & AccountEventShape & {
event: "conversation_status_changed"
changed_attributes: ChangedAttributes
})
/**
 * The contact of a conversation has stopped typing. Told once: a delivery that fails is not repeated.
 */
export type ConversationTypingOff = (TypingEventShape & AccountEventShape & {
event: "conversation_typing_off"
})
/**
 * The contact of a conversation is typing. Told once: a delivery that fails is not repeated.
 */
export type ConversationTypingOn = (TypingEventShape & AccountEventShape & {
event: "conversation_typing_on"
})
/**
 * A conversation's attributes changed (its status apart).
 */
export type ConversationUpdated = (ConversationShape & ConversationEventShape & AccountEventShape & {
event: "conversation_updated"
changed_attributes: ChangedAttributes
})
/**
 * A delivery to another webhook was given up: no attempt follows. Said at most 100 times an hour for a webhook; the next event counts the others in `omitted`.
 */
export type DeliveryExhausted = (WebhookEventShape & AccountEventShape & {
event: "delivery_exhausted"
delivery_id: Id
/**
 * The event that did not arrive.
 */
delivery_event: string
/**
 * Why the last attempt failed, as in the delivery's record.
 */
last_error: (string | null)
/**
 * Deliveries of the webhook that were given up before this one, and have no event of their own.
 */
omitted: number
})
/**
 * A new message arrived in a conversation.
 */
export type MessageCreated = (AccountMessageShape & AccountEventShape & {
event: "message_created"
})
/**
 * A message, as account webhooks are told it.
 */
export type AccountMessageShape = (MessageShape & MessageEventShape & {
/**
 * Message id, as a string.
 */
id: string
/**
 * ISO 8601 with milliseconds, UTC.
 */
created_at: string
/**
 * `pending`: the channel of the inbox has yet to send it; it is `sent` once the other system has it.
 */
status: ("pending" | "sent" | "delivered" | "read" | "failed")
/**
 * Why the channel of the inbox could not send it: where that failed only.
 */
external_error?: string
conversation: {
id: Id
status: ConversationStatus
inbox_id: Id
meta: {
sender: ConversationSender
}
}
inbox: Named
contact: ContactBrief
})
/**
 * A message, as agents and account webhooks are told it.
 */
export type MessageShape = (InternalMessageShape & {
sender: ({
id: Id
name: string
type: ("Contact" | "User" | "AgentBot" | "Automation")
} | null)
})
/**
 * What agents and bots are told of a message, and its contact is not.
 */
export type InternalMessageShape = (MessageContentShape & {
/**
 * True: a note that only agents see.
 */
private: boolean
source_id: (string | null)
})
/**
 * What all events of messages tell.
 */
export type MessageEventShape = (ConversationEventShape & {
/**
 * The files of a message that has any.
 * 
 * @minItems 1
 */
attachments?: Attachment[]
})
/**
 * A message was deleted: its content is empty, its place remains.
 */
export type MessageDeleted = (AccountMessageShape & AccountEventShape & {
event: "message_deleted"
})
/**
 * A message was updated.
 */
export type MessageUpdated = (AccountMessageShape & AccountEventShape & {
event: "message_updated"
changed_attributes: ChangedAttributes
})
/**
 * A promise of the conversation's SLA policy was not kept in time.
 */
export type SlaBreached = (ConversationShape & ConversationEventShape & AccountEventShape & {
event: "sla_breached"
/**
 * Which promise was not kept.
 */
which: ("first_response" | "resolution")
due_at: UnixTime
sla_policy: Named
})
/**
 * The service has switched a webhook off, because of what its receiver answered. Not sent when a person does so.
 */
export type WebhookDisabled = (AccountEventShape & {
event: "webhook_disabled"
webhook: NamedWebhook
/**
 * Why, as the webhook's `disabled_reason` says.
 */
reason: string
account: Named
})
/**
 * Every attempt on another webhook has failed for an hour. Said once until it recovers.
 */
export type WebhookFailing = (WebhookEventShape & AccountEventShape & {
event: "webhook_failing"
/**
 * The first failure.
 */
since: UnixTime
/**
 * Failed attempts since then.
 */
failures: number
})
/**
 * Another webhook, which was said to fail, has got a delivery.
 */
export type WebhookRecovered = (WebhookEventShape & AccountEventShape & {
event: "webhook_recovered"
/**
 * When the failures began.
 */
since: UnixTime
})
/**
 * A widget session started.
 */
export type WebwidgetTriggered = (SessionEventShape & AccountEventShape & {
event: "webwidget_triggered"
contact: ContactShape
/**
 * What the session goes on with; null until the contact says something, unless a bot that hears of sessions is to answer.
 */
current_conversation: (ConversationShape | null)
/**
 * Absent without a conversation.
 */
sequence?: EventSequence
})
/**
 * A resolved conversation was reopened.
 */
export type BotConversationOpened = (BotConversationEventShape & {
event: "conversation_opened"
status: ("open" | "pending" | "snoozed")
})
/**
 * A conversation whose status changed, as bots are told it.
 */
export type BotConversationEventShape = (ConversationEventShape & {
id: Id
account_id: Id
inbox_id: Id
meta: BotConversationMeta
})
/**
 * A conversation was resolved.
 */
export type BotConversationResolved = (BotConversationEventShape & {
event: "conversation_resolved"
status: "resolved"
})
/**
 * A new message appeared in a conversation the bot serves.
 */
export type BotMessageCreated = (BotMessageShape & {
event: "message_created"
})
/**
 * A message, as bots are told it.
 */
export type BotMessageShape = (InternalMessageShape & MessageEventShape & {
id: Id
created_at: UnixTime
additional_attributes: Attributes
/**
 * Who wrote it; null when the author no longer exists.
 */
sender: ((BotContactShape & {
type: ("contact" | "user" | "agent_bot" | "automation")
}) | null)
inbox: InboxBrief
conversation: BotConversation
})
/**
 * Who speaks, as bots are told it.
 */
export type BotContactShape = (ContactIdentityShape & {
avatar: (string | null)
})
/**
 * A message was edited.
 */
export type BotMessageUpdated = (BotMessageShape & {
event: "message_updated"
changed_attributes: ChangedAttributes
})
/**
 * A moment that the bot has chosen with ctx.schedule.
 */
export type BotSchedule = (BotConversationEventShape & {
event: "schedule"
status: ConversationStatus
/**
 * What the bot called it.
 */
name: string
/**
 * What the bot gave along.
 */
data: ({
[k: string]: unknown
} | unknown[] | string | number | boolean | null)
/**
 * The moment that the bot chose; the call may be later.
 */
scheduled_at: UnixTime
})
/**
 * A widget session started in an inbox that the bot serves.
 */
export type BotWebwidgetTriggered = (SessionEventShape & {
event: "webwidget_triggered"
contact: (BotContactShape & {
custom_attributes: Attributes
/**
 * What the contact said about itself in the widget; nobody vouches for it.
 */
visitor_attributes: Attributes
type: "contact"
})
/**
 * What the session goes on with: a greeting has a place to go.
 */
current_conversation: BotConversation
sequence: EventSequence
})
/**
 * Which runs of the account's bots, automations and channels, and where to go on. At most one of `agent_bot_id`, `automation_id` and `inbox_id`.
 */
export type ListRunsOfAnAccountQuery = (ListRunsQuery & {
/**
 * Runs of this bot alone.
 */
agent_bot_id?: Id
/**
 * Runs of this automation alone.
 */
automation_id?: Id
/**
 * Runs of the channel of this inbox alone; 422 for an inbox without a channel.
 */
inbox_id?: Id
/**
 * Runs in this conversation alone.
 */
conversation_id?: Id
[k: string]: unknown
})
/**
 * The model server that the account's bots ask; null for that of the service. Merged: what is left out stays, but an API key only as long as the base URL keeps its origin.
 */
export type GivenLlm = ({
/**
 * Of any server with the API of OpenAI (chat completions), such as https://api.openai.com/v1.
 */
base_url?: string
/**
 * The model that the server is asked for.
 */
model?: string
/**
 * Stored sealed and never answered; null for a server that asks for none.
 */
api_key?: (string | null)
/**
 * The server's model for embeddings, by which articles are also found by what they mean; null for none: they are found by their words.
 */
embedding_model?: (string | null)
[k: string]: unknown
} | null)
/**
 * Hosts that tools of the account's AI bots may call: `name` or `name:port`; without a port it is the usual one of https or http.
 * 
 * @maxItems 100
 */
export type ApprovedHosts = string[]
/**
 * What an AI bot knows: null = every published article of the account; an object = those with one of the tags and one of the languages, an empty list being no restriction; false = none, the model answers alone.
 */
export type AiKnowledge = ({
tags?: ArticleTags
/**
 * @maxItems 20
 * 
 * Items: A language tag such as `en`, `de` or `pt-BR`.
 */
languages?: string[]
[k: string]: unknown
} | boolean | null)
/**
 * @maxItems 20
 */
export type ArticleTags = string[]
/**
 * @maxItems 16
 */
export type BotTools = {
/**
 * What the model calls it; `answer`, `talk`, `handoff` and `search` are taken.
 */
name: string
/**
 * Tells the model what the tool does, and when to call it.
 */
description?: string
/**
 * The arguments, as a JSON Schema object without references and regular expressions; none unless said otherwise. Arguments that it does not name are refused unless its `additionalProperties` allows them.
 */
parameters?: {
[k: string]: unknown
}
/**
 * Where it is called, at one of the account's `approved_hosts`. `{NAME}` in path or query stands for an argument.
 */
url: string
/**
 * With GET the other arguments become query parameters, else a JSON body.
 */
method?: ("GET" | "POST" | "PUT" | "PATCH" | "DELETE")
/**
 * Texts by name; `{{NAME}}` stands for the bot's secret of that name, which neither the bot nor the model ever sees.
 */
headers?: {
[k: string]: string
}
/**
 * JSON pointer to the part of the JSON answer that the model gets, such as `/order/state`; null or empty for all of it.
 */
result?: (string | null)
}[]
/**
 * Which articles, and which page of them.
 */
export type ListArticlesQuery = (PageQuery & {
/**
 * Only published articles, or only those that are not.
 */
published?: boolean
/**
 * Only articles with this tag.
 */
tag?: string
/**
 * Only articles in this language, of which pt includes pt-BR.
 */
language?: string
[k: string]: unknown
})
/**
 * What has the custom attribute.
 */
export type AttributeModel = ("contact_attribute" | "conversation_attribute")
/**
 * How the values of a custom attribute are shown.
 */
export type AttributeDisplayType = ("text" | "number" | "currency" | "percent" | "link" | "date" | "list" | "checkbox")
/**
 * A result for each question, in the order of the file.
 * 
 * @maxItems 2000
 */
export type EvalResults = {
question: string
passed: boolean
/**
 * What the bot did, in words.
 */
got: string
}[]
/**
 * Which canned responses, and which page of them.
 */
export type ListCannedResponsesQuery = (PageQuery & {
/**
 * Only canned responses that have this in their short code or content, in upper or lower case.
 */
search?: string
[k: string]: unknown
})
/**
 * What a client tells about its contact; null for nothing.
 */
export type CreateClientContact = (UpdateClientContact & {
/**
 * By which the contact is to be known. Whoever guesses it is let in: without it, one is made that nobody guesses.
 */
source_id?: (string | null)
/**
 * The site's own identifier of the visitor; ignored without `identifier_hash`.
 */
identifier?: (string | null)
/**
 * Proof of the `identifier` by the site's server: its HMAC-SHA256, keyed by the inbox's identity secret, in hex.
 */
identifier_hash?: (string | null)
[k: string]: unknown
})
/**
 * What a client tells about its contact; null for nothing.
 */
export type UpdateClientContact = (VisitorProfileShape & {
/**
 * Picture of the contact.
 */
avatar_url?: (string | null)
[k: string]: unknown
})
/**
 * Which page of contacts, and what of them.
 */
export type FilterContactsQuery = (PageQuery & {
include_contact_inboxes?: boolean
[k: string]: unknown
})
/**
 * Page and order of contacts.
 */
export type ListContactsQuery = (PageQuery & {
sort?: ("name" | "-name" | "email" | "-email" | "phone_number" | "-phone_number" | "last_activity_at" | "-last_activity_at" | "created_at" | "-created_at")
include_contact_inboxes?: boolean
[k: string]: unknown
})
/**
 * Identifier, or null for none.
 */
export type NullableId1 = (number | null)
/**
 * Identifier, or null for none.
 */
export type NullableId2 = (number | null)
/**
 * What opens a conversation: with a contact, by its `contact_id`, or else by a `source_id` by which it is known in the inbox.
 */
export type CreateConversation = (NewConversationShape & {
/**
 * A first message, sent by the caller.
 */
message?: {
content: string
[k: string]: unknown
}
[k: string]: unknown
})
/**
 * Identifier, or null for none.
 */
export type NullableId3 = (number | null)
/**
 * Identifier, or null for none.
 */
export type NullableId4 = (number | null)
/**
 * Filters, page and order of conversations.
 */
export type ListConversationsQuery = (PageQuery & {
sort?: ("created_at" | "-created_at" | "updated_at" | "-updated_at" | "last_activity_at" | "-last_activity_at")
[k: string]: unknown
} & CountConversationsQuery)
/**
 * Which conversation is to move to which status.
 */
export type SetConversationStatus = ({
id: Id
[k: string]: unknown
} & ToggleStatus)
/**
 * A form that opens a conversation, with files of its first message.
 */
export type CreateConversationWithFiles = (NewConversationShape & {
/**
 * A first message, sent by the caller: JSON text, or a field `message[content]`.
 */
message?: {
/**
 * May be empty, or left out.
 */
content?: string
[k: string]: unknown
}
"message[attachments][]"?: Files
[k: string]: unknown
})
/**
 * Files, as many as ATTACHMENTS_PER_MESSAGE says and each as large as ATTACHMENT_BYTES says at most.
 */
export type Files = string[]
/**
 * Records that a custom filter finds.
 */
export type FilterType = ("conversation" | "contact" | "report")
/**
 * `resend`: each delivery is sent again at once, like one delivery. `cancel`: those that wait are not sent.
 */
export type BulkActionKind = ("resend" | "cancel")
/**
 * `pending`: no attempt has failed yet, also while it waits behind others; `failing`: one has, and another is due; `delivered`; `exhausted`: no further attempt follows, or the receiver answered 410; `cancelled`: it was not wanted any more.
 */
export type DeliveryState = ("pending" | "failing" | "delivered" | "exhausted" | "cancelled")
/**
 * `timeout`: no answer in time; `bad_status`: an answer other than 2xx; `too_large`: too many bytes of headers; `unknown`: the answer was no HTTP, nothing was sent, or the process ended before the result was known.
 */
export type DeliveryErrorClass = ("dns" | "connect" | "tls" | "timeout" | "blocked_address" | "bad_status" | "too_large" | "reset" | "unknown")
/**
 * How a delivery ended that can be sent again.
 */
export type RecoverableState = ("exhausted" | "cancelled")
/**
 * Who can run a macro: its creator alone, or all agents.
 */
export type MacroVisibility = ("personal" | "global")
/**
 * Parameters of an action.
 * 
 * @maxItems 20
 */
export type ActionParameters = (string | number)[]
/**
 * A message or a private note.
 */
export type SendMessage = (NewMessageShape & {
content: string
[k: string]: unknown
})
/**
 * What is said of a message that is sent, besides its text.
 */
export type NewMessageShape = (RichContentShape & {
message_type: ("incoming" | "outgoing")
private?: boolean
source_id?: (string | null)
})
/**
 * A form of a message or a private note with files.
 */
export type SendMessageWithFiles = (NewMessageShape & {
/**
 * May be empty, or left out.
 */
content?: string
"attachments[]"?: Files
[k: string]: unknown
})
/**
 * What changes.
 */
export type UpdateAccount = UpdateOwnAccount
/**
 * How long each entry of a report is.
 */
export type ReportStep = ("hour" | "day")
/**
 * @minItems 1
 * @maxItems 50
 */
export type Subscriptions = ("conversation_created" | "conversation_updated" | "conversation_status_changed" | "conversation_deleted" | "conversation_typing_on" | "conversation_typing_off" | "message_created" | "message_updated" | "message_deleted" | "contact_created" | "contact_updated" | "contact_deleted" | "sla_breached" | "webhook_disabled" | "webhook_failing" | "webhook_recovered" | "delivery_exhausted" | "webwidget_triggered")[]
/**
 * Which of the subscribed events are sent, decided when the event is committed: those that meet `all` conditions, or `any` of them. Null sends all.
 */
export type EventFilter = ({
all?: All
any?: All
} | null)
/**
 * @minItems 1
 * @maxItems 15
 */
export type All = EventCondition[]
/**
 * What a visitor tells about itself; null for nothing.
 */
export type OpenSession = (VisitorProfileShape & {
/**
 * The site's own identifier of the visitor; ignored without `identifier_hash`.
 */
identifier?: (string | null)
/**
 * Proof of the `identifier` by the site's server: its HMAC-SHA256, keyed by the inbox's identity secret, in hex.
 */
identifier_hash?: (string | null)
[k: string]: unknown
})
/**
 * A plugin that the account's bots or automations can run.
 */
export type AccountPlugin = (PluginShape & {
/**
 * `bot` for plugins that bots run, `automation` for those of automations, `channel` for those of inboxes.
 */
kind: ("bot" | "automation" | "channel")
/**
 * The settings of its bots as a JSON Schema object, to draw a form from.
 */
config_schema: {
[k: string]: unknown
}
/**
 * The secrets that its bots can be given (`secrets` of a bot), and the hosts to which each is sent.
 */
secrets: {
name: string
hosts: string[]
}[]
/**
 * Whether its bots forward events to a server of the account, their `outgoing_url`.
 */
forwards: boolean
/**
 * Whether its bots ask language models, so that `tokens_per_day` bounds them.
 */
asks_models: boolean
})
/**
 * A tenant, as its administrators see it.
 */
export type Account = AccountShape
/**
 * A tenant.
 */
export type AccountShape = (RecordShape & {
name: string
/**
 * The model server that the account's bots ask; null for that of the service, if it has one.
 */
llm: ({
base_url: string
model: string
/**
 * Its model for embeddings; left out where none was set.
 */
embedding_model?: string
/**
 * Whether there is an API key, which is never answered.
 */
has_api_key: boolean
} | null)
approved_hosts: ApprovedHosts
/**
 * Whether articles are found by what they mean as well, where the model server has a model for embeddings: failing when it does not answer; then they are found by their words.
 */
embeddings: Health
})
/**
 * A bot that can serve conversations.
 */
export type AgentBot = AgentBotShape
/**
 * A bot that can serve conversations.
 */
export type AgentBotShape = (RecordShape & PauseShape & {
/**
 * Null for a system bot.
 */
account_id: NullableId
name: string
description: (string | null)
kind: ("webhook" | "plugin" | "ai")
avatar_url: (string | null)
/**
 * Where a webhook bot is sent its events, or a bot inside the service forwards them. For administrators: null for agents, and for system bots.
 */
outgoing_url: (string | null)
/**
 * In which form the bodies of events are sent: ours, or the one that receivers made for Chatwoot read, signed in its way too.
 */
format: ("default" | "chatwoot")
/**
 * The plugin that a bot inside the service runs; null for webhook bots.
 */
plugin_id: (string | null)
config: Attributes
/**
 * What the bot is told of.
 */
events: string[]
/**
 * Whether the bot is told of outgoing messages, its own included.
 */
hear_own: boolean
/**
 * Why the service tells the bot nothing any more and gives its conversations to people, or null. Of a webhook bot: what its server did; setting outgoing_url has the service try again. Of a plugin's bot: `plugin_missing`, `plugin_disabled`, or `config_invalid` (the version that runs refuses its settings: set others).
 */
disabled_reason: (string | null)
/**
 * How deliveries to the bot's server go; null for bots without one.
 */
circuit: (Circuit | null)
/**
 * Whether it is there for every account, and not for accounts to change.
 */
system: boolean
/**
 * Set when a bot inside the service is not called because its runs failed again and again: its conversations go to people. With an `until` that is past it is on trial: the next good run ends the quarantine, the next failed one begins a longer one.
 */
quarantine: ({
/**
 * The outcome of the run that began it.
 */
reason: string
since: UnixTime
/**
 * Null until the bot is released.
 */
until: NullableUnixTime
} | null)
/**
 * Whether the bot can answer as it is meant to: failing when its model server or its own server fails, when it has nothing to know, when a secret is missing, when its plugin cannot run, or in quarantine. System bots do not tell why.
 */
health: Health
/**
 * Tokens of language models that it may use on a day in an account; null for any number.
 */
tokens_per_day: (number | null)
/**
 * Of an AI bot; these fields are null on others, and of system bots.
 */
system_prompt: (string | null)
temperature: (number | null)
max_exchanges: (number | null)
handoff_keywords: (string[] | null)
greeting_message: (string | null)
handoff_message: (string | null)
outage_message: (string | null)
knowledge: AiKnowledge
/**
 * Requests that its model may have made; null on other bots, and for agents.
 */
tools: (BotTools | null)
/**
 * When the access token was last used, give or take some seconds; null until then, and for system bots.
 */
token_last_used_at: NullableUnixTime
/**
 * Names of the secrets that the bot has a value for, those of its settings included; empty for system bots.
 */
secret_names: string[]
/**
 * Names of the secrets that its plugin asks for or its tools name, and that have no value: a request that needs one fails (`secret_missing`), and `health` is failing. Empty for system bots.
 */
missing_secrets: string[]
/**
 * Hosts of its tools that are none of the account's `approved_hosts`, or no more: calls of these tools fail (`host_not_approved`), and `health` is failing. Empty for system bots.
 */
unapproved_hosts: string[]
})
/**
 * A bot with what was just made for it: the only answer that carries it.
 */
export type AgentBotWithSecrets = (AgentBotShape & {
/**
 * What the bot proves itself with to the REST API.
 */
access_token?: string
/**
 * Standard Webhooks signing secret of a webhook bot, whsec_… .
 */
secret?: string
})
/**
 * Somebody who works in the account, or is invited to: id, name and address are those of this account.
 */
export type Agent = (AccountRecordShape & PersonShape & {
role: ("administrator" | "agent")
availability: ("online" | "busy" | "offline")
/**
 * The same as `availability`.
 */
availability_status: ("online" | "busy" | "offline")
})
/**
 * Agents of the account, by name.
 */
export type AgentList = Agent[]
/**
 * An article of the account's knowledge base, from which bots answer.
 */
export type Article = (AccountRecordShape & {
title: string
/**
 * Markdown.
 */
content: string
url: (string | null)
/**
 * The file from which it was imported; null for none.
 */
path: (string | null)
language: string
tags: string[]
published: boolean
/**
 * How often AI bots have answered from it in the last seven days; offers are not counted.
 */
used_in_answers: number
})
/**
 * What a custom attribute is called, and how it is shown; no value is held against it.
 */
export type CustomAttributeDefinition = (AccountRecordShape & {
attribute_key: string
attribute_model: AttributeModel
attribute_display_name: string
attribute_description: (string | null)
attribute_display_type: AttributeDisplayType
attribute_values: string[]
})
/**
 * How the run used language models and the knowledge base; null when it asked neither.
 */
export type RunUsage = ({
model: (string | null)
prompt_tokens: number
completion_tokens: number
/**
 * Milliseconds of waiting for both.
 */
ms: number
/**
 * Why the model ended, such as stop, length or tool_calls; or the code of the error in place of an answer.
 */
finish_reason: (string | null)
/**
 * The passages that were found.
 */
passages: {
article_id: number
title: string
url: (string | null)
score: number
}[]
/**
 * The reason of the handoff that the bot asked for, or null.
 */
handoff_reason: (string | null)
} | null)
/**
 * `running`; `done`: it came to all of them; `cancelled`: it was stopped, or the webhook was switched off or deleted, or everything that waits for it was cancelled.
 */
export type BulkActionState = ("running" | "done" | "cancelled")
/**
 * A text that agents insert into replies by its short code.
 */
export type CannedResponse = (AccountRecordShape & {
short_code: string
content: string
})
/**
 * A contact as its client sees it.
 */
export type ClientContact = (ContactIdentityShape & {
/**
 * By which the client reads and writes as the contact: a key, to be kept like one.
 */
source_id: string
})
/**
 * A conversation as the client of its contact sees it.
 */
export type ClientConversation = (ContactConversationShape & {
inbox_id: Id
contact: ContactBrief
/**
 * The newest public message, if there is one, cut as `last_message` in lists of conversations.
 * 
 * @maxItems 1
 */
messages: ClientMessage[]
})
/**
 * A message as the client of its contact sees it.
 */
export type ClientMessage = (ContactMessageShape & {
/**
 * What the client gave, to know its message again.
 */
echo_id?: string
})
/**
 * A message as its contact is told it.
 */
export type ContactMessageShape = (MessageRecordShape & {
/**
 * Null for the service itself, and for authors that no longer exist.
 */
sender: ({
name: string
type: ("Contact" | "User" | "AgentBot" | "Automation")
avatar_url: (string | null)
} | null)
})
/**
 * A message as REST answers it, to agents and to its contact.
 */
export type MessageRecordShape = (MessageContentShape & {
id: Id
conversation_id: Id
/**
 * `pending`: the channel of the inbox has yet to send it; it is `sent` once the other system has it.
 */
status: ("pending" | "sent" | "delivered" | "read" | "failed")
created_at: UnixTime
attachments: Attachment[]
})
/**
 * The conversations of a contact in an inbox, the newest first.
 */
export type ClientConversations = ClientConversation[]
/**
 * Messages of a conversation, the oldest first.
 */
export type ClientMessages = ClientMessage[]
/**
 * A customer.
 */
export type Contact = (ContactShape & {
/**
 * Each inbox once, with the identifier that was given last.
 */
contact_inboxes?: ContactInbox[]
})
/**
 * A customer interaction in an inbox.
 */
export type Conversation = (ConversationShape & {
/**
 * In lists, `content` of more than 4,000 characters is cut and ends with `…`, and `content_attributes` of more than 16 KB are left out: list the messages to get them.
 */
last_message: (Message | null)
/**
 * In search results: the newest of the messages that match, newest first. Of a long `content`, 4,000 characters around the match.
 */
messages?: Message[]
})
/**
 * One exchange inside a conversation.
 */
export type Message = (MessageShape & MessageRecordShape & {
/**
 * Why the channel of the inbox could not send it; null unless it failed.
 */
external_error: (string | null)
account_id: Id
inbox_id: Id
})
/**
 * A customer who was just added, and the same under `payload`, where many clients look for it.
 */
export type CreatedContact = (ContactShape & {
payload: {
contact: Contact
contact_inbox?: ContactInbox
}
/**
 * Where the contact was created in an inbox.
 */
contact_inbox?: ContactInbox
})
/**
 * A webhook just created, and the same under `payload`: the only answer that carries its signing secret.
 */
export type CreatedWebhook = (WebhookShape & {
/**
 * Standard Webhooks signing secret, whsec_… .
 */
secret: string
payload: {
webhook: WebhookWithSecret
}
})
/**
 * A subscription of an external URL to events.
 */
export type WebhookShape = (AccountRecordShape & PauseShape & {
url: string
name: (string | null)
subscriptions: string[]
/**
 * In which form the bodies of events are sent: ours, or the one that receivers made for Chatwoot read, signed in its way too.
 */
format: ("default" | "chatwoot")
active: boolean
/**
 * Why the service switched the webhook off, or null.
 */
disabled_reason: (string | null)
circuit: Circuit
inbox_id: NullableId
filter: EventFilter
/**
 * How many deliveries are sent in each second at most, and as many more at the start; null for any number.
 */
max_per_second: (number | null)
/**
 * Headers of each delivery. Values are never shown: `••••` stands for each.
 */
headers: ShownHeader[]
/**
 * How the receiver knows the service beside the signature; null for nothing else. `auth` itself is never shown.
 */
auth_type: ("bearer" | "basic" | "mtls" | null)
})
/**
 * A webhook just created: the only answer that carries its signing secret.
 */
export type WebhookWithSecret = (WebhookShape & {
/**
 * Standard Webhooks signing secret, whsec_… .
 */
secret: string
})
/**
 * A query that an agent keeps by a name; the console shows those of conversations as saved views.
 */
export type CustomFilter = (AccountRecordShape & {
name: string
filter_type: FilterType
/**
 * As the caller stored it.
 */
query: Attributes
})
/**
 * A delivery with everything that was sent and answered.
 */
export type DeliveryWithAttempts = (DeliveryShape & {
/**
 * The attempts that have ended, in their order.
 */
attempts: {
number: number
started_at: UnixTime
/**
 * Why it failed; null when it succeeded.
 */
error: ({
class: DeliveryErrorClass
/**
 * What is behind it: a code such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`, a status, or some words such as `no answer within 10000 ms`.
 */
detail: string
} | null)
request: {
/**
 * The headers that were sent, with the signature of that moment; empty when nothing was sent.
 */
headers: {
[k: string]: string
}
/**
 * The body, byte for byte. The content of a message that was deleted since is gone here too.
 */
body: string
}
/**
 * The answer; null when there was none.
 */
response: ({
status: number
/**
 * Its headers, 8 KB at most, without cookies.
 */
headers: {
[k: string]: string
}
/**
 * Its first 16 KB as text; empty when it was compressed.
 */
body: string
} | null)
/**
 * Milliseconds of each phase; null for a phase that the attempt did not have or did not reach. A connection that was open already has no DNS, connect and TLS.
 */
times: {
/**
 * Milliseconds, or null.
 */
dns: (number | null)
/**
 * Milliseconds, or null.
 */
connect: (number | null)
/**
 * Milliseconds, or null.
 */
tls: (number | null)
/**
 * From the beginning to the headers of the answer.
 */
first_byte: (number | null)
/**
 * Milliseconds, or null.
 */
total: (number | null)
}
}[]
})
/**
 * One event for one endpoint.
 */
export type DeliveryShape = (AboutEventShape & {
id: Id
/**
 * The webhook, which may be deleted by now; null for a delivery to a bot.
 */
webhook_id: NullableId
/**
 * The bot, which may be deleted by now; null for a delivery to a webhook.
 */
agent_bot_id: NullableId
/**
 * The automation, which may be deleted by now; null for all other deliveries.
 */
automation_id: NullableId
endpoint_kind: ("webhook" | "agent_bot" | "automation" | "channel")
/**
 * The event, as the feed has it.
 */
event_id: Id
/**
 * The header `webhook-id`: the same in every attempt and every resend.
 */
webhook_message_id: string
state: DeliveryState
/**
 * Why it is sent: the event happened (`live`), somebody wanted it again (`resend`, `recover`), or somebody tried the endpoint (`test`).
 */
trigger: ("live" | "resend" | "recover" | "test")
/**
 * The HTTP status of the last attempt; null without an answer.
 */
last_status: (number | null)
/**
 * The class of the last attempt's error (see the attempts of a delivery), or why the delivery ended without one, such as `endpoint_disabled`; null after a success.
 */
last_error: (string | null)
/**
 * When it is due, though it may still wait behind others or an open circuit; null at its end.
 */
next_attempt_at: NullableUnixTime
/**
 * Why a pending delivery is not attempted now: the service sends nothing (`outbound`), an older one of its conversation (`delivery`), the open circuit of its endpoint, a pause, the rate of its webhook, a recovery that is still preparing, or the schedule of retries. Null when it is due, in progress or at its end.
 */
waits_for: ({
reason: ("outbound" | "delivery" | "circuit" | "paused" | "rate" | "recovery" | "schedule")
/**
 * The older delivery; null for the other reasons.
 */
delivery_id: NullableId
/**
 * The next attempt of the older delivery, the circuit's next probe, the moment at which the rate allows one, or the delivery's own next attempt; null where it is not known.
 */
until: NullableUnixTime
} | null)
/**
 * Who or what cancelled it: the receiver answered 410 Gone (`gone`), failed for five days, or a person cancelled it, switched the endpoint off or deleted it. Null for deliveries that are not cancelled, and for those of bots that may not speak any more.
 */
cancelled_by: ({
kind: ("gone" | "five_days" | "person" | "webhook_deleted")
id?: Id
name?: string
} | null)
})
/**
 * One event for one endpoint, and how far it got.
 */
export type Delivery = (DeliveryShape & {
/**
 * How many attempts have begun.
 */
attempts: number
})
/**
 * How deliveries to the endpoint went lately, and what waits for it.
 */
export type EndpointHealth = (PauseShape & {
/**
 * The attempts that the figures are made from: the newest of the newest 1,000 deliveries, 1,000 at most.
 */
attempts: number
/**
 * The part of them that succeeded; null where there are none.
 */
success_rate: (number | null)
/**
 * Half of the answers took at most so long.
 */
p50_ms: (number | null)
/**
 * Of twenty answers nineteen took at most so long.
 */
p95_ms: (number | null)
/**
 * Of twenty attempts that failed nineteen took at most so long, those without an answer included; null when none failed.
 */
failed_p95_ms: (number | null)
/**
 * Deliveries that wait or are tried again; 100,000 where there are more.
 */
pending: number
/**
 * When the oldest of them was created.
 */
oldest_pending_at: NullableUnixTime
/**
 * Failed attempts since the last success.
 */
consecutive_failures: number
circuit: Circuit
})
/**
 * Something that happened in the account, in the order of its feed.
 */
export type Event = (AboutEventShape & {
id: Id
/**
 * The place behind this event: with it, as `after` or Last-Event-ID, a reader goes on.
 */
cursor: string
/**
 * Position of the event among the events of its conversation: 1, 2, 3 … Null for events of contacts.
 */
sequence: (number | null)
/**
 * The body that account webhooks get; null for events that only bots get.
 */
payload: ({
[k: string]: unknown
} | null)
})
/**
 * A way in for another system: a bot handles what is sent to its URL.
 */
export type Hook = (AccountRecordShape & {
name: string
/**
 * The bot that handles the requests; null for all others.
 */
agent_bot_id: NullableId
/**
 * The automation that handles the requests; null for all others.
 */
automation_id: NullableId
/**
 * The inbox whose channel handles the requests; null for all others.
 */
inbox_id: NullableId
/**
 * The hook of the plugin's manifest.
 */
handler: string
/**
 * Where the other system sends its requests. Whole in the answers to its creation and rotation only: whoever knows it may send.
 */
url: string
/**
 * When a request was accepted last, to the minute; null before the first.
 */
last_received_at: NullableUnixTime
})
/**
 * A request that came to a hook.
 */
export type HookRequest = HookRequestShape
/**
 * A configured channel connection.
 */
export type Inbox = InboxShape
/**
 * A configured channel connection.
 */
export type InboxShape = (AccountRecordShape & {
name: string
channel_type: string
/**
 * Public name of the inbox in the paths of its widget.
 */
identifier: string
/**
 * The same as `identifier`.
 */
inbox_identifier: string
/**
 * Web origins whose pages may show the widget.
 */
allowed_origins: string[]
/**
 * Whether there is a secret by which visitors' identifiers are proven.
 */
identity_verification: boolean
greeting_enabled: boolean
greeting_message: (string | null)
enable_auto_assignment: boolean
timezone: string
working_hours_enabled: boolean
/**
 * The seven days of the week.
 * 
 * @minItems 7
 * @maxItems 7
 */
working_hours: WorkingDay[]
out_of_office_message: (string | null)
csat_survey_enabled: boolean
avatar_url: (string | null)
/**
 * The plugin that connects the inbox with another system; null for inboxes without one.
 */
plugin_id: (string | null)
/**
 * Where the other system sends its requests, for the first hook of the plugin; whole in the answer to the inbox's creation only.
 */
hook_url: (string | null)
/**
 * State of the plugin that connects the inbox; null for inboxes without one.
 */
channel: ({
/**
 * Its settings without secret ones; empty for agents.
 */
config: {
[k: string]: unknown
}
health: Health
/**
 * Names of the secrets that the plugin asks for, and that have no value.
 */
missing_secrets: string[]
} | null)
/**
 * The bot that serves its conversations; null for none.
 */
agent_bot_id: NullableId
})
/**
 * An inbox whose identity secret was just made: the only answer that carries it.
 */
export type InboxWithIdentitySecret = (InboxShape & {
/**
 * Keys the HMAC-SHA256 by which a site's server proves who its visitors are.
 */
identity_secret: string
})
/**
 * Which agent was confirmed, and an access token for who held none: shown in this answer only. A page when the caller asked for one.
 */
export type InvitationAccepted = (Page | NewAccess)
/**
 * A small HTML page.
 */
export type Page = string
/**
 * An agent, and the link that accepts the invitation where it could not be mailed.
 */
export type InvitedAgent = (AccountRecordShape & PersonShape & {
role: ("administrator" | "agent")
availability: ("online" | "busy" | "offline")
/**
 * The same as `availability`.
 */
availability_status: ("online" | "busy" | "offline")
/**
 * Null where it was mailed, or may not be shown: then it is in the log of the service.
 */
invitation_link: (string | null)
})
/**
 * A colour-coded tag of conversations.
 */
export type Label = (AccountRecordShape & {
title: string
description: (string | null)
color: string
show_on_sidebar: boolean
})
/**
 * Actions that agents run on conversations together, in their order.
 */
export type Macro = (AccountRecordShape & {
name: string
visibility: MacroVisibility
actions: {
action_name: string
action_params: ActionParameters
}[]
/**
 * The agent who created it.
 */
created_by_id: Id
/**
 * The agent who changed it last.
 */
updated_by_id: Id
})
/**
 * A tenant, as platform administrators see it.
 */
export type PlatformAccount = AccountShape
/**
 * A person with the access token just made: the only answer that carries it.
 */
export type PlatformUserWithToken = (PlatformUserShape & {
access_token: string
})
/**
 * A person, as platform administrators see it.
 */
export type PlatformUserShape = (RecordShape & UserShape & {
/**
 * The accounts that the user belongs to.
 */
accounts: {
id: Id
name: string
role: ("administrator" | "agent")
}[]
})
/**
 * A person who may hold access tokens.
 */
export type UserShape = (PersonShape & {
platform_admin: boolean
})
/**
 * A person, as platform administrators see it.
 */
export type PlatformUser = PlatformUserShape
/**
 * A plugin that is installed for all accounts.
 */
export type Plugin = (PluginShape & PluginOriginShape & {
/**
 * Whether its bots answer.
 */
enabled: boolean
/**
 * The version that waits for approval, since it may do more than the one that runs or refuses the settings of bots; null for none.
 */
pending: ({
version: string
hash: string
/**
 * What it may do beyond the version that runs, a sentence each.
 */
widens: string[]
/**
 * The bots whose settings it refuses: once it runs they do not answer, until they get others.
 */
refuses: {
count: number
/**
 * The first 100 of them.
 */
bots: {
agent_bot_id: Id
/**
 * Null for a system bot.
 */
account_id: NullableId
name: string
/**
 * Every problem.
 */
problems: ErrorDetail[]
}[]
}
} | null)
/**
 * Whether it was uploaded, or is read from a folder of PLUGIN_DIRS.
 */
source: ("archive" | "folder")
/**
 * Its folder; null for an archive.
 */
directory: (string | null)
updated_at: UnixTime
})
/**
 * An installed version of a plugin.
 */
export type PluginVersion = (PluginOriginShape & {
version: string
/**
 * Whether it runs.
 */
active: boolean
/**
 * Whether it waits for approval.
 */
pending: boolean
/**
 * What it may do, a sentence each.
 */
permissions: string[]
/**
 * The key of PLUGIN_TRUSTED_KEYS that signed it; null for none.
 */
signed_by: (string | null)
/**
 * When it began to run last; null if it never did.
 */
activated_at: NullableUnixTime
})
/**
 * The profile after its access token was reset: the only answer that carries the new one.
 */
export type ProfileWithToken = (ProfileShape & {
access_token: string
})
/**
 * Who the access token belongs to.
 */
export type ProfileShape = (UserShape & {
id: Id
type: "user"
account_id: NullableId
role: ("administrator" | "agent" | null)
accounts: {
id: Id
name: string
/**
 * The id of the agent that the caller is in the account.
 */
agent_id: Id
role: ("administrator" | "agent")
availability: ("online" | "busy" | "offline")
}[]
})
/**
 * Who the access token belongs to.
 */
export type Profile = ProfileShape
/**
 * A customer, and the same under `payload`, where many clients look for it.
 */
export type SingleContact = (ContactShape & {
payload: Contact
})
/**
 * How long customers wait at most.
 */
export type SLAPolicy = (AccountRecordShape & {
name: string
first_response_seconds: (number | null)
resolution_seconds: (number | null)
})
/**
 * A group of agents that conversations can be assigned to.
 */
export type Team = (AccountRecordShape & {
name: string
description: (string | null)
allow_auto_assign: boolean
})
/**
 * The account's teams, by name.
 */
export type TeamList = Team[]
/**
 * A conversation whose status was set, and what became of it under `payload`.
 */
export type ToggledConversation = (ConversationShape & {
/**
 * In lists, `content` of more than 4,000 characters is cut and ends with `…`, and `content_attributes` of more than 16 KB are left out: list the messages to get them.
 */
last_message: (Message | null)
success: true
current_status: ConversationStatus
payload: {
success: true
conversation_id: Id
current_status: ConversationStatus
snoozed_until: NullableUnixTime
}
})
/**
 * A subscription of an external URL to events.
 */
export type Webhook = WebhookShape
/**
 * A request that came to a hook, as it came.
 */
export type WholeHookRequest = (HookRequestShape & {
/**
 * In the order in which they came. Those that may hold a secret have the value `[redacted]`.
 */
headers: ShownHeader[]
/**
 * Null for a request that was not accepted.
 */
body: (string | null)
/**
 * `base64` for a body that is no text in UTF-8.
 */
body_encoding: ("utf-8" | "base64")
})
/**
 * A conversation as its contact sees it.
 */
export type WidgetConversation = ContactConversationShape
/**
 * A message as the contact sees it.
 */
export type WidgetMessage = ContactMessageShape
/**
 * Lowercase letters, digits, `_` and `-`.
 * 
 * @minItems 1
 * @maxItems 20
 * 
 * Items: Lowercase letters, digits, `_` and `-`.
 */
export type LabelTitles = string[]
/**
 * A public message to the customer.
 */
export type ReplyAction = ({
type: "reply"
[k: string]: unknown
} & RichContentShape & {
/**
 * Must not be blank, unless there are files.
 */
content: string
/**
 * The conversation, for automations and for events without one; that of the event by default.
 */
conversation_id?: Id
/**
 * Files of the message.
 * 
 * @minItems 1
 * @maxItems 10
 */
attachments?: ReplyFile[]
})
export type Action = (ReplyAction | NoteAction | HandoffAction | ResolveAction | SnoozeAction | OpenAction | AssignAction | LabelAction | PriorityAction | AttributesAction | ScheduleAction | MuteAction | SlaAction | BotAction | IncomingAction | StatusAction | SentAction | RefusedAction | LaterAction | WebhookAction)
/**
 * What one bot run wants done, in order: at most 20 actions, at most 5 of them replies. All of it is applied in one transaction, or none.
 * 
 * @maxItems 20
 */
export type ActionBatch = Action[]
/**
 * A contact as another system knows it: by `identifier`, `email` or `phone_number`.
 */
export type FindOrCreateContact = (FindContact & {
name?: string
custom_attributes?: Attributes
[k: string]: unknown
})
/**
 * Events that the plugin is called for; any other never reaches it. A bot may name six: messages, the opening and resolution of a conversation, the widget, and `schedule`. An automation may name 20 of the events of accounts, and `schedule`.
 * 
 * @maxItems 20
 */
export type Events = ("message_created" | "message_updated" | "conversation_opened" | "conversation_resolved" | "webwidget_triggered" | "schedule" | "message_deleted" | "contact_created" | "contact_updated" | "contact_deleted" | "conversation_created" | "conversation_updated" | "conversation_deleted" | "conversation_status_changed" | "conversation_typing_on" | "conversation_typing_off" | "sla_breached" | "webhook_disabled" | "webhook_failing" | "webhook_recovered" | "delivery_exhausted")[]
/**
 * `name` or `name:port`, in lower case; without a port it is 443. `$NAME`: the host of the setting NAME, which is marked `x-host`.
 * 
 * @minItems 1
 * @maxItems 50
 */
export type Hosts = string[]

export interface Schemas {
"events/account/contact_created": ContactCreated
"events/account/contact_deleted": ContactDeleted
"events/account/contact_updated": ContactUpdated
"events/account/conversation_created": ConversationCreated
"events/account/conversation_deleted": ConversationDeleted
"events/account/conversation_status_changed": ConversationStatusChanged
"events/account/conversation_typing_off": ConversationTypingOff
"events/account/conversation_typing_on": ConversationTypingOn
"events/account/conversation_updated": ConversationUpdated
"events/account/delivery_exhausted": DeliveryExhausted
"events/account/message_created": MessageCreated
"events/account/message_deleted": MessageDeleted
"events/account/message_updated": MessageUpdated
"events/account/sla_breached": SlaBreached
"events/account/webhook_disabled": WebhookDisabled
"events/account/webhook_failing": WebhookFailing
"events/account/webhook_recovered": WebhookRecovered
"events/account/webwidget_triggered": WebwidgetTriggered
"events/bot/conversation_opened": BotConversationOpened
"events/bot/conversation_resolved": BotConversationResolved
"events/bot/hook_received": BotHookReceived
"events/bot/message_created": BotMessageCreated
"events/bot/message_updated": BotMessageUpdated
"events/bot/schedule": BotSchedule
"events/bot/webwidget_triggered": BotWebwidgetTriggered
"requests/account-run.list.query": ListRunsOfAnAccountQuery
"requests/account-user.create": AddAccountUser
"requests/account-user.delete": RemoveAccountUser
"requests/account.update": UpdateOwnAccount
"requests/agent-bot.create": CreateAgentBot
"requests/agent-bot.update": UpdateAgentBot
"requests/agent.create": CreateAgent
"requests/agent.update": UpdateAgent
"requests/article.create": CreateArticle
"requests/article.import": ImportArticles
"requests/article.imported": ImportedArticle
"requests/article.list.query": ListArticlesQuery
"requests/article.search.query": SearchArticlesQuery
"requests/article.update": UpdateArticle
"requests/attribute-definition.create": CreateCustomAttributeDefinition
"requests/attribute-definition.update": UpdateCustomAttributeDefinition
"requests/audit-log.query": AuditLogQuery
"requests/automation.create": CreateAutomation
"requests/automation.dry-run": DryRunAutomation
"requests/automation.update": UpdateAutomation
"requests/bot.call": CallAsAgentBot
"requests/bot.evals": KeepEvalsOfAgentBot
"requests/bot.try": TryAgentBot
"requests/bot.unanswered.query": BotUnansweredQuery
"requests/bot.usage.query": BotUsageQuery
"requests/canned-response.create": CreateCannedResponse
"requests/canned-response.list.query": ListCannedResponsesQuery
"requests/canned-response.update": UpdateCannedResponse
"requests/client-contact.create": CreateClientContact
"requests/client-contact.update": UpdateClientContact
"requests/client-conversation.create": CreateClientConversation
"requests/client-conversation.list.query": ListClientConversationsQuery
"requests/client-message.create": SendClientMessage
"requests/client-message.update": AnswerClientMessage
"requests/client-typing": ToggleTyping
"requests/contact-inbox.create": CreateContactInbox
"requests/contact-note.create": CreateContactNote
"requests/contact.create": CreateContact
"requests/contact.filter": FilterContacts
"requests/contact.filter.query": FilterContactsQuery
"requests/contact.list.query": ListContactsQuery
"requests/contact.merge": MergeContacts
"requests/contact.search.query": SearchContactsQuery
"requests/contact.set-labels": SetContactLabels
"requests/contact.update": UpdateContact
"requests/conversation.assign": AssignConversation
"requests/conversation.bulk-action": BulkActionOnConversations
"requests/conversation.count.query": CountConversationsQuery
"requests/conversation.create": CreateConversation
"requests/conversation.filter": FilterConversations
"requests/conversation.list.query": ListConversationsQuery
"requests/conversation.search.query": SearchConversationsQuery
"requests/conversation.send-transcript": SendTranscript
"requests/conversation.set-agent-bot": SetAgentBotOfAConversation
"requests/conversation.set-custom-attributes": SetCustomAttributesOfAConversation
"requests/conversation.set-labels": SetConversationLabels
"requests/conversation.set-status": SetConversationStatus
"requests/conversation.toggle-priority": TogglePriority
"requests/conversation.toggle-status": ToggleStatus
"requests/conversation.update": UpdateConversation
"requests/conversation.with-files": CreateConversationWithFiles
"requests/custom-filter.create": CreateCustomFilter
"requests/custom-filter.list.query": ListCustomFiltersQuery
"requests/custom-filter.update": UpdateCustomFilter
"requests/delivery.bulk": ActOnDeliveries
"requests/delivery.count.query": CountDeliveriesQuery
"requests/delivery.list.query": ListDeliveriesQuery
"requests/endpoint.recover": RecoverEndpoint
"requests/endpoint.test": TestEndpoint
"requests/event.list.query": ListEventsQuery
"requests/event.stream.query": FollowEventsQuery
"requests/hook.create": CreateHook
"requests/hook.rotate": RotateHook
"requests/inbox-members.change": ChangeInboxMembers
"requests/inbox.create": CreateInbox
"requests/inbox.members": InboxMembers
"requests/inbox.set-agent-bot": SetAgentBot
"requests/inbox.update": UpdateInbox
"requests/invitation.accept.query": AcceptInvitation
"requests/label.create": CreateLabel
"requests/label.update": UpdateLabel
"requests/ledger.query": LedgerQuery
"requests/macro.create": CreateMacro
"requests/macro.execute": ExecuteMacro
"requests/macro.update": UpdateMacro
"requests/message.create": SendMessage
"requests/message.list.query": ListMessagesQuery
"requests/message.update": UpdateMessage
"requests/message.with-files": SendMessageWithFiles
"requests/notification.read-all": ReadNotifications
"requests/page.query": PageQuery
"requests/password.change": SetThePassword
"requests/password.remove": RemoveThePassword
"requests/platform-account.create": CreateAccount
"requests/platform-account.update": UpdateAccount
"requests/platform-user.create": CreateUser
"requests/platform-user.update": UpdateUser
"requests/plugin.approve": ApprovePlugin
"requests/plugin.create": UploadPlugin
"requests/plugin.update": UpdatePlugin
"requests/report.activity.query": ActivityReportQuery
"requests/run.list.query": ListRunsQuery
"requests/search.query": SearchQuery
"requests/second-factor.code": SecondFactorCode
"requests/sign-in-callback.query": SignInCallback
"requests/sign-in-link.request": RequestASignInLink
"requests/sign-in": SignIn
"requests/sla-policy.create": CreateSLAPolicy
"requests/sla-policy.update": UpdateSLAPolicy
"requests/team.create": CreateTeam
"requests/team.members": TeamMembers
"requests/team.update": UpdateTeam
"requests/webhook.create": CreateWebhook
"requests/webhook.rotate_secret": SecretRotation
"requests/webhook.share": WebhookSharing
"requests/webhook.update": UpdateWebhook
"requests/widget-message.create": SendMessage1
"requests/widget-message.with-files": SendFiles
"requests/widget-session.create": OpenSession
"resources/access-token-list": AccessTokenList
"resources/access-token": AccessToken
"resources/account-plugin-list": AccountPluginList
"resources/account-plugin": AccountPlugin
"resources/account-user-list": AccountUsers
"resources/account-user": AccountUser
"resources/account": Account
"resources/activity-report": ActivityReport
"resources/agent-bot-list": AgentBotList
"resources/agent-bot-with-secrets": AgentBotWithSecrets
"resources/agent-bot": AgentBot
"resources/agent-list": AgentList
"resources/agent": Agent
"resources/article-import": ArticleImport
"resources/article-list": ArticleList
"resources/article-search": ArticleSearch
"resources/article": Article
"resources/attribute-definition-list": CustomAttributeDefinitionList
"resources/attribute-definition": CustomAttributeDefinition
"resources/audit-entry-list": AuditLog
"resources/audit-entry": AuditEntry
"resources/automation-dry-run": AutomationDryRun
"resources/automation-list": AutomationList
"resources/automation": Automation
"resources/backlogs": Backlogs
"resources/bot-call": BotCall
"resources/bot-evals-kept": KeptBotEvals
"resources/bot-evals": BotEvals
"resources/bot-trial": BotTrial
"resources/bot-unanswered": BotUnanswered
"resources/bot-usage": BotUsage
"resources/bulk-action-begun": BulkActionBegun
"resources/bulk-action": BulkAction
"resources/cancelled-deliveries": CancelledDeliveries
"resources/canned-response-list": CannedResponseList
"resources/canned-response": CannedResponse
"resources/client-contact": ClientContact
"resources/client-conversation": ClientConversation
"resources/client-conversations": ClientConversations
"resources/client-message": ClientMessage
"resources/client-messages": ClientMessages
"resources/contact-deletion": ContactDeletion
"resources/contact-inbox-list": ContactInboxList
"resources/contact-inbox": ContactInbox
"resources/contact-labels": ContactLabels
"resources/contact-list": ContactList
"resources/contact-note-list": ContactNoteList
"resources/contact-note": ContactNote
"resources/contact": Contact
"resources/conversation-agent-bot": AgentBotOfAConversation
"resources/conversation-bulk-action": ConversationBulkAction
"resources/conversation-counts": ConversationCounts
"resources/conversation-labels": ConversationLabels
"resources/conversation-list": ConversationList
"resources/conversation-page": ConversationPage
"resources/conversation-search": ConversationSearch
"resources/conversation": Conversation
"resources/created-contact": CreatedContact
"resources/created-webhook": CreatedWebhook
"resources/custom-filter-list": CustomFilterList
"resources/custom-filter": CustomFilter
"resources/delivery-count": DeliveryCount
"resources/delivery-detail": DeliveryWithAttempts
"resources/delivery-list": DeliveryList
"resources/delivery": Delivery
"resources/empty": Empty
"resources/endpoint-health": EndpointHealth
"resources/error": Error
"resources/event-deliveries": EventDeliveries
"resources/event-list": EventList
"resources/event": Event
"resources/health": Health1
"resources/hook-list": HookList
"resources/hook-request-list": HookRequestList
"resources/hook-request": HookRequest
"resources/hook": Hook
"resources/inbox-agent-bot": AgentBotOfAnInbox
"resources/inbox-agents": AgentsOfAnInbox
"resources/inbox-list": InboxList
"resources/inbox-with-identity-secret": InboxWithIdentitySecret
"resources/inbox": Inbox
"resources/invitation-accepted": InvitationAccepted
"resources/invited-agent": InvitedAgent
"resources/label-list": LabelList
"resources/label": Label
"resources/ledger": Ledger
"resources/macro-list": MacroList
"resources/macro-results": MacroResults
"resources/macro": Macro
"resources/message-list": MessageList
"resources/message": Message
"resources/notification-page": NotificationPage
"resources/notification": Notification
"resources/openapi": APIContract
"resources/page": Page
"resources/platform-account-list": PlatformAccounts
"resources/platform-account": PlatformAccount
"resources/platform-user-with-token": PlatformUserWithToken
"resources/platform-user": PlatformUser
"resources/plugin-list": PluginList
"resources/plugin-version-list": PluginVersionList
"resources/plugin-version": PluginVersion
"resources/plugin": Plugin
"resources/profile-with-token": ProfileWithToken
"resources/profile": Profile
"resources/recovery-begun": RecoveryBegun
"resources/recovery-codes": RecoveryCodes
"resources/recovery": Recovery
"resources/retried-deliveries": RetriedDeliveries
"resources/run-list": RunList
"resources/run-replay": ReplayedRun
"resources/run": Run
"resources/search": Search
"resources/second-factor": NewSecondFactor
"resources/security": SecurityOfAProfile
"resources/sent-file-list": SentFileList
"resources/sent-file": SentFile
"resources/sent-transcript": SentTranscript
"resources/service": Service
"resources/shared-webhook": SharedWebhook
"resources/sign-in-address": SignInAddress
"resources/sign-in-link": SignInLink
"resources/sign-in-methods": SignInMethods
"resources/sign-in": SignIn1
"resources/signing-secret-list": SigningSecrets
"resources/single-contact": SingleContact
"resources/sla-policy-list": SLAPolicyList
"resources/sla-policy": SLAPolicy
"resources/stream-ticket": StreamTicket
"resources/team-list": TeamList
"resources/team": Team
"resources/toggled-conversation": ToggledConversation
"resources/unread-count": UnreadCount
"resources/webhook-list": WebhookList
"resources/webhook-share-list": WebhookLinkList
"resources/webhook-share": WebhookLink
"resources/webhook-with-secret": WebhookWithSecret
"resources/webhook": Webhook
"resources/whole-hook-request": WholeHookRequest
"resources/widget-conversation": WidgetConversation
"resources/widget-event": WidgetEvent
"resources/widget-inbox": WidgetInbox
"resources/widget-message-list": WidgetMessages
"resources/widget-message": WidgetMessage
"resources/widget-session": WidgetSession
"resources/working-day": WorkingDay
"runtime/action.assign": AssignAction
"runtime/action.attributes": AttributesAction
"runtime/action.bot": BotAction
"runtime/action.handoff": HandoffAction
"runtime/action.incoming": IncomingAction
"runtime/action.label": LabelAction
"runtime/action.later": LaterAction
"runtime/action.mute": MuteAction
"runtime/action.note": NoteAction
"runtime/action.open": OpenAction
"runtime/action.priority": PriorityAction
"runtime/action.refused": RefusedAction
"runtime/action.reply": ReplyAction
"runtime/action.resolve": ResolveAction
"runtime/action.schedule": ScheduleAction
"runtime/action.sent": SentAction
"runtime/action.sla": SlaAction
"runtime/action.snooze": SnoozeAction
"runtime/action.status": StatusAction
"runtime/action.webhook": WebhookAction
"runtime/actions": ActionBatch
"runtime/chat": Chat
"runtime/contact-place": ContactPlace
"runtime/find-contact": FindContact
"runtime/find-or-create-contact": FindOrCreateContact
"runtime/plugin": PluginManifest
"runtime/search": Search1
"runtime/tool-call": ToolCall
/**
 * The tools of an AI bot, as its settings have them.
 */
"runtime/tools": BotTools
"shapes/about-event": AboutEventShape
"shapes/account-event": AccountEventShape
"shapes/account-message": AccountMessageShape
"shapes/account-record": AccountRecordShape
"shapes/account": AccountShape
"shapes/agent-bot": AgentBotShape
"shapes/bot-contact": BotContactShape
"shapes/bot-conversation-event": BotConversationEventShape
"shapes/bot-message": BotMessageShape
"shapes/condition": ConditionShape
"shapes/contact-brief": ContactBriefShape
"shapes/contact-conversation": ContactConversationShape
"shapes/contact-identity": ContactIdentityShape
"shapes/contact-message": ContactMessageShape
"shapes/contact": ContactShape
"shapes/conversation-counts": ConversationCountsShape
"shapes/conversation-event": ConversationEventShape
"shapes/conversation": ConversationShape
"shapes/delivery": DeliveryShape
"shapes/event-filter": EventFilter
"shapes/hook-request": HookRequestShape
"shapes/inbox": InboxShape
"shapes/internal-message": InternalMessageShape
"shapes/message-content": MessageContentShape
"shapes/message-event": MessageEventShape
"shapes/message-record": MessageRecordShape
"shapes/message": MessageShape
"shapes/new-conversation": NewConversationShape
"shapes/new-message": NewMessageShape
"shapes/pause": PauseShape
"shapes/person": PersonShape
"shapes/platform-user": PlatformUserShape
"shapes/plugin-origin": PluginOriginShape
"shapes/plugin": PluginShape
"shapes/profile": ProfileShape
"shapes/record": RecordShape
"shapes/rich-content": RichContentShape
"shapes/session-event": SessionEventShape
"shapes/typing-event": TypingEventShape
"shapes/user": UserShape
"shapes/visitor-profile": VisitorProfileShape
"shapes/webhook-event": WebhookEventShape
"shapes/webhook": WebhookShape
"shapes/working-day": WorkingDayShape
}
/**
 * What every record has.
 */
export interface RecordShape {
id: Id
created_at: UnixTime
updated_at: UnixTime
}
/**
 * Which contact it is.
 */
export interface ContactBriefShape {
id: Id
name: string
email: (string | null)
}
/**
 * Caller-owned JSON object; passes through untouched.
 */
export interface Attributes {
[k: string]: unknown
}
/**
 * What every event for accounts tells of its cause.
 */
export interface AccountEventShape {
/**
 * Who caused the event; null for the service, a visitor without a contact, and a deleted contact.
 */
actor: (EventActor | null)
/**
 * Number of automations, bots and webhooks between the change of a person and this event: 0 for a person's own. Automations and bots do not act on events deeper than 5.
 */
depth: number
}
export interface EventActor {
type: ("user" | "agent_bot" | "automation" | "contact")
id: Id
name: string
}
export interface Named {
id: Id
name: string
}
/**
 * Attribute name → its value before and after.
 */
export interface ChangedAttributes {
[k: string]: {
previous: unknown
current: unknown
}
}
/**
 * What every event of a conversation carries.
 */
export interface ConversationEventShape {
account: Named
sequence: EventSequence
}
/**
 * Who is typing, and where. It has no `sequence`: it is no part of what happened in the conversation.
 */
export interface TypingEventShape {
conversation: ConversationBrief
user: {
id: Id
name: string
type: "Contact"
}
/**
 * Whether a note is being written; never for a contact.
 */
is_private: boolean
account: Named
}
export interface ConversationBrief {
id: Id
status: ConversationStatus
inbox_id: Id
}
/**
 * What every event about the deliveries of another webhook tells.
 */
export interface WebhookEventShape {
webhook_id: Id
webhook: NamedWebhook
account: Named
}
/**
 * A webhook, as events about it name it.
 */
export interface NamedWebhook {
id: Id
name: (string | null)
url: string
}
/**
 * What is said, as everybody is told it.
 */
export interface MessageContentShape {
content: string
message_type: ("incoming" | "outgoing")
/**
 * `input_select` and `cards` have `items` in `content_attributes`.
 */
content_type: ("text" | "input_select" | "input_email" | "cards")
content_attributes: Attributes
}
/**
 * A file of a message.
 */
export interface Attachment {
id: Id
message_id: Id
/**
 * What a file is by its content.
 */
file_type: ("image" | "audio" | "video" | "file")
file_name: string
/**
 * Of its name, without the dot.
 */
extension: (string | null)
/**
 * By its content, whatever its name says.
 */
content_type: string
/**
 * In bytes.
 */
file_size: number
/**
 * Link to the file for whoever has it, until it expires (ATTACHMENT_LINK_HOURS); a new one is in every answer.
 */
data_url: string
/**
 * Link to what is shown of a picture.
 */
thumb_url?: string
/**
 * Of a picture, in pixels.
 */
width: (number | null)
height: (number | null)
}
/**
 * What every event of a widget session carries.
 */
export interface SessionEventShape {
inbox: InboxBrief
account: Named
/**
 * That of the conversation.
 */
source_id: (string | null)
/**
 * Whether the conversation began with this session.
 */
conversation_begun: boolean
}
export interface InboxBrief {
id: Id
name: string
channel: string
}
export interface BotConversationMeta {
sender: {
id: Id
name: string
type: "contact"
}
channel: string
}
/**
 * Another system sent a request to a hook of the bot or automation, which gets it as ctx.hook.
 */
export interface BotHookReceived {
event: "hook_received"
request_id: Id
hook: Named
account: Named
}
export interface BotConversation {
id: Id
account_id: Id
status: ConversationStatus
assignee: (Named | null)
meta: BotConversationMeta
}
/**
 * Which runs, and where to go on.
 */
export interface ListRunsQuery {
/**
 * Runs with this outcome alone.
 */
outcome?: string
/**
 * Runs of this moment or later.
 */
since?: UnixTime
/**
 * Runs before this moment.
 */
until?: UnixTime
/**
 * The `next_cursor` of an earlier answer of the same list, to go on behind it.
 */
cursor?: string
[k: string]: unknown
}
/**
 * Who joins the account, and as what.
 */
export interface AddAccountUser {
user_id: Id
role: ("administrator" | "agent")
[k: string]: unknown
}
/**
 * Which user leaves the account.
 */
export interface RemoveAccountUser {
user_id: Id
[k: string]: unknown
}
/**
 * What to change on the account.
 */
export interface UpdateOwnAccount {
name?: string
llm?: GivenLlm
approved_hosts?: ApprovedHosts
[k: string]: unknown
}
/**
 * A webhook bot, on a server of its own; an AI bot, which answers from the knowledge base; or a bot that runs another plugin inside the service.
 */
export interface CreateAgentBot {
/**
 * webhook unless said otherwise.
 */
kind?: ("webhook" | "plugin" | "ai")
name: string
description?: (string | null)
/**
 * An http or https URL, or null for none.
 */
avatar_url?: (string | null)
/**
 * Where a webhook bot is sent its events, or a bot inside the service forwards them: https. Null for a new webhook bot that has no server yet: it is switched off, and agents get its conversations, until one is set.
 */
outgoing_url?: (string | null)
/**
 * In which form the bodies of events are sent: ours, or the one that receivers made for Chatwoot read, signed in its way too.
 */
format?: ("default" | "chatwoot")
/**
 * What a webhook bot is told of; by default everything. A bot inside the service is told what its manifest asks for.
 * 
 * @minItems 1
 * @maxItems 5
 */
events?: ("message_created" | "message_updated" | "conversation_opened" | "conversation_resolved" | "webwidget_triggered")[]
/**
 * Whether a webhook bot is told of outgoing messages, its own included; by default it is.
 */
hear_own?: boolean
/**
 * Settings of a plugin, as its manifest says.
 */
config?: GivenAttributes
/**
 * Of a bot inside the service: tokens of language models that it may use on a day (UTC) in an account; null for any number. An AI bot whose tokens are used up gives conversations to people.
 */
tokens_per_day?: (number | null)
/**
 * Of an AI bot: shapes tone, scope and behaviour of its model.
 */
system_prompt?: string
/**
 * Of an AI bot: 0 = precise, 1 = varied; 0.2 unless said otherwise.
 */
temperature?: number
/**
 * Of an AI bot: its replies in a session after which people get the conversation; 10 unless said otherwise.
 */
max_exchanges?: number
/**
 * Of an AI bot: words and phrases with which customers get a person. Case does not matter, whole words count.
 * 
 * @maxItems 100
 */
handoff_keywords?: string[]
/**
 * Of an AI bot: the answer to a customer who only says hello; empty for nothing, null for our text in the customer's language.
 */
greeting_message?: (string | null)
/**
 * Of an AI bot: what the customer is told when people get the conversation; empty for nothing, null for our text in the customer's language.
 */
handoff_message?: (string | null)
/**
 * Of an AI bot: the same when the model does not answer, or the tokens of the day are used up.
 */
outage_message?: (string | null)
knowledge?: AiKnowledge
/**
 * Of an AI bot: requests that its model may have made, with arguments of its choice, to hosts that the account has approved (`approved_hosts`; else 422 `host_not_approved`). Replaces all of them; 16,384 characters of JSON in all.
 */
tools?: BotTools
/**
 * Secrets that the plugin's manifest names, and of AI bots those for its tools, by name; they are stored sealed and never answered. Those that are not named stay; null removes one.
 */
secrets?: {
[k: string]: string | null
}
/**
 * An installed plugin.
 */
plugin_id?: string
[k: string]: unknown
}
/**
 * Caller-owned JSON object of at most 64 KB; passes through untouched.
 */
export interface GivenAttributes {
[k: string]: unknown
}
/**
 * What to change on a bot; its kind and its plugin stay.
 */
export interface UpdateAgentBot {
name?: string
description?: (string | null)
/**
 * An http or https URL, or null for none.
 */
avatar_url?: (string | null)
/**
 * Where a webhook bot is sent its events, or a bot inside the service forwards them: https. Null for a new webhook bot that has no server yet: it is switched off, and agents get its conversations, until one is set.
 */
outgoing_url?: (string | null)
/**
 * In which form the bodies of events are sent: ours, or the one that receivers made for Chatwoot read, signed in its way too.
 */
format?: ("default" | "chatwoot")
/**
 * What a webhook bot is told of; by default everything. A bot inside the service is told what its manifest asks for.
 * 
 * @minItems 1
 * @maxItems 5
 */
events?: ("message_created" | "message_updated" | "conversation_opened" | "conversation_resolved" | "webwidget_triggered")[]
/**
 * Whether a webhook bot is told of outgoing messages, its own included; by default it is.
 */
hear_own?: boolean
/**
 * Settings of a plugin, as its manifest says.
 */
config?: GivenAttributes
/**
 * Of a bot inside the service: tokens of language models that it may use on a day (UTC) in an account; null for any number. An AI bot whose tokens are used up gives conversations to people.
 */
tokens_per_day?: (number | null)
/**
 * Of an AI bot: shapes tone, scope and behaviour of its model.
 */
system_prompt?: string
/**
 * Of an AI bot: 0 = precise, 1 = varied; 0.2 unless said otherwise.
 */
temperature?: number
/**
 * Of an AI bot: its replies in a session after which people get the conversation; 10 unless said otherwise.
 */
max_exchanges?: number
/**
 * Of an AI bot: words and phrases with which customers get a person. Case does not matter, whole words count.
 * 
 * @maxItems 100
 */
handoff_keywords?: string[]
/**
 * Of an AI bot: the answer to a customer who only says hello; empty for nothing, null for our text in the customer's language.
 */
greeting_message?: (string | null)
/**
 * Of an AI bot: what the customer is told when people get the conversation; empty for nothing, null for our text in the customer's language.
 */
handoff_message?: (string | null)
/**
 * Of an AI bot: the same when the model does not answer, or the tokens of the day are used up.
 */
outage_message?: (string | null)
knowledge?: AiKnowledge
/**
 * Of an AI bot: requests that its model may have made, with arguments of its choice, to hosts that the account has approved (`approved_hosts`; else 422 `host_not_approved`). Replaces all of them; 16,384 characters of JSON in all.
 */
tools?: BotTools
/**
 * Secrets that the plugin's manifest names, and of AI bots those for its tools, by name; they are stored sealed and never answered. Those that are not named stay; null removes one.
 */
secrets?: {
[k: string]: string | null
}
[k: string]: unknown
}
/**
 * Who becomes an agent; an invitation is sent to the address.
 */
export interface CreateAgent {
name: string
email: string
role: ("administrator" | "agent")
availability?: ("online" | "busy" | "offline")
[k: string]: unknown
}
/**
 * What to change of an agent.
 */
export interface UpdateAgent {
name?: string
role?: ("administrator" | "agent")
availability?: ("online" | "busy" | "offline")
[k: string]: unknown
}
/**
 * What makes an article; it is published unless said otherwise.
 */
export interface CreateArticle {
title: string
/**
 * Markdown.
 */
content: string
/**
 * An http or https URL, or null for none.
 */
url?: (string | null)
/**
 * A language tag such as `en`, `de` or `pt-BR`.
 */
language?: string
tags?: ArticleTags
published?: boolean
[k: string]: unknown
}
/**
 * A form with a file of articles: JSON lines (.jsonl, .ndjson), each with the fields of an article and perhaps its path, or Markdown in an archive (.zip, .tgz, .tar.gz), whose front matter may have title, url, language, tags and published.
 */
export interface ImportArticles {
/**
 * The file; its name says its kind.
 */
file: string
/**
 * The file's name, where the form does not have it with the file.
 */
file_name?: string
/**
 * The language of new articles that do not say theirs; en if it is not given.
 */
language?: string
[k: string]: unknown
}
/**
 * A line of an import: an article, and where it comes from.
 */
export interface ImportedArticle {
title: string
/**
 * Markdown.
 */
content: string
/**
 * An http or https URL, or null for none.
 */
url?: (string | null)
/**
 * A language tag such as `en`, `de` or `pt-BR`.
 */
language?: string
tags?: ArticleTags
published?: boolean
/**
 * Names the article where it has no URL: the same path is the same article.
 */
path?: (string | null)
[k: string]: unknown
}
/**
 * Which page of a list.
 */
export interface PageQuery {
page?: number
[k: string]: unknown
}
/**
 * A question or words to look for, and in which articles.
 */
export interface SearchArticlesQuery {
q: string
/**
 * Only articles with one of these tags.
 */
tags?: ArticleTags
/**
 * Only articles in one of these languages.
 * 
 * @maxItems 20
 * 
 * Items: A language tag such as `en`, `de` or `pt-BR`.
 */
languages?: string[]
limit?: number
[k: string]: unknown
}
/**
 * What to change of an article. Only published articles are found by searches and bots.
 */
export interface UpdateArticle {
title?: string
/**
 * Markdown.
 */
content?: string
/**
 * An http or https URL, or null for none.
 */
url?: (string | null)
/**
 * A language tag such as `en`, `de` or `pt-BR`.
 */
language?: string
tags?: ArticleTags
published?: boolean
[k: string]: unknown
}
/**
 * What defines a custom attribute: of what, by which key, and what it is called.
 */
export interface CreateCustomAttributeDefinition {
/**
 * The name of the property in `custom_attributes`.
 */
attribute_key: string
/**
 * Of what it is an attribute.
 */
attribute_model: AttributeModel
attribute_display_name: string
attribute_description?: (string | null)
/**
 * How its values are shown; text unless said otherwise.
 */
attribute_display_type?: AttributeDisplayType
/**
 * Of a list: what may be chosen.
 * 
 * @maxItems 100
 */
attribute_values?: string[]
[k: string]: unknown
}
/**
 * What to change of the definition of a custom attribute.
 */
export interface UpdateCustomAttributeDefinition {
/**
 * The name of the property in `custom_attributes`.
 */
attribute_key?: string
/**
 * Of what it is an attribute.
 */
attribute_model?: AttributeModel
attribute_display_name?: string
attribute_description?: (string | null)
/**
 * How its values are shown; text unless said otherwise.
 */
attribute_display_type?: AttributeDisplayType
/**
 * Of a list: what may be chosen.
 * 
 * @maxItems 100
 */
attribute_values?: string[]
[k: string]: unknown
}
/**
 * Which entries, and where to go on.
 */
export interface AuditLogQuery {
/**
 * Entries with this action alone.
 */
action?: string
/**
 * Acts of this agent alone; for the platform's log, of this person.
 */
actor_id?: Id
/**
 * Acts on this kind of record, such as `webhook`, or on one record, such as `webhook:5`.
 */
target?: string
/**
 * Entries of this moment or later.
 */
since?: UnixTime
/**
 * Entries before this moment.
 */
until?: UnixTime
/**
 * The `next_cursor` of an earlier answer of the same list, to go on behind it.
 */
cursor?: string
[k: string]: unknown
}
/**
 * A name, and an installed plugin of the kind `automation`.
 */
export interface CreateAutomation {
name: string
/**
 * An installed plugin. It cannot be changed.
 */
plugin_id: string
/**
 * The settings of the plugin, as its manifest says.
 */
config?: GivenAttributes
/**
 * Secrets that the plugin's manifest names, by name; they are stored sealed and never answered. Those that are not named stay; null removes one.
 */
secrets?: {
[k: string]: string | null
}
/**
 * The inboxes in which it hears and acts; null, the default, for the whole account.
 * 
 * @minItems 1
 * @maxItems 100
 */
inbox_ids?: (Id[] | null)
/**
 * Whether it hears anything; by default it does.
 */
active?: boolean
[k: string]: unknown
}
/**
 * Settings and inboxes to try, and the number of events to look at.
 */
export interface DryRunAutomation {
/**
 * The settings to try; by default those of the automation.
 */
config?: GivenAttributes
/**
 * The inboxes whose events it would hear, null for the whole account; by default those of the automation.
 * 
 * @minItems 1
 * @maxItems 100
 */
inbox_ids?: (Id[] | null)
/**
 * The number of latest events to look at; 100 by default.
 */
limit?: number
[k: string]: unknown
}
/**
 * What to change of an automation; its plugin stays.
 */
export interface UpdateAutomation {
name?: string
/**
 * An installed plugin. It cannot be changed.
 */
plugin_id?: string
/**
 * The settings of the plugin, as its manifest says.
 */
config?: GivenAttributes
/**
 * Secrets that the plugin's manifest names, by name; they are stored sealed and never answered. Those that are not named stay; null removes one.
 */
secrets?: {
[k: string]: string | null
}
/**
 * The inboxes in which it hears and acts; null, the default, for the whole account.
 * 
 * @minItems 1
 * @maxItems 100
 */
inbox_ids?: (Id[] | null)
/**
 * Whether it hears anything; by default it does.
 */
active?: boolean
[k: string]: unknown
}
/**
 * A call of a bot to the service, in no run.
 */
export interface CallAsAgentBot {
name: ("llm.chat" | "kb.search")
/**
 * As the bot gives it to `ctx.llm.chat` or `ctx.kb.search`.
 */
input: {
[k: string]: unknown
}
[k: string]: unknown
}
/**
 * Results that the next run of `npx switchboard evals` is compared with.
 */
export interface KeepEvalsOfAgentBot {
results: EvalResults
[k: string]: unknown
}
/**
 * A message of a customer, the messages before it, and what the bot should do.
 */
export interface TryAgentBot {
/**
 * The message that the bot gets.
 */
question: string
/**
 * The messages before it, oldest first: of the customer (`user`) and of the bot (`assistant`).
 * 
 * @maxItems 20
 */
history?: {
role: ("user" | "assistant")
content: string
}[]
/**
 * What the bot should do, one of these; the answer then says whether it `passed`.
 */
expect?: {
/**
 * Title or URL of an article that it cites or offers.
 */
article?: string
/**
 * Texts that its replies hold, in upper or lower case.
 * 
 * @minItems 1
 * @maxItems 50
 * 
 * Items: A text to look for.
 */
contains?: string[]
/**
 * Whether it hands off.
 */
handoff?: boolean
/**
 * Whether it answers; false: it neither answers nor hands off.
 */
answered?: boolean
/**
 * Whether it replies without citing, and does not hand off.
 */
small_talk?: boolean
}
[k: string]: unknown
}
/**
 * When the questions were asked.
 */
export interface BotUnansweredQuery {
/**
 * From this moment on; 30 days before `until` unless said otherwise.
 */
since?: UnixTime
/**
 * Before this moment; up to now unless said otherwise.
 */
until?: UnixTime
[k: string]: unknown
}
/**
 * Of which days (UTC).
 */
export interface BotUsageQuery {
/**
 * From the day of this moment on; 30 days before the last one unless said otherwise.
 */
since?: UnixTime
/**
 * Up to this moment, with its day unless it is the day's first; up to now unless said otherwise. At most 366 days in all.
 */
until?: UnixTime
[k: string]: unknown
}
/**
 * A text, and the short code by which agents insert it.
 */
export interface CreateCannedResponse {
/**
 * Unique in the account.
 */
short_code: string
/**
 * The text of the reply.
 */
content: string
[k: string]: unknown
}
/**
 * What to change of a canned response.
 */
export interface UpdateCannedResponse {
/**
 * Unique in the account.
 */
short_code?: string
/**
 * The text of the reply.
 */
content?: string
[k: string]: unknown
}
/**
 * What visitors tell about themselves; null for nothing.
 */
export interface VisitorProfileShape {
name?: (string | null)
email?: (string | null)
/**
 * E.164, for example +14155552671.
 */
phone_number?: (string | null)
/**
 * Kept apart from those of people and integrations, as `visitor_attributes`; at most 8 KB.
 */
custom_attributes?: GivenVisitorAttributes
}
/**
 * At most 8 KB.
 */
export interface GivenVisitorAttributes {
[k: string]: unknown
}
/**
 * What a client tells of a conversation.
 */
export interface CreateClientConversation {
/**
 * Nobody vouches for them: they are stored as `visitor_attributes` in the conversation's `additional_attributes`; at most 8 KB.
 */
custom_attributes?: GivenVisitorAttributes
[k: string]: unknown
}
/**
 * Which stretch of the conversations.
 */
export interface ListClientConversationsQuery {
/**
 * A conversation: those that began before it.
 */
before?: Id
[k: string]: unknown
}
/**
 * A message of the contact.
 */
export interface SendClientMessage {
content: string
/**
 * Given for an answer to a choice (`input_select`, or a postback of `cards`) or to a question for an e-mail address (`input_email`): `submitted_values` has then the `value` of an item, or `content` has it; for an address, `content` has that. The message gets the item's `title` as its text.
 */
content_attributes?: {
/**
 * The message that asked; without it, the newest that asked.
 */
in_reply_to?: Id
/**
 * What was chosen.
 * 
 * @maxItems 1
 */
submitted_values?: SubmittedValue[]
[k: string]: unknown
}
/**
 * Answered as it is given, for the client to know its message again.
 */
echo_id?: string
[k: string]: unknown
}
export interface SubmittedValue {
title?: string
value: string
[k: string]: unknown
}
/**
 * The answer to a message that asks for a choice (`input_select`, or a postback of `cards`) or an e-mail address (`input_email`).
 */
export interface AnswerClientMessage {
/**
 * The `value` of the chosen item, or the address.
 * 
 * @minItems 1
 * @maxItems 1
 */
submitted_values: SubmittedValue[]
[k: string]: unknown
}
/**
 * Whether the contact is typing.
 */
export interface ToggleTyping {
typing_status: ("on" | "off")
[k: string]: unknown
}
/**
 * In which inbox a contact is to be known, and by which external identifier.
 */
export interface CreateContactInbox {
inbox_id: Id
/**
 * Unique in the inbox; without it, the contact's address in the inbox's channel, or one that is made.
 */
source_id?: (string | null)
[k: string]: unknown
}
/**
 * What is worth knowing about a contact.
 */
export interface CreateContactNote {
content: string
[k: string]: unknown
}
/**
 * What makes a contact.
 */
export interface CreateContact {
name: string
email?: (string | null)
/**
 * E.164, for example +14155552671.
 */
phone_number?: (string | null)
identifier?: (string | null)
/**
 * Picture of the contact, answered as `thumbnail`.
 */
avatar_url?: (string | null)
blocked?: boolean
custom_attributes?: GivenAttributes
additional_attributes?: GivenAttributes
/**
 * Refuses an `email` or `phone_number` that another contact of the account has.
 */
unique_addresses?: boolean
/**
 * An inbox in which the contact is known from the beginning.
 */
inbox_id?: Id
/**
 * By which external identifier; counts with `inbox_id` only. Without it, the contact's address in the inbox's channel, or one that is made.
 */
source_id?: (string | null)
[k: string]: unknown
}
/**
 * Conditions by which contacts are found, by `name`, `email`, `phone_number` (its plus may be left out), `identifier`, `blocked`, `labels` and custom attributes; none at all finds all.
 */
export interface FilterContacts {
/**
 * @maxItems 15
 */
payload: ConditionShape[]
[k: string]: unknown
}
/**
 * A condition of a filter: what it looks at, how that is compared, with which values, and how the next condition is joined.
 */
export interface ConditionShape {
/**
 * A field that the list of the operation names; any other is a custom attribute.
 */
attribute_key: string
/**
 * `not_equal_to` holds where there is nothing, too; `contains` looks for a text in any case.
 */
filter_operator: ("equal_to" | "not_equal_to" | "contains" | "is_present")
/**
 * One of them suffices. `is_present` needs none.
 * 
 * @maxItems 10
 */
values?: (string | number | boolean)[]
/**
 * How the next condition is joined, AND unless said otherwise; AND binds before OR. That of the last is not read.
 */
query_operator?: ("AND" | "OR" | "and" | "or" | null)
/**
 * Given, and not blank: the key is that of a custom attribute, whatever it is called.
 */
custom_attribute_type?: (string | null)
}
/**
 * Which contact remains, and which one it takes over.
 */
export interface MergeContacts {
/**
 * It remains, with its values.
 */
base_contact_id: Id
/**
 * It is deleted; the other gets what belongs to it, and the values that it lacks.
 */
mergee_contact_id: Id
[k: string]: unknown
}
/**
 * What to look for in name, e-mail address, phone number and identifier, and which page.
 */
export interface SearchContactsQuery {
/**
 * A text to look for.
 */
q: string
page?: number
/**
 * False: only their number is told, in meta.
 */
include_contacts?: boolean
include_contact_inboxes?: boolean
[k: string]: unknown
}
/**
 * The labels that the contact is to have, and no others, by title.
 */
export interface SetContactLabels {
/**
 * @maxItems 100
 * 
 * Items: Lowercase letters, digits, `_` and `-`.
 */
labels: string[]
/**
 * Titles that are no labels of the account become some, all of them or none, where the caller may create labels.
 */
create_missing?: boolean
[k: string]: unknown
}
/**
 * What to change on a contact; attributes are merged key by key, null removes a key.
 */
export interface UpdateContact {
name?: string
email?: (string | null)
/**
 * E.164, for example +14155552671.
 */
phone_number?: (string | null)
identifier?: (string | null)
/**
 * Picture of the contact, answered as `thumbnail`.
 */
avatar_url?: (string | null)
blocked?: boolean
custom_attributes?: GivenAttributes
additional_attributes?: GivenAttributes
/**
 * Refuses an `email` or `phone_number` that another contact of the account has.
 */
unique_addresses?: boolean
[k: string]: unknown
}
/**
 * Who is to have the conversation; null for nobody.
 */
export interface AssignConversation {
assignee_id?: NullableId1
team_id?: NullableId2
/**
 * A bot that gets the conversation in place of its inbox's bot and of whoever is assigned; null for the inbox's bot. Bots may not name one.
 */
agent_bot_id?: NullableId
[k: string]: unknown
}
/**
 * Changes to make in each of the conversations.
 */
export interface BulkActionOnConversations {
type: "Conversation"
/**
 * @minItems 1
 * @maxItems 10000
 */
ids: Id[]
fields?: {
status?: ConversationStatus
priority?: ("urgent" | "high" | "medium" | "low" | null)
assignee_id?: NullableId
team_id?: NullableId
}
labels?: {
/**
 * @maxItems 100
 * 
 * Items: Lowercase letters, digits, `_` and `-`.
 */
add?: string[]
/**
 * @maxItems 100
 * 
 * Items: Lowercase letters, digits, `_` and `-`.
 */
remove?: string[]
}
/**
 * End of the snooze, with the status `snoozed`.
 */
snoozed_until?: NullableUnixTime
[k: string]: unknown
}
/**
 * Which conversations to count.
 */
export interface CountConversationsQuery {
status?: ("open" | "resolved" | "pending" | "snoozed" | "all")
assignee_type?: ("me" | "unassigned" | "all" | "assigned")
/**
 * Conversations of this inbox alone.
 */
inbox_id?: Id
/**
 * Conversations of this team alone.
 */
team_id?: Id
/**
 * Conversations with this text in a public message or in their contact's name, e-mail address, phone number or identifier: three characters or more.
 */
q?: string
/**
 * @maxItems 20
 */
labels?: string[]
[k: string]: unknown
}
/**
 * What opens a conversation, besides its first message.
 */
export interface NewConversationShape {
inbox_id: Id
contact_id?: Id
source_id?: (string | null)
status?: ConversationStatus
snoozed_until?: NullableUnixTime
assignee_id?: NullableId3
team_id?: NullableId4
message?: unknown
additional_attributes?: GivenAttributes
custom_attributes?: GivenAttributes
}
/**
 * Conditions by which conversations are found, by `id` (or `display_id`), `status`, `priority`, `assignee_id`, `team_id`, `inbox_id`, `contact_id`, `source_id`, `labels` and custom attributes; none at all finds all.
 */
export interface FilterConversations {
/**
 * @maxItems 15
 */
payload: ConditionShape[]
[k: string]: unknown
}
/**
 * What to look for in public messages: three characters or more, and which page.
 */
export interface SearchConversationsQuery {
q: string
page?: number
[k: string]: unknown
}
/**
 * Who gets the transcript of a conversation.
 */
export interface SendTranscript {
email: string
[k: string]: unknown
}
/**
 * The bot that serves one conversation instead of its inbox's bot, or null for that one.
 */
export interface SetAgentBotOfAConversation {
agent_bot_id: NullableId
[k: string]: unknown
}
/**
 * The custom attributes that the conversation is to have, and no others.
 */
export interface SetCustomAttributesOfAConversation {
custom_attributes: GivenAttributes
[k: string]: unknown
}
/**
 * The labels that the conversation is to have, and no others, by title.
 */
export interface SetConversationLabels {
/**
 * @maxItems 100
 * 
 * Items: Lowercase letters, digits, `_` and `-`.
 */
labels: string[]
/**
 * Titles that are no labels of the account become some, all of them or none, where the caller may create labels.
 */
create_missing?: boolean
[k: string]: unknown
}
/**
 * The status to move to.
 */
export interface ToggleStatus {
status: ConversationStatus
snoozed_until?: NullableUnixTime
[k: string]: unknown
}
/**
 * The priority to set; null for none.
 */
export interface TogglePriority {
priority: ("urgent" | "high" | "medium" | "low" | null)
[k: string]: unknown
}
/**
 * What to change on a conversation; attributes are merged key by key, null removes a key.
 */
export interface UpdateConversation {
priority?: ("urgent" | "high" | "medium" | "low" | null)
sla_policy_id?: NullableId
additional_attributes?: GivenAttributes
custom_attributes?: GivenAttributes
[k: string]: unknown
}
/**
 * A query, and the name by which the caller finds it.
 */
export interface CreateCustomFilter {
name: string
/**
 * Default: `conversation`.
 */
filter_type?: FilterType
/**
 * The same as `filter_type`, which goes first.
 */
type?: FilterType
/**
 * An object of at most 8 KB, stored as it is.
 */
query: GivenVisitorAttributes
[k: string]: unknown
}
/**
 * Which custom filters.
 */
export interface ListCustomFiltersQuery {
/**
 * Default: `conversation`.
 */
filter_type?: FilterType
[k: string]: unknown
}
/**
 * What to change of a custom filter.
 */
export interface UpdateCustomFilter {
name?: string
/**
 * Default: `conversation`.
 */
filter_type?: FilterType
/**
 * The same as `filter_type`, which goes first.
 */
type?: FilterType
/**
 * An object of at most 8 KB, stored as it is.
 */
query?: GivenVisitorAttributes
[k: string]: unknown
}
/**
 * What is done to which deliveries of a webhook: those that a filter finds at this moment, or those of a list. Exactly one of `filter` and `ids`.
 */
export interface ActOnDeliveries {
action: BulkActionKind
/**
 * The filter of the list of deliveries; without any name, all deliveries of the webhook.
 */
filter?: CountDeliveriesQuery
/**
 * Deliveries of this webhook.
 * 
 * @minItems 1
 * @maxItems 1000
 */
ids?: Id[]
[k: string]: unknown
}
/**
 * Which deliveries to count.
 */
export interface CountDeliveriesQuery {
state?: DeliveryState
/**
 * Deliveries of this event alone.
 */
event?: string
/**
 * Deliveries whose last attempt was answered with this HTTP status.
 */
status_code?: number
/**
 * Deliveries whose last attempt failed in this way.
 */
error_class?: DeliveryErrorClass
/**
 * Deliveries with an attempt whose answer has this text in its first 16 KB, in any case.
 */
q?: string
/**
 * Deliveries of events of this conversation, its deletion included.
 */
conversation_id?: Id
/**
 * Deliveries that were created at this moment or later.
 */
since?: UnixTime
/**
 * Deliveries that were created before this moment.
 */
until?: UnixTime
}
/**
 * Which deliveries, and where to go on.
 */
export interface ListDeliveriesQuery {
state?: DeliveryState
/**
 * Deliveries of this event alone.
 */
event?: string
/**
 * Deliveries whose last attempt was answered with this HTTP status.
 */
status_code?: number
/**
 * Deliveries whose last attempt failed in this way.
 */
error_class?: DeliveryErrorClass
/**
 * Deliveries with an attempt whose answer has this text in its first 16 KB, in any case.
 */
q?: string
/**
 * Deliveries of events of this conversation, its deletion included.
 */
conversation_id?: Id
/**
 * Deliveries that were created at this moment or later.
 */
since?: UnixTime
/**
 * Deliveries that were created before this moment.
 */
until?: UnixTime
/**
 * The `next_cursor` of an earlier answer of the same list, to go on behind it.
 */
cursor?: string
[k: string]: unknown
}
/**
 * Which deliveries are sent again.
 */
export interface RecoverEndpoint {
/**
 * Deliveries that were created at this moment or later.
 */
since: UnixTime
/**
 * Deliveries that were created before this moment; by default all until now.
 */
until?: UnixTime
/**
 * What is sent again: what was given up, what was cancelled, or by default both.
 * 
 * @minItems 1
 * @maxItems 2
 */
states?: RecoverableState[]
/**
 * Whether events are sent, too, that have no delivery: those that the webhook would have got, by its present subscriptions, before it was created or while it was switched off. For webhooks only.
 */
missing?: boolean
[k: string]: unknown
}
/**
 * Which event to try the endpoint with.
 */
export interface TestEndpoint {
/**
 * Any event that such an endpoint can get; by default one that it is subscribed to.
 */
event?: string
[k: string]: unknown
}
/**
 * Which events, and where to go on.
 */
export interface ListEventsQuery {
/**
 * The `cursor` of an event, or the `next_cursor` of a page, to go on behind it; without it the list begins with the oldest event that is kept.
 */
after?: string
/**
 * Names of events, separated by commas: events with one of them alone.
 */
types?: string
/**
 * Events of this conversation alone.
 */
conversation_id?: Id
/**
 * Events on a page at most.
 */
limit?: number
[k: string]: unknown
}
/**
 * Which events, and where to begin.
 */
export interface FollowEventsQuery {
/**
 * A cursor of the feed: the stream begins with what is behind it. Last-Event-ID goes before it.
 */
after?: string
/**
 * Names of events, separated by commas: events with one of them alone.
 */
types?: string
/**
 * Events of this conversation alone.
 */
conversation_id?: Id
[k: string]: unknown
}
/**
 * A way in for another system: its name, and the bot, automation or inbox that handles the requests.
 */
export interface CreateHook {
name: string
/**
 * A bot of a plugin.
 */
agent_bot_id?: NullableId
/**
 * In place of `agent_bot_id`: an automation.
 */
automation_id?: NullableId
/**
 * In place of `agent_bot_id`: an inbox with a channel.
 */
inbox_id?: NullableId
/**
 * The name of a hook in the manifest of its plugin.
 */
handler: string
[k: string]: unknown
}
/**
 * Gives a hook another URL.
 */
export interface RotateHook {
/**
 * How long the URL before serves too: a day by default, 0 for not at all.
 */
overlap_seconds?: number
[k: string]: unknown
}
/**
 * An inbox, and agents of the account, by their ids.
 */
export interface ChangeInboxMembers {
inbox_id: Id
/**
 * @maxItems 1000
 */
user_ids: Id[]
[k: string]: unknown
}
/**
 * What makes an inbox.
 */
export interface CreateInbox {
name: string
/**
 * Channel::Api unless said otherwise.
 */
channel_type?: ("Channel::WebWidget" | "Channel::Api" | "Channel::Email" | "Channel::FacebookPage" | "Channel::Instagram" | "Channel::Tiktok" | "Channel::Whatsapp" | "Channel::TwilioSms" | "Channel::Sms" | "Channel::Telegram" | "Channel::Line" | "Channel::TwitterProfile")
/**
 * The channel. `type` is for a new inbox: `plugin`, or a channel in the words of Chatwoot's clients, whose other properties are left alone.
 */
channel?: {
type?: ("web_widget" | "api" | "email" | "line" | "telegram" | "whatsapp" | "sms" | "plugin")
/**
 * With the type `plugin`: the plugin of the kind `channel` that connects the inbox.
 */
plugin_id?: string
/**
 * Refused unless it is blank: a webhook with the `inbox_id` tells of what happens in the inbox.
 */
webhook_url?: (string | null)
/**
 * With a plugin: its settings, as its manifest says.
 */
config?: GivenAttributes
/**
 * With a plugin: secrets that its manifest names, by name; they are stored sealed and never answered. Those that are not named stay; null removes one.
 */
secrets?: {
[k: string]: string | null
}
[k: string]: unknown
}
greeting_enabled?: boolean
/**
 * Answers the first message of a conversation; blank = nothing is said.
 */
greeting_message?: (string | null)
enable_auto_assignment?: boolean
/**
 * IANA name, for example Europe/Berlin.
 */
timezone?: string
working_hours_enabled?: boolean
/**
 * Every day of the week once.
 * 
 * @minItems 7
 * @maxItems 7
 */
working_hours?: {
/**
 * 0 is Sunday, 6 Saturday.
 */
day_of_week: number
closed_all_day?: boolean
open_all_day?: boolean
/**
 * Null on a day that is closed or open all day.
 */
open_hour?: (number | null)
/**
 * 0 in a request that does not say.
 */
open_minutes?: (number | null)
/**
 * 24 with 0 minutes is the end of the day.
 */
close_hour?: (number | null)
/**
 * 0 in a request that does not say.
 */
close_minutes?: (number | null)
[k: string]: unknown
}[]
/**
 * Said instead of the greeting outside of working hours; blank = nothing is said.
 */
out_of_office_message?: (string | null)
csat_survey_enabled?: boolean
/**
 * An http or https URL, or null for none.
 */
avatar_url?: (string | null)
/**
 * Exact web origins, for example https://www.example.com.
 * 
 * @maxItems 100
 */
allowed_origins?: string[]
[k: string]: unknown
}
/**
 * Agents of the account, by their ids.
 */
export interface InboxMembers {
/**
 * @maxItems 1000
 */
user_ids: Id[]
[k: string]: unknown
}
/**
 * The bot that is active in an inbox from now on, or null for none.
 */
export interface SetAgentBot {
agent_bot: NullableId
[k: string]: unknown
}
/**
 * The settings of an inbox to change.
 */
export interface UpdateInbox {
name?: string
/**
 * The channel. `type` is for a new inbox: `plugin`, or a channel in the words of Chatwoot's clients, whose other properties are left alone.
 */
channel?: {
type?: ("web_widget" | "api" | "email" | "line" | "telegram" | "whatsapp" | "sms" | "plugin")
/**
 * With the type `plugin`: the plugin of the kind `channel` that connects the inbox.
 */
plugin_id?: string
/**
 * Refused unless it is blank: a webhook with the `inbox_id` tells of what happens in the inbox.
 */
webhook_url?: (string | null)
/**
 * With a plugin: its settings, as its manifest says.
 */
config?: GivenAttributes
/**
 * With a plugin: secrets that its manifest names, by name; they are stored sealed and never answered. Those that are not named stay; null removes one.
 */
secrets?: {
[k: string]: string | null
}
[k: string]: unknown
}
greeting_enabled?: boolean
/**
 * Answers the first message of a conversation; blank = nothing is said.
 */
greeting_message?: (string | null)
enable_auto_assignment?: boolean
/**
 * IANA name, for example Europe/Berlin.
 */
timezone?: string
working_hours_enabled?: boolean
/**
 * Every day of the week once.
 * 
 * @minItems 7
 * @maxItems 7
 */
working_hours?: {
/**
 * 0 is Sunday, 6 Saturday.
 */
day_of_week: number
closed_all_day?: boolean
open_all_day?: boolean
/**
 * Null on a day that is closed or open all day.
 */
open_hour?: (number | null)
/**
 * 0 in a request that does not say.
 */
open_minutes?: (number | null)
/**
 * 24 with 0 minutes is the end of the day.
 */
close_hour?: (number | null)
/**
 * 0 in a request that does not say.
 */
close_minutes?: (number | null)
[k: string]: unknown
}[]
/**
 * Said instead of the greeting outside of working hours; blank = nothing is said.
 */
out_of_office_message?: (string | null)
csat_survey_enabled?: boolean
/**
 * An http or https URL, or null for none.
 */
avatar_url?: (string | null)
/**
 * Exact web origins, for example https://www.example.com.
 * 
 * @maxItems 100
 */
allowed_origins?: string[]
[k: string]: unknown
}
/**
 * How the answer is told: as JSON, or as a page for people.
 */
export interface AcceptInvitation {
format?: ("json" | "page")
[k: string]: unknown
}
/**
 * What makes a label.
 */
export interface CreateLabel {
/**
 * Lowercase letters, digits, `_` and `-`.
 */
title: string
description?: (string | null)
/**
 * Hex colour code, #rrggbb or #rgb.
 */
color?: string
show_on_sidebar?: boolean
[k: string]: unknown
}
/**
 * What to change of a label; the conversations that carry it show its new title.
 */
export interface UpdateLabel {
/**
 * Lowercase letters, digits, `_` and `-`.
 */
title?: string
description?: (string | null)
/**
 * Hex colour code, #rrggbb or #rgb.
 */
color?: string
show_on_sidebar?: boolean
[k: string]: unknown
}
/**
 * Which part of the ledger.
 */
export interface LedgerQuery {
/**
 * One invariant alone, by its number from 1 to `steps`, each counted for a moment of its own; all in one moment without it.
 */
step?: number
[k: string]: unknown
}
/**
 * A name, and the actions to run.
 */
export interface CreateMacro {
name: string
/**
 * Default: `personal`.
 */
visibility?: MacroVisibility
/**
 * With their parameters: `assign_agent` (an agent's id, `self` or `nil`), `assign_team` (an id or `nil`), `remove_assigned_team`, `add_label` and `remove_label` (titles), `change_status` (`open`, `resolved` or `pending`), `open_conversation`, `pending_conversation`, `resolve_conversation`, `snooze_conversation` (seconds), `change_priority` (`urgent`, `high`, `medium`, `low` or `nil`), `send_message` and `add_private_note` (a text).
 * 
 * @minItems 1
 * @maxItems 20
 */
actions: {
action_name: string
action_params?: (ActionParameters | null)
[k: string]: unknown
}[]
[k: string]: unknown
}
/**
 * The conversations on which to run it.
 */
export interface ExecuteMacro {
/**
 * @minItems 1
 * @maxItems 100
 */
conversation_ids: Id[]
[k: string]: unknown
}
/**
 * What to change of a macro.
 */
export interface UpdateMacro {
name?: string
/**
 * Default: `personal`.
 */
visibility?: MacroVisibility
/**
 * With their parameters: `assign_agent` (an agent's id, `self` or `nil`), `assign_team` (an id or `nil`), `remove_assigned_team`, `add_label` and `remove_label` (titles), `change_status` (`open`, `resolved` or `pending`), `open_conversation`, `pending_conversation`, `resolve_conversation`, `snooze_conversation` (seconds), `change_priority` (`urgent`, `high`, `medium`, `low` or `nil`), `send_message` and `add_private_note` (a text).
 * 
 * @minItems 1
 * @maxItems 20
 */
actions?: {
action_name: string
action_params?: (ActionParameters | null)
[k: string]: unknown
}[]
[k: string]: unknown
}
/**
 * What a message shows besides its text: choices (`input_select`) and cards.
 */
export interface RichContentShape {
/**
 * `input_select` and `cards` have `items` in `content_attributes`.
 */
content_type?: ("text" | "input_select" | "input_email" | "cards")
content_attributes?: GivenAttributes
}
/**
 * Which stretch of a conversation.
 */
export interface ListMessagesQuery {
before?: UnixTime
after?: UnixTime
/**
 * The id of a message: those before it.
 */
before_message?: Id
/**
 * The id of a message: those after it.
 */
after_message?: Id
[k: string]: unknown
}
/**
 * What to change on a message; content_attributes are merged key by key, null removes a key.
 */
export interface UpdateMessage {
status?: ("sent" | "delivered" | "read" | "failed")
content?: string
content_attributes?: GivenAttributes
[k: string]: unknown
}
/**
 * The conversation whose notifications are read; without it all are.
 */
export interface ReadNotifications {
primary_actor_type?: "Conversation"
primary_actor_id?: Id
[k: string]: unknown
}
/**
 * The new password, and the present one where there is one.
 */
export interface SetThePassword {
password: string
/**
 * Not needed where there is none, nor within 15 minutes of a sign-in by a link.
 */
current_password?: string
}
/**
 * The present password.
 */
export interface RemoveThePassword {
/**
 * Not needed within 15 minutes of a sign-in by a link.
 */
current_password?: string
}
/**
 * What makes an account.
 */
export interface CreateAccount {
name: string
llm?: GivenLlm
approved_hosts?: ApprovedHosts
[k: string]: unknown
}
/**
 * What makes a user.
 */
export interface CreateUser {
name: string
email: string
/**
 * An http or https URL, or null for none.
 */
avatar_url?: (string | null)
/**
 * Whether the user administers the whole platform.
 */
platform_admin?: boolean
[k: string]: unknown
}
/**
 * What changes.
 */
export interface UpdateUser {
name?: string
email?: string
/**
 * An http or https URL, or null for none.
 */
avatar_url?: (string | null)
/**
 * Whether the user administers the whole platform.
 */
platform_admin?: boolean
[k: string]: unknown
}
/**
 * The version that was looked at; it is approved only if exactly this one is waiting.
 */
export interface ApprovePlugin {
version: string
hash: string
[k: string]: unknown
}
/**
 * A form with the archive of a plugin.
 */
export interface UploadPlugin {
/**
 * The archive, as npm pack makes it: gzipped tar, with plugin.json directly in its single top folder.
 */
file: string
/**
 * The package and range of the npm registry that it came from; `plugin outdated` and `plugin update` look there for others.
 */
origin?: string
[k: string]: unknown
}
/**
 * What changes.
 */
export interface UpdatePlugin {
/**
 * Whether its bots answer.
 */
enabled?: boolean
/**
 * The installed version that it shall run; one that may do more than the present one waits for approval.
 */
version?: string
[k: string]: unknown
}
/**
 * Of which hours or days (UTC).
 */
export interface ActivityReportQuery {
/**
 * From the hour or day of this moment on; unless said otherwise 48 hours or 30 days before the last one.
 */
since?: UnixTime
/**
 * Up to this moment, with its hour or day unless it is the first of it; up to now unless said otherwise. At most 744 hours or 366 days in all.
 */
until?: UnixTime
/**
 * How long each entry is; an hour unless said otherwise.
 */
by?: ReportStep
[k: string]: unknown
}
/**
 * What to look for: three characters or more.
 */
export interface SearchQuery {
q: string
[k: string]: unknown
}
/**
 * A code of the second factor.
 */
export interface SecondFactorCode {
/**
 * Of the authenticator app, or a recovery code.
 */
code: string
}
/**
 * The identity provider's answer (OpenID Connect): a code, or an error.
 */
export interface SignInCallback {
code?: string
state?: string
iss?: string
error?: string
error_description?: string
[k: string]: unknown
}
/**
 * Where the link goes, if a person has the address.
 */
export interface RequestASignInLink {
email: string
/**
 * `password` opens the page that sets a new password.
 */
purpose?: ("sign_in" | "password")
}
/**
 * What proves who signs in: an access token of a person, a sign-in link, or an e-mail address and a password.
 */
export interface SignIn {
access_token?: string
/**
 * The text behind `#link=` in the link.
 */
link?: string
email?: string
password?: string
/**
 * Of the authenticator app, or a recovery code.
 */
code?: string
}
/**
 * What makes an SLA policy: a name, and at least one promise.
 */
export interface CreateSLAPolicy {
name: string
/**
 * Seconds from the conversation's start to the first public reply at most; null promises none.
 */
first_response_seconds?: (number | null)
/**
 * Seconds from the conversation's start to its resolution at most; null promises none.
 */
resolution_seconds?: (number | null)
[k: string]: unknown
}
/**
 * What to change of an SLA policy; conversations that have it keep the moments they were given.
 */
export interface UpdateSLAPolicy {
name?: string
/**
 * Seconds from the conversation's start to the first public reply at most; null promises none.
 */
first_response_seconds?: (number | null)
/**
 * Seconds from the conversation's start to its resolution at most; null promises none.
 */
resolution_seconds?: (number | null)
[k: string]: unknown
}
/**
 * What makes a team.
 */
export interface CreateTeam {
name: string
description?: (string | null)
allow_auto_assign?: boolean
[k: string]: unknown
}
/**
 * The agents meant, by their ids.
 */
export interface TeamMembers {
/**
 * @maxItems 500
 */
user_ids: Id[]
[k: string]: unknown
}
/**
 * What to change of a team.
 */
export interface UpdateTeam {
name?: string
description?: (string | null)
allow_auto_assign?: boolean
[k: string]: unknown
}
/**
 * What subscribes a URL to events.
 */
export interface CreateWebhook {
url: string
subscriptions: Subscriptions
name?: (string | null)
inbox_id?: NullableId
filter?: EventFilter
/**
 * How many deliveries are sent in each second at most, and as many more at the start; null for any number.
 */
max_per_second?: (number | null)
/**
 * Headers of each delivery, in place of the present ones. The value `••••` keeps the one that stands under this name.
 * 
 * @maxItems 20
 */
headers?: {
name: string
value: string
}[]
/**
 * How the receiver knows the service beside the signature: `bearer` with `token`, `basic` with `username` and `password`, or `mtls` with `certificate` (with its chain) and `key`, both PEM. Null removes it. It is never shown.
 */
auth?: ({
type: ("bearer" | "basic" | "mtls")
token?: string
username?: string
password?: string
certificate?: string
key?: string
} | null)
active?: boolean
/**
 * In which form the bodies of events are sent: ours, or the one that receivers made for Chatwoot read, signed in its way too.
 */
format?: ("default" | "chatwoot")
[k: string]: unknown
}
/**
 * A condition of a webhook's filter: what it looks at, how that is compared, and with which values.
 */
export interface EventCondition {
/**
 * A value of the conversation, or of the message that the event is about. An event that does not have it, such as one of a contact, has it absent.
 */
attribute: ("inbox_id" | "team_id" | "labels" | "message_type" | "private" | "sender_type" | "status" | "priority" | "assignee_id")
/**
 * `not_equal_to` holds where the value is absent, too. `contains` is for labels alone: it looks for a text in any case.
 */
operator: ("equal_to" | "not_equal_to" | "is_present" | "is_not_present" | "contains")
/**
 * One of them suffices. `is_present` and `is_not_present` need none.
 * 
 * @maxItems 10
 */
values?: (string | number | boolean)[]
}
/**
 * Replaces a webhook's signing secret.
 */
export interface SecretRotation {
/**
 * How long the secret before signs too: a day by default, 0 for not at all.
 */
overlap_seconds?: number
[k: string]: unknown
}
/**
 * How long a link to a webhook's log lasts.
 */
export interface WebhookSharing {
/**
 * Seconds until the link expires; 30 days at most.
 */
expires_in: number
[k: string]: unknown
}
/**
 * What to change of a webhook. Switching it on again clears the reason it was switched off for.
 */
export interface UpdateWebhook {
url?: string
subscriptions?: Subscriptions
name?: (string | null)
inbox_id?: NullableId
filter?: EventFilter
/**
 * How many deliveries are sent in each second at most, and as many more at the start; null for any number.
 */
max_per_second?: (number | null)
/**
 * Headers of each delivery, in place of the present ones. The value `••••` keeps the one that stands under this name.
 * 
 * @maxItems 20
 */
headers?: {
name: string
value: string
}[]
/**
 * How the receiver knows the service beside the signature: `bearer` with `token`, `basic` with `username` and `password`, or `mtls` with `certificate` (with its chain) and `key`, both PEM. Null removes it. It is never shown.
 */
auth?: ({
type: ("bearer" | "basic" | "mtls")
token?: string
username?: string
password?: string
certificate?: string
key?: string
} | null)
active?: boolean
/**
 * In which form the bodies of events are sent: ours, or the one that receivers made for Chatwoot read, signed in its way too.
 */
format?: ("default" | "chatwoot")
[k: string]: unknown
}
/**
 * A message of the contact.
 */
export interface SendMessage1 {
content: string
/**
 * Given for an answer to a choice (`input_select`, or a postback of `cards`) or to a question for an e-mail address (`input_email`): `submitted_values` has then the `value` of an item, or `content` has it; for an address, `content` has that. The message gets the item's `title` as its text.
 */
content_attributes?: {
/**
 * The message that asked; without it, the newest that asked.
 */
in_reply_to?: Id
/**
 * What was chosen.
 * 
 * @maxItems 1
 */
submitted_values?: SubmittedValue[]
[k: string]: unknown
}
[k: string]: unknown
}
/**
 * A form of a message of the contact with files.
 */
export interface SendFiles {
/**
 * May be empty, or left out.
 */
content?: string
"attachments[]"?: Files
[k: string]: unknown
}
/**
 * The person's access tokens and sign-ins that are valid, the newest first.
 */
export interface AccessTokenList {
payload: AccessToken[]
meta: PageMeta
}
/**
 * What lets somebody act as a person: the person's access token, or a sign-in in a browser. Nobody can be shown it: only its hash is stored.
 */
export interface AccessToken {
id: Id
kind: ("access_token" | "sign_in")
/**
 * Its last four characters.
 */
last_four: string
/**
 * Of a sign-in: how the browser named itself.
 */
user_agent: (string | null)
/**
 * Whether this request was made with it.
 */
current: boolean
created_at: UnixTime
/**
 * When a sign-in ends by itself; null for an access token, which lasts.
 */
expires_at: NullableUnixTime
}
export interface PageMeta {
count: number
current_page: number
total_pages: number
}
/**
 * The plugins that the account's bots or automations can run, by id.
 */
export interface AccountPluginList {
payload: AccountPlugin[]
meta: PageMeta
}
/**
 * A plugin, as everybody sees it.
 */
export interface PluginShape {
/**
 * The id in its manifest, which `plugin_id` of a bot names.
 */
id: string
name: string
/**
 * The version that runs; to the platform, where none was approved yet, the one that waits.
 */
version: string
description: string
/**
 * What it may do, a sentence each.
 */
permissions: string[]
}
/**
 * Every member of an account.
 */
export interface AccountUsers {
payload: AccountUser[]
meta: PageMeta
}
/**
 * A membership of an account.
 */
export interface AccountUser {
account_id: Id
/**
 * Null until the invitation is accepted.
 */
user_id: NullableId
/**
 * The id of the agent within the account.
 */
agent_id: Id
name: string
email: string
role: ("administrator" | "agent")
created_at: UnixTime
}
export interface Health {
state: ("ok" | "failing")
/**
 * Why, for operators; null while it is ok.
 */
last_error: (string | null)
/**
 * When the state began; null where that is not known.
 */
since: NullableUnixTime
}
/**
 * What happened in the account by hour or day (UTC), oldest first; those in which nothing happened are left out.
 */
export interface ActivityReport {
payload: {
/**
 * When the hour or day begins.
 */
at: UnixTime
/**
 * Public messages, by who wrote them.
 */
messages: {
customers: number
bots: number
people: number
}
/**
 * How many conversations bots gave to people, by the reason (see `handoff_reason` of a conversation).
 */
handoffs: {
[k: string]: number
}
/**
 * How many conversations were rated, by the score from 1 to 5: that of the custom attribute `csat_score`.
 */
ratings: {
[k: string]: number
}
/**
 * Attempts on webhooks and on servers of bots.
 */
attempts: number
/**
 * Those of them that succeeded.
 */
delivered: number
/**
 * Of twenty answers nineteen took at most so long, or up to 19 % less; null where nothing was answered.
 */
p95_ms: (number | null)
/**
 * The longest that a delivery was seen to wait, looked at every minute; null where none waited.
 */
oldest_pending_seconds: (number | null)
}[]
meta: {
by: ReportStep
/**
 * Where the first hour or day begins, …
 */
since: UnixTime
/**
 * … and where the last one ends.
 */
until: UnixTime
/**
 * When the oldest delivery was created that waits now; null where none does.
 */
oldest_pending_at: NullableUnixTime
}
}
/**
 * The account's bots and the system bots.
 */
export interface AgentBotList {
payload: AgentBot[]
meta: PageMeta
}
/**
 * Whether an endpoint is paused, and since when.
 */
export interface PauseShape {
/**
 * Whether somebody paused it: nothing is sent until it is resumed.
 */
paused: boolean
/**
 * Since when it is paused, or null.
 */
paused_at: NullableUnixTime
}
/**
 * How deliveries to the endpoint go. The circuit opens after three attempts running that got no answer: then one delivery at a time is tried, at growing distances, and the others wait; the first success closes it.
 */
export interface Circuit {
state: ("closed" | "open")
/**
 * Failed attempts since the last success.
 */
consecutive_failures: number
/**
 * When the first of them was made; null while the last attempt succeeded. After 5 days, and at least ten failures, the endpoint is switched off.
 */
failing_since: NullableUnixTime
/**
 * When an open circuit lets the next delivery through; null while it is closed.
 */
next_attempt_at: NullableUnixTime
}
/**
 * Who a person is.
 */
export interface PersonShape {
name: string
email: string
/**
 * Whether the invitation was accepted.
 */
confirmed: boolean
avatar_url: (string | null)
}
/**
 * What an import did. Lines with errors were left out, and all others imported.
 */
export interface ArticleImport {
created: number
updated: number
unchanged: number
errors: {
/**
 * Its number, or that of the entry of the archive, from 1.
 */
line: number
error: string
}[]
}
/**
 * The account's articles, by title.
 */
export interface ArticleList {
payload: Article[]
meta: PageMeta
}
/**
 * The published articles that say most about what was asked, best first, each with its best passage.
 */
export interface ArticleSearch {
payload: {
id: Id
title: string
url: (string | null)
language: string
/**
 * The heading above the passage; null for none.
 */
heading: (string | null)
/**
 * How much of what was asked the passage has, its telling words more than others.
 */
score: number
/**
 * Whether the passage fits well enough for a bot to answer with it.
 */
answers: boolean
/**
 * The sentence of the text that the passage fits best; of this sentence are `score` and `answers`.
 */
question: string
/**
 * A stretch of the passage as HTML: escaped text, whose only tags are `<mark>` around what was found.
 */
highlight: string
}[]
}
/**
 * The account's definitions of custom attributes, by key.
 */
export interface CustomAttributeDefinitionList {
payload: CustomAttributeDefinition[]
meta: PageMeta
}
/**
 * Entries, newest first.
 */
export interface AuditLog {
payload: AuditEntry[]
meta: CursorMeta
}
/**
 * Who did what, on what, and what changed.
 */
export interface AuditEntry {
id: Id
at: UnixTime
/**
 * Who did it: a person, in an account by the agent's id; a bot; the operator, by a command on the server; or the service itself.
 */
actor: {
type: ("user" | "agent_bot" | "operator" | "system")
id: NullableId
name: (string | null)
}
/**
 * `NOUN.created`, `NOUN.updated`, `NOUN.deleted`, or another verb, such as `secret.rotated` and `sign_in.failed`.
 */
action: string
/**
 * The record that was acted on; null where there is none.
 */
target: ({
type: string
/**
 * A number; the name of a plugin.
 */
id: (number | string)
} | null)
/**
 * By field: the value before and after. Secrets are not recorded, and long values are cut.
 */
changes: {
/**
 * @minItems 2
 * @maxItems 2
 */
[k: string]: unknown[]
}
/**
 * The network address of the caller; null for commands and the service.
 */
address: (string | null)
/**
 * The `x-request-id` of the request; null for commands and the service.
 */
request_id: (string | null)
}
export interface CursorMeta {
/**
 * With it, as `cursor`, the same list goes on; null at its end.
 */
next_cursor: (string | null)
}
/**
 * The actions that an automation would have taken for the latest events.
 */
export interface AutomationDryRun {
/**
 * The number of events looked at.
 */
looked_at: number
/**
 * The number of events that it would have acted on.
 */
matched: number
/**
 * Each event with each rule that matched it, oldest event first.
 */
payload: {
event_id: Id
/**
 * Null for an event without a conversation.
 */
conversation_id: NullableId
/**
 * The name of the rule; null for a plugin that names none.
 */
rule: (string | null)
/**
 * The actions, as in runs.
 */
actions: {
[k: string]: unknown
}[]
}[]
}
/**
 * Automations, oldest first.
 */
export interface AutomationList {
payload: Automation[]
meta: PageMeta
}
/**
 * A plugin that hears what happens in the account, and acts on it; it serves no conversation.
 */
export interface Automation {
id: Id
name: string
/**
 * The plugin that it runs, of the kind `automation`.
 */
plugin_id: string
/**
 * Its settings without secret ones; empty for agents.
 */
config: {
[k: string]: unknown
}
/**
 * The inboxes in which it hears and acts; null for the whole account.
 */
inbox_ids: (Id[] | null)
active: boolean
/**
 * Whether it can run: failing when a secret is missing, when its plugin cannot run, or in quarantine.
 */
health: Health
/**
 * Names of the secrets that its plugin asks for, and that have no value.
 */
missing_secrets: string[]
created_at: UnixTime
}
/**
 * What waits, by account and endpoint, the longest wait first.
 */
export interface Backlogs {
/**
 * @maxItems 100
 */
payload: {
account_id: Id
endpoint: {
type: ("webhook" | "agent_bot" | "automation" | "inbox")
id: Id
}
/**
 * Deliveries that have not ended, those in progress included; at most 1,000 of a conversation are counted.
 */
pending: number
/**
 * How long ago the oldest of them was created.
 */
oldest_seconds: number
circuit: Circuit
}[]
}
/**
 * An answer as the bot would get it.
 */
export interface BotCall {
/**
 * The answer; null beside an error.
 */
output: ({
[k: string]: unknown
} | {
[k: string]: unknown
}[] | null)
/**
 * The error that the bot would get; null beside an answer.
 */
error: ({
code: string
message: string
} | null)
/**
 * Tokens of the model.
 */
usage: {
prompt_tokens: number
completion_tokens: number
}
}
/**
 * Results that are kept now, and how they differ from those before.
 */
export interface KeptBotEvals {
ran_at: UnixTime
results: EvalResults
/**
 * When the results before were kept; null for the first.
 */
last_ran_at: NullableUnixTime
/**
 * Questions with another result than before; none for the first run.
 */
changes: {
/**
 * Its place in `results`, from 0; null where it is gone.
 */
index: (number | null)
question: string
kind: ("fixed" | "broken" | "changed" | "new" | "gone")
before: (string | null)
now: (string | null)
}[]
}
/**
 * The last results of `npx switchboard evals` for a bot.
 */
export interface BotEvals {
ran_at: UnixTime
results: EvalResults
}
/**
 * What a bot does with a message of no conversation.
 */
export interface BotTrial {
/**
 * How its last run ended, as in runs.
 */
outcome: string
error: (string | null)
/**
 * The messages that the customer would read.
 */
replies: {
content: string
/**
 * `input_select` and `cards` have `items` in `content_attributes`.
 */
content_type: ("text" | "input_select" | "input_email" | "cards")
content_attributes: Attributes
}[]
/**
 * Whether agents would get the conversation.
 */
handed_off: boolean
/**
 * Why, as in a conversation's `handoff_reason`.
 */
handoff_reason: (string | null)
/**
 * The tools that its model asked for. Those with GET are called; of others the model is told `not_called`.
 */
tools: {
name: string
arguments: ({
[k: string]: unknown
} | string)
/**
 * The code of what went wrong; null for a result.
 */
error: (string | null)
}[]
usage: RunUsage
/**
 * Whether it did what `expect` says; null without one. A run that failed passes nothing.
 */
passed: (boolean | null)
/**
 * What the bot did, in words.
 */
got: string
}
/**
 * Questions that a bot gave to people because no article answered them, the most frequent first, at most 100.
 */
export interface BotUnanswered {
payload: {
/**
 * As it was asked last; of a long message the first 500 characters.
 */
question: string
/**
 * How often it was asked, in these words.
 */
count: number
last_asked_at: UnixTime
/**
 * The latest conversations in which it was asked, at most ten.
 */
conversation_ids: Id[]
}[]
}
/**
 * What a bot's runs took and did, by day (UTC), oldest first; days on which it did nothing are left out.
 */
export interface BotUsage {
/**
 * The last results of `npx switchboard evals`; null before the first.
 */
last_evals: (BotEvals | null)
payload: {
date: string
/**
 * Events that it handled.
 */
runs: number
prompt_tokens: number
completion_tokens: number
/**
 * How often it gave a conversation to people: in runs, failed ones among them, and through the API.
 */
handoffs: number
}[]
}
/**
 * An action on many deliveries that begins.
 */
export interface BulkActionBegun {
id: Id
/**
 * How many deliveries were selected when it began.
 */
count: number
state: BulkActionState
}
/**
 * How far an action on many deliveries is.
 */
export interface BulkAction {
id: Id
action: BulkActionKind
state: BulkActionState
/**
 * How many deliveries were selected when it began.
 */
count: number
/**
 * How many were resent (the new deliveries were made) or cancelled.
 */
done: number
/**
 * How many could not be: resent, because an attempt was running, because the delivery is gone, or because another one of the same event was resent instead; cancelled, because they had ended.
 */
failed: number
created_at: UnixTime
}
/**
 * What was cancelled at the caller's request.
 */
export interface CancelledDeliveries {
/**
 * How many deliveries were pending; 100,000 where there were more.
 */
count: number
}
/**
 * The account's canned responses, by short code.
 */
export interface CannedResponseList {
payload: CannedResponse[]
meta: PageMeta
}
/**
 * A conversation as its contact is told it.
 */
export interface ContactConversationShape {
id: Id
status: ConversationStatus
/**
 * The person who answers, if there is one.
 */
assignee: ({
name: string
} | null)
created_at: UnixTime
last_activity_at: UnixTime
}
/**
 * The progress of a deletion that goes on; empty when all is deleted.
 */
export interface ContactDeletion {
deletion_requested_at?: UnixTime
/**
 * Conversations that are still to be deleted; 100,000 where there are more.
 */
conversations_left?: number
}
/**
 * The inboxes of a contact.
 */
export interface ContactInboxList {
payload: ContactInbox[]
meta: PageMeta
}
/**
 * An inbox in which a contact is known, and by which external identifier.
 */
export interface ContactInbox {
/**
 * By which the contact is known there. In an inbox of the API, one that the service made, or that came by the public API, is a key: who has it reads and writes as the contact. Null for agents outside the inbox where it is such a key, and where one is still to be made.
 */
source_id: (string | null)
inbox: {
id: Id
name: string
channel_type: string
avatar_url: (string | null)
}
}
/**
 * The titles of a contact's labels, in their order.
 */
export interface ContactLabels {
payload: string[]
}
/**
 * A page of contacts.
 */
export interface ContactList {
payload: Contact[]
meta: PageMeta
}
/**
 * A page of a contact's notes, newest first.
 */
export interface ContactNoteList {
payload: ContactNote[]
meta: PageMeta
}
/**
 * What an agent wrote down about a contact.
 */
export interface ContactNote {
id: Id
account_id: Id
contact_id: Id
content: string
/**
 * Who wrote it; null when the author no longer exists.
 */
user: (Named | null)
created_at: UnixTime
}
/**
 * Who answers the customer of a conversation, and why.
 */
export interface AgentBotOfAConversation {
/**
 * The one bot that serves the conversation.
 */
agent_bot: (Named | null)
/**
 * What names the bot.
 */
chosen_by: ("conversation" | "inbox" | null)
/**
 * Whether the bot will answer the customer's next message.
 */
answers: boolean
/**
 * Why it will not; null when it will.
 */
reason: ("no_bot" | "human_assigned" | "contact_blocked" | "handed_off" | "human_replied" | "human_opened" | "loop_suspected" | "bot_failed" | "plugin_missing" | "plugin_disabled" | "config_invalid" | "bot_quarantined" | "bot_disabled" | "event_not_wanted" | null)
/**
 * The latest 25 decisions about events that bots could get, newest first: whether the bot was called, and why it was silent.
 */
history: {
event: {
id: Id
name: string
}
/**
 * The bot that served the conversation then; null when it is deleted.
 */
agent_bot: (Named | null)
/**
 * What names the bot.
 */
chosen_by: ("conversation" | "inbox" | null)
/**
 * Whether the bot was called.
 */
called: boolean
/**
 * Why the bot did not get the event, or why nothing came of it: one of the reasons above, `event_not_wanted`, `own_message`, `private_note`, `waiting` (it is still to be called), `superseded` (people took the conversation while it thought), or how its run or delivery failed. Null when it did its part.
 */
reason: (string | null)
/**
 * The last run of a bot inside the service.
 */
run_id: NullableId
created_at: UnixTime
}[]
}
/**
 * Changes of many conversations, and their progress.
 */
export interface ConversationBulkAction {
id: Id
state: ("running" | "done")
total: number
/**
 * How many conversations were changed, or were so already.
 */
done: number
/**
 * How many were refused: nothing changed in them.
 */
failed: number
/**
 * The first hundred refusals or more.
 */
failures: {
conversation_id: Id
code: string
error: string
}[]
}
/**
 * How many conversations match, by their assignees.
 */
export interface ConversationCounts {
meta: ConversationCountsShape
}
/**
 * Numbers of conversations, by their assignees.
 */
export interface ConversationCountsShape {
all_count: number
mine_count: number
unassigned_count: number
assigned_count: number
}
/**
 * The titles of a conversation's labels, in their order.
 */
export interface ConversationLabels {
payload: string[]
}
/**
 * A page of conversations with the four counts.
 */
export interface ConversationList {
data: {
meta: (ConversationCountsShape & {
count: number
current_page: number
total_pages: number
})
payload: Conversation[]
}
}
/**
 * A page of conversations.
 */
export interface ConversationPage {
payload: Conversation[]
meta: PageMeta
}
/**
 * A page of the conversations that a search found.
 */
export interface ConversationSearch {
payload: Conversation[]
meta: {
count: number
current_page: number
total_pages: number
/**
 * There, and false, when many messages that the caller may see contain the text: it was looked for in the newest 15,000 messages of the account only, and the count is of these.
 */
exact?: false
}
}
export interface ShownHeader {
name: string
value: string
}
/**
 * The caller's custom filters of a type, by name.
 */
export interface CustomFilterList {
payload: CustomFilter[]
meta: PageMeta
}
/**
 * How many deliveries a filter finds.
 */
export interface DeliveryCount {
count: number
}
/**
 * What everything that was made of an event tells of it.
 */
export interface AboutEventShape {
/**
 * The name of the event.
 */
event: string
/**
 * The conversation that the event is about, as long as it exists.
 */
conversation_id: NullableId
created_at: UnixTime
}
/**
 * Deliveries, newest first: 25 on a page. A page has fewer, or none, where the wanted ones are rare; the list ends where `next_cursor` is null.
 */
export interface DeliveryList {
payload: Delivery[]
meta: CursorMeta
}
/**
 * Success with nothing to tell.
 */
export interface Empty {

}
/**
 * What every refused request is answered with.
 */
export interface Error {
/**
 * A sentence for people.
 */
error: string
/**
 * A word for programs.
 */
code: string
request_id: string
details?: ErrorDetail[]
}
export interface ErrorDetail {
/**
 * JSON pointer to the offending value.
 */
path: string
rule: string
message: string
}
/**
 * The webhooks of the account, and whether they got an event: its deliveries, or why there is none.
 */
export interface EventDeliveries {
payload: {
webhook_id: Id
/**
 * Null for a webhook that is deleted.
 */
url: (string | null)
name: (string | null)
/**
 * The state of the latest delivery, or `not sent` with the reason, such as `not sent: filter`.
 */
state: string
/**
 * Why the webhook has no delivery of the event: it is `inactive`, its `subscriptions` or its `inbox` are others, its `filter` leaves the event out, or it was created or `changed` after the event. Null if there is a delivery.
 */
not_sent: ("inactive" | "subscriptions" | "inbox" | "filter" | "changed" | null)
/**
 * All deliveries of the event to this webhook, oldest first, resends and recoveries included.
 */
deliveries: Delivery[]
}[]
}
/**
 * Events in the order in which they were committed, oldest first. A page may hold fewer than `limit`, even none, and still have a new `next_cursor`: nothing more is there when `next_cursor` is the `after` that was sent.
 */
export interface EventList {
payload: Event[]
meta: FeedMeta
}
export interface FeedMeta {
/**
 * With it, as `after`, the feed goes on, also when there is nothing more at present.
 */
next_cursor: string
}
/**
 * Whether the process lives or is ready, and whether it sends.
 */
export interface Health1 {
status: ("ok" | "ready")
/**
 * Only where nothing is sent.
 */
sending?: false
/**
 * Why nothing is sent: the database is a copy of an installation that lives elsewhere, or `OUTBOUND` is `off`.
 */
reason?: ("copy" | "off")
}
/**
 * The account's hooks, oldest first.
 */
export interface HookList {
payload: Hook[]
meta: PageMeta
}
/**
 * Requests of a hook, newest first.
 */
export interface HookRequestList {
payload: HookRequest[]
meta: PageMeta
}
/**
 * What lists show of a request of a hook.
 */
export interface HookRequestShape {
id: Id
received_at: UnixTime
/**
 * `accepted`: stored, to be handled. `refused`: nothing of it is kept but this. `duplicate`: its id was stored before.
 */
outcome: ("accepted" | "refused" | "duplicate")
/**
 * Why it was refused, for example `bad_signature`; null otherwise.
 */
reason: (string | null)
/**
 * Bytes of the body.
 */
bytes: number
/**
 * What it is about: requests with the same key are handled in order; null without one.
 */
key: (string | null)
/**
 * How far an accepted one got: `waiting` to be handled, `done`, or `failed`; null for the others.
 */
state: ("waiting" | "done" | "failed" | null)
/**
 * The last run that handled it; null without one.
 */
run_id: NullableId
}
/**
 * The bot that is active in an inbox.
 */
export interface AgentBotOfAnInbox {
agent_bot: (AgentBot | null)
}
/**
 * Agents who belong to an inbox or may be given its conversations, by name.
 */
export interface AgentsOfAnInbox {
payload: Agent[]
meta: PageMeta
}
/**
 * The inboxes the caller may see.
 */
export interface InboxList {
payload: Inbox[]
meta: PageMeta
}
/**
 * The hours of one day of the week, in the timezone of the inbox.
 */
export interface WorkingDay {
/**
 * 0 is Sunday, 6 Saturday.
 */
day_of_week: number
closed_all_day: boolean
open_all_day: boolean
/**
 * Null on a day that is closed or open all day.
 */
open_hour: (number | null)
/**
 * 0 in a request that does not say.
 */
open_minutes: (number | null)
/**
 * 24 with 0 minutes is the end of the day.
 */
close_hour: (number | null)
/**
 * 0 in a request that does not say.
 */
close_minutes: (number | null)
}
export interface NewAccess {
id: Id
name: string
email: string
confirmed: true
account_id: Id
/**
 * Null for who holds an access token already: it opens this account too.
 */
access_token: (string | null)
}
/**
 * The account's labels, by title.
 */
export interface LabelList {
payload: Label[]
meta: PageMeta
}
/**
 * What always holds in the database, each with what breaks it at this moment.
 */
export interface Ledger {
/**
 * Whether nothing breaks any of those that are told.
 */
ok: boolean
/**
 * How many invariants there are in all.
 */
steps: number
invariants: {
/**
 * L1, L2 and so on.
 */
id: string
/**
 * What always holds.
 */
name: string
violations: number
/**
 * A few of the violations: the account, and what each is about.
 */
sample: {
[k: string]: unknown
}[]
}[]
}
/**
 * Global macros and the caller's own, by name.
 */
export interface MacroList {
payload: Macro[]
meta: PageMeta
}
/**
 * How a macro went in each conversation, in the order of the request.
 */
export interface MacroResults {
payload: {
conversation_id: Id
/**
 * False: none of the actions was done.
 */
success: boolean
/**
 * The action that was refused.
 */
action_name: (string | null)
/**
 * Code of the refusal.
 */
code: (string | null)
/**
 * Sentence of the refusal.
 */
error: (string | null)
}[]
}
/**
 * Messages of a conversation, oldest first. A page of large messages has fewer of them, at least one: continue with `before_message` or `after_message`.
 */
export interface MessageList {
payload: Message[]
}
/**
 * A page of an agent’s notifications.
 */
export interface NotificationPage {
payload: Notification[]
meta: {
count: number
current_page: number
total_pages: number
unread_count: number
}
}
/**
 * Notification of an agent: the latest of its type in the conversation.
 */
export interface Notification {
id: Id
notification_type: ("conversation_assignment" | "assigned_conversation_new_message" | "conversation_mention")
/**
 * A sentence for the agent.
 */
push_message_title: string
primary_actor_type: "Conversation"
primary_actor_id: Id
/**
 * The conversation.
 */
primary_actor: {
id: Id
contact_name: (string | null)
inbox_name: string
}
read_at: NullableUnixTime
/**
 * When it became unread.
 */
created_at: UnixTime
last_activity_at: UnixTime
}
/**
 * The contract of this API as an OpenAPI 3.1 document.
 */
export interface APIContract {
openapi: "3.1.0"
info: {
[k: string]: unknown
}
servers: {
[k: string]: unknown
}[]
tags: {
[k: string]: unknown
}[]
paths: {
[k: string]: unknown
}
webhooks: {
[k: string]: unknown
}
components: {
[k: string]: unknown
}
}
/**
 * A page of accounts.
 */
export interface PlatformAccounts {
payload: PlatformAccount[]
meta: PageMeta
}
/**
 * The installed plugins, by id.
 */
export interface PluginList {
payload: Plugin[]
meta: PageMeta
}
/**
 * Where the code of a plugin came from, and what is in it.
 */
export interface PluginOriginShape {
/**
 * The SHA-256 of the version's manifest and code.
 */
hash: string
/**
 * The package and range of the npm registry that it came from, such as `npm:@scope/name@^1`; null for none.
 */
origin: (string | null)
/**
 * The npm packages in its code.
 */
packages: NpmPackage[]
created_at: UnixTime
}
/**
 * A package of the npm registry that is part of a plugin's code.
 */
export interface NpmPackage {
name: string
version: string
/**
 * The licence that it names; null for none.
 */
license: (string | null)
/**
 * The size of its code in that of the plugin.
 */
bytes: number
}
/**
 * The installed versions of a plugin, the newest first.
 */
export interface PluginVersionList {
payload: PluginVersion[]
meta: PageMeta
}
/**
 * A recovery that begins.
 */
export interface RecoveryBegun {
id: Id
/**
 * How many deliveries are sent, those of missing events included: a million where there are more, and beyond 50,000 at most so many.
 */
count: number
/**
 * How many of them are of events that had no delivery; beyond 50,000 events of the time at most so many.
 */
missing: number
/**
 * What to do where nothing is sent again although deliveries are failing; null otherwise.
 */
hint: (string | null)
}
/**
 * Codes that replace one of the app each: shown in this answer only.
 */
export interface RecoveryCodes {
recovery_codes: string[]
}
/**
 * How far the deliveries got that are sent again.
 */
export interface Recovery {
id: Id
since: UnixTime
until: UnixTime
states: RecoverableState[]
/**
 * How many deliveries were to be sent when it began: a million where there were more, and beyond 50,000 at most so many. With missing events it is exact when all are collected.
 */
count: number
/**
 * How many of them are of events that had no delivery.
 */
missing: number
/**
 * `preparing`: deliveries are being collected; `sending`; `done`: all have ended; `stopped`: the endpoint was switched off before all were collected.
 */
state: ("preparing" | "sending" | "done" | "stopped")
/**
 * Those that wait for their first attempt.
 */
pending: number
/**
 * Those that are tried again.
 */
failing: number
/**
 * Those that arrived.
 */
delivered: number
/**
 * Those that were given up again.
 */
exhausted: number
/**
 * Those that were cancelled meanwhile.
 */
cancelled: number
created_at: UnixTime
}
/**
 * What is tried again at the caller's request.
 */
export interface RetriedDeliveries {
/**
 * How many deliveries were failing; 100,000 where there were more.
 */
count: number
}
/**
 * Runs, newest first: 25 on a page, fewer where they are long.
 */
export interface RunList {
payload: Run[]
meta: CursorMeta
}
/**
 * One event that was handled by a bot, an automation or a channel inside the service: all that it got, asked for and did. Exactly one of `agent_bot_id`, `automation_id` and `inbox_id` is no null.
 */
export interface Run {
id: Id
/**
 * Null for a run of an automation or a channel.
 */
agent_bot_id: NullableId
/**
 * Null for a run of a bot or a channel.
 */
automation_id: NullableId
/**
 * The inbox of a channel; null for a run of a bot or an automation.
 */
inbox_id: NullableId
/**
 * The code that ran. Version and hash are null when there was none to run.
 */
plugin: {
id: string
version: (string | null)
hash: (string | null)
}
/**
 * Null for a run for an event without a conversation.
 */
conversation_id: NullableId
event: {
id: Id
name: string
/**
 * The event as bots get it, before the fields of the contact were removed that the plugin may not see.
 */
body: {
[k: string]: unknown
}
}
/**
 * The number of the attempt to handle the event, from 1.
 */
attempt: number
/**
 * The bot's settings at that time, without what is a secret now. Empty unless an administrator asks, and for a system bot unless a platform administrator does.
 */
config: {
[k: string]: unknown
}
/**
 * The seed of the bot's random numbers.
 */
seed: number
/**
 * The bot's clock throughout the run, in milliseconds since 1970.
 */
now: number
/**
 * What the bot asked the service for, with the answers, in the order of asking. Secrets are replaced. `input` is null for a system bot, unless a platform administrator asks.
 */
calls: {
name: string
input: unknown
/**
 * The answer; absent when the bot got an error.
 */
output?: {
[k: string]: unknown
}
/**
 * The error that the bot got in place of an answer.
 */
error?: {
code: string
message: string
}
ms: number
}[]
/**
 * What the bot wanted to do. It was done only if the outcome is `ok`.
 */
actions: {
[k: string]: unknown
}[]
/**
 * What the bot wrote to its log, also when it did not end by itself.
 */
logs: {
level: string
message: string
fields?: {
[k: string]: unknown
}
}[]
/**
 * How the run ended: `ok`, `no_handler`, `superseded` (people took the conversation meanwhile, and the actions were dropped), a failure of the bot such as `timeout` or `threw`, or the code with which the service refused an action.
 */
outcome: string
error: ({
message: string
stack: (string | null)
} | null)
usage: RunUsage
/**
 * Milliseconds of processor time.
 */
cpu_ms: number
/**
 * Milliseconds from start to end, without the time in the queue.
 */
wall_ms: number
/**
 * When calls, actions, logs and error were deleted, together with a message whose text they held or could hold; null for never. Such a run cannot be repeated.
 */
erased_at: NullableUnixTime
created_at: UnixTime
}
/**
 * How a run ended when it was repeated from its record.
 */
export interface ReplayedRun {
/**
 * Whether it ended as recorded, with the same actions, byte for byte.
 */
identical: boolean
/**
 * As in the record, where it ended as recorded.
 */
outcome: string
actions: {
[k: string]: unknown
}[]
}
/**
 * What a search found: at most 15 of each kind.
 */
export interface Search {
payload: {
/**
 * Contacts with the text in their name, e-mail address, phone number or identifier, by name.
 */
contacts: Contact[]
/**
 * Those of these contacts, the last active ones first.
 */
conversations: Conversation[]
/**
 * Public messages with the text, the newest first.
 */
messages: Message[]
}
}
/**
 * What an authenticator app needs: shown in this answer only.
 */
export interface NewSecondFactor {
/**
 * In base32.
 */
secret: string
/**
 * Opens the app, or is shown as a QR code.
 */
otpauth_url: string
}
/**
 * How the person signs in.
 */
export interface SecurityOfAProfile {
/**
 * Null without a password.
 */
password_changed_at: NullableUnixTime
/**
 * Whether a change takes the present password.
 */
needs_current_password: boolean
/**
 * Whether a sign-in by a password or a link takes a code.
 */
second_factor: boolean
recovery_codes_left: number
}
/**
 * A page of files of messages, newest first.
 */
export interface SentFileList {
payload: SentFile[]
meta: PageMeta
}
/**
 * A file of a message: when it was sent, by whom, and in which conversation.
 */
export interface SentFile {
attachment: Attachment
conversation_id: Id
sender: ({
id: Id
name: string
type: ("Contact" | "User" | "AgentBot" | "Automation")
} | null)
created_at: UnixTime
}
/**
 * Whether a transcript is on its way.
 */
export interface SentTranscript {
/**
 * False where the service has no mail server (SMTP_URL): nothing is sent then.
 */
sent: boolean
}
/**
 * Which service answers, and that it works.
 */
export interface Service {
version: string
/**
 * ISO 8601, UTC.
 */
timestamp: string
queue_services: "ok"
/**
 * That the database answered.
 */
data_services: "ok"
}
/**
 * A link that was just made: the only answer that carries its token.
 */
export interface SharedWebhook {
/**
 * An access token for this webhook alone.
 */
token: string
/**
 * A page that shows the webhook's log by the token.
 */
url: string
expires_at: UnixTime
}
/**
 * The page of the identity provider that signs people in.
 */
export interface SignInAddress {
url: string
}
/**
 * Where a sign-in link of an agent went.
 */
export interface SignInLink {
/**
 * `mail` to the agent's address; `answer`: the link is in this answer only; `log` of the service, where it would open other accounts too.
 */
sent_by: ("mail" | "answer" | "log")
link: (string | null)
}
/**
 * How people can sign in here.
 */
export interface SignInMethods {
/**
 * Whether links are sent by mail.
 */
email_link: boolean
/**
 * Whether people can sign in by an identity provider (OpenID Connect): `POST /sign_in/oidc`.
 */
oidc: boolean
}
/**
 * Who is signed in in a browser, and until when.
 */
export interface SignIn1 {
profile: (Profile | null)
expires_at: NullableUnixTime
}
/**
 * The secrets that sign a webhook's deliveries, newest first.
 */
export interface SigningSecrets {
/**
 * @maxItems 10
 */
payload: SigningSecret[]
}
/**
 * A secret that signs.
 */
export interface SigningSecret {
id: Id
created_at: UnixTime
/**
 * When it signs no more; null for the newest.
 */
ends_at: NullableUnixTime
/**
 * Its last four characters; empty where it cannot be opened.
 */
last_four: string
}
/**
 * The account's SLA policies, by name.
 */
export interface SLAPolicyList {
payload: SLAPolicy[]
meta: PageMeta
}
/**
 * Opens one stream of events, once and within 30 seconds.
 */
export interface StreamTicket {
ticket: string
expires_at: UnixTime
}
/**
 * How many notifications are unread.
 */
export interface UnreadCount {
unread_count: number
}
/**
 * The account's webhooks.
 */
export interface WebhookList {
payload: Webhook[]
meta: PageMeta
}
/**
 * The links of a webhook that have not expired, newest first.
 */
export interface WebhookLinkList {
payload: WebhookLink[]
meta: PageMeta
}
/**
 * A link that shares a webhook with the developer of its receiver. Nobody can be shown its token: only its hash is stored.
 */
export interface WebhookLink {
id: Id
/**
 * The last four characters of its token.
 */
last_four: string
/**
 * The name of the administrator who shared the webhook.
 */
created_by: string
created_at: UnixTime
expires_at: UnixTime
}
/**
 * What a contact is told while it follows its conversation: a message (`message`), the state of the conversation (`conversation`), or whether a bot is at work for it (`typing`).
 */
export interface WidgetEvent {
event: ("message_created" | "message_updated" | "conversation_changed" | "typing")
message?: WidgetMessage
conversation?: WidgetConversation
/**
 * Whether a bot is called for the contact's last message at this moment.
 */
typing?: boolean
}
/**
 * What a page shows of an inbox before anybody speaks.
 */
export interface WidgetInbox {
name: string
avatar_url: (string | null)
}
/**
 * Public messages of a conversation, oldest first.
 */
export interface WidgetMessages {
payload: WidgetMessage[]
}
/**
 * A session of a contact.
 */
export interface WidgetSession {
contact: ContactIdentityShape
/**
 * What the contact proves itself with in this inbox; only in the answer that makes the contact.
 */
contact_token?: string
/**
 * What the session goes on with; null until the contact says something, unless a bot is to speak first.
 */
conversation: (WidgetConversation | null)
}
/**
 * Assigns the conversation to a team, an agent or both; while an agent is assigned the bot is silent.
 */
export interface AssignAction {
type: "assign"
/**
 * A team by its id or its name; null: no team.
 */
team?: (Id | string | null)
/**
 * An agent by id; null: nobody.
 */
assignee?: NullableId
}
/**
 * Merges attributes into the custom attributes of the conversation; null removes one.
 */
export interface AttributesAction {
type: "attributes"
attributes: GivenAttributes
}
/**
 * Sets the bot of the conversation, in place of its inbox's; null for that of the inbox.
 */
export interface BotAction {
type: "bot"
agent_bot_id: NullableId
}
/**
 * Gives the conversation to humans: status open, and the bot is silent until its next session.
 */
export interface HandoffAction {
type: "handoff"
/**
 * Why, in a few words; agents see it.
 */
reason: string
/**
 * The conversation's `handoff_reason`; `plugin` without it. Needs `permissions.handoff_cause`.
 */
cause?: ("keyword" | "max_exchanges" | "requested_by_model" | "model_failed" | "no_answer" | "budget")
/**
 * Passages of the knowledge base that the bot had; the service's note lists them.
 * 
 * @maxItems 10
 */
passages?: {
title: string
url?: (string | null)
}[]
/**
 * A private note for the agents, in place of the service's, which tells the reason, the customer's last question and the passages.
 */
note?: string
/**
 * A last public message to the customer.
 */
message?: string
/**
 * A team by its id or its name, to which the conversation is assigned. An unknown one is named in a note.
 */
team?: (Id | string)
/**
 * An agent by id, to whom the conversation is assigned. An unknown one is named in a note.
 */
assignee?: Id
priority?: ("urgent" | "high" | "medium" | "low")
}
/**
 * A message of a customer, which a channel brings in. One whose `external_id` is known already changes nothing, unless it was edited.
 */
export interface IncomingAction {
type: "incoming"
/**
 * Who wrote it, as the other system knows the customer; unique in the inbox.
 */
source_id: string
/**
 * The message's id in the other system, unique in the inbox.
 */
external_id: string
/**
 * May be empty beside files.
 */
content: string
/**
 * Name of a customer who is new.
 */
name?: string
/**
 * Address of a customer who is new.
 */
email?: string
/**
 * Phone number of a customer who is new, with `+`.
 */
phone_number?: string
/**
 * When it was written, in Unix seconds.
 */
at?: number
/**
 * true: the customer changed a message that may be known already.
 */
edited?: boolean
/**
 * The ids of messages that it answers, the nearest first. It joins the customer's conversation with the first that is known, else it begins a conversation.
 * 
 * @maxItems 50
 */
thread?: string[]
/**
 * true: nobody wrote it, as an out-of-office reply. It becomes a private note: no bot answers it, and it opens nothing.
 */
automatic?: boolean
mail?: IncomingMail
/**
 * Files: a `url`, which the service fetches, a place in the request (`hook`), or `data`. One that cannot be had is named in a private note.
 * 
 * @maxItems 10
 */
attachments?: IncomingFile[]
}
/**
 * Beside the text, kept as `content_attributes.mail`.
 */
export interface IncomingMail {
subject?: string
/**
 * Where the customer wants the answer.
 */
reply_to?: string
/**
 * @maxItems 20
 */
references?: string[]
/**
 * Text below, which was folded.
 */
quoted?: string
}
export interface IncomingFile {
/**
 * The file, at a host of `permissions.network.hosts`; `[secret NAME]` in it stands for a secret.
 */
url?: string
/**
 * The place of a file in the JSON of the request, where it is base64, such as `/Attachments/0/Content`.
 */
hook?: string
/**
 * The file as base64; all actions of a run together may have 262,144 characters.
 */
data?: string
/**
 * Headers of the request for it by lower-case name, such as `authorization`; `[secret NAME]` in a value stands for a secret.
 */
headers?: {
[k: string]: string
}
/**
 * The name of the file; by default the last part of the URL.
 */
file_name?: string
}
/**
 * Adds labels to the conversation and removes labels from it.
 */
export interface LabelAction {
type: "label"
add?: LabelTitles
remove?: LabelTitles
}
/**
 * The message is to be tried again.
 */
export interface LaterAction {
type: "later"
/**
 * Why; agents see it when the last attempt fails.
 */
reason: string
/**
 * Seconds to wait at least; the schedule of retries by default.
 */
seconds?: number
/**
 * true: a part of the message was sent, and the rest follows; no failed attempt is counted.
 */
progress?: boolean
}
/**
 * Blocks the contact of the conversation: its messages reopen nothing, and no bot answers them.
 */
export interface MuteAction {
type: "mute"
}
/**
 * A private note to the agents.
 */
export interface NoteAction {
type: "note"
/**
 * The text of a reply that a bot writes or an agent inserts.
 */
content: string
/**
 * The conversation, for automations and for events without one; that of the event by default.
 */
conversation_id?: Id
}
/**
 * Opens the conversation for people: the bot is silent until its next session.
 */
export interface OpenAction {
type: "open"
}
/**
 * Sets the priority of the conversation; null removes it.
 */
export interface PriorityAction {
type: "priority"
priority: ("urgent" | "high" | "medium" | "low" | null)
}
/**
 * The message cannot be sent, and is not tried again.
 */
export interface RefusedAction {
type: "refused"
/**
 * Why; agents see it.
 */
reason: string
}
/**
 * Either a `url` or a stored `file`.
 */
export interface ReplyFile {
/**
 * The file, at a host of `permissions.network.hosts`: https only.
 */
url?: string
/**
 * The name of the file; by default the last part of the URL.
 */
name?: string
/**
 * A file of a public message of the conversation, or one that the bot has sent, by its id.
 */
file?: Id
}
/**
 * Resolves the conversation.
 */
export interface ResolveAction {
type: "resolve"
}
/**
 * Has the bot called with a schedule event, 60 seconds to 90 days after the run. A call with the same name in the conversation is replaced.
 */
export interface ScheduleAction {
type: "schedule"
at: UnixTime
name: string
/**
 * Any JSON of at most 8 KB; the event carries it.
 */
data: ({
[k: string]: unknown
} | unknown[] | string | number | boolean | null)
}
/**
 * The other system has the message that the channel was called to send.
 */
export interface SentAction {
type: "sent"
/**
 * The message's id in the other system, unique in the inbox.
 */
external_id: string
}
/**
 * Sets the SLA policy of the conversation; null for none.
 */
export interface SlaAction {
type: "sla"
sla_policy_id: NullableId
}
/**
 * Snoozes the conversation until a time in the future.
 */
export interface SnoozeAction {
type: "snooze"
until: UnixTime
}
/**
 * What became of a message that a channel has sent.
 */
export interface StatusAction {
type: "status"
/**
 * The message's id in the other system, unique in the inbox.
 */
external_id: string
/**
 * A message never goes back: `delivered` after `read` changes nothing.
 */
status: ("sent" | "delivered" | "read" | "failed")
/**
 * The `id` of the message that `send` got, where the other system repeats it: settles a message whose answer was lost.
 */
message_id?: number
/**
 * Why it failed; agents see it.
 */
reason?: string
}
/**
 * The URL to which the other system sends its requests, which a channel has looked up.
 */
export interface WebhookAction {
type: "webhook"
/**
 * null: none is set.
 */
url: (string | null)
}
/**
 * What a bot asks a language model, by ctx.llm.chat.
 */
export interface Chat {
/**
 * @minItems 1
 * @maxItems 200
 */
messages: {
role: ("system" | "user" | "assistant" | "tool")
/**
 * Null only beside `tool_calls`.
 */
content?: (string | null)
/**
 * Of an assistant: the calls that the model asked for. Each needs an answer of role tool, directly behind this message.
 * 
 * @maxItems 20
 */
tool_calls?: {
id: string
name: string
/**
 * A text where the model wrote something else.
 */
arguments: ({
[k: string]: unknown
} | string)
}[]
/**
 * Of a tool: the call that this answers.
 */
tool_call_id?: string
}[]
/**
 * 0 = precise, 1 = varied; what is outside is brought inside.
 */
temperature?: number
/**
 * Tokens of the answer at most; the service has a bound of its own.
 */
max_tokens?: number
/**
 * Functions that the model may ask to call; the bot decides what comes of it.
 * 
 * @maxItems 32
 */
tools?: {
name: string
description?: string
/**
 * A JSON Schema object.
 */
parameters: {
[k: string]: unknown
}
}[]
/**
 * none: the model may not ask for a call; required: it has to; or the tool that it has to ask for.
 */
tool_choice?: (("auto" | "none" | "required") | {
name: string
})
/**
 * The form of the answer. Some servers do not keep to it.
 */
response_format?: {
type: ("text" | "json_object" | "json_schema")
/**
 * Needed with the type json_schema.
 */
json_schema?: {
name: string
description?: string
strict?: boolean
/**
 * A JSON Schema object.
 */
schema: {
[k: string]: unknown
}
}
}
}
/**
 * A contact in an inbox.
 */
export interface ContactPlace {
contact_id: Id
inbox_id: Id
status?: ConversationStatus
[k: string]: unknown
}
/**
 * Marks of a contact in other systems: `identifier`, `email` or `phone_number`.
 */
export interface FindContact {
identifier?: string
email?: string
phone_number?: string
[k: string]: unknown
}
/**
 * plugin.json: what a bot package is, what it listens to, what it may do, how it is configured.
 */
export interface PluginManifest {
/**
 * For editors; the service does not read it.
 */
$schema?: string
/**
 * Identifies the package on a service; never changes between versions.
 */
id: string
/**
 * Shown to people.
 */
name: string
/**
 * Semantic version, for example 1.4.0 or 2.0.0-beta.1.
 */
version: string
/**
 * Version of the bot API the package is written for.
 */
apiVersion: "1"
/**
 * One or two sentences for people.
 */
description?: string
/**
 * `bot`: serves conversations. `automation`: hears what happens in an account, and serves no conversation. `channel`: connects an inbox with another system.
 */
kind?: ("bot" | "automation" | "channel")
/**
 * The handler file, relative to the package directory: .ts or .js.
 */
main?: string
events?: Events
hooks?: Hooks
/**
 * For channels: the setting or the secret that no two inboxes of the service may share, such as a bot's token.
 */
identity?: string
permissions?: Permissions
config?: Config
limits?: Limits
/**
 * For a package of several kinds, each at most once: in place of `kind`, `main`, `events`, `hooks`, `identity`, `permissions`, `config` and `limits`, which each part has for itself.
 * 
 * @minItems 1
 * @maxItems 3
 */
parts?: Part[]
}
/**
 * Requests of other systems that bots of the plugin can take, by the name of each kind. An account makes a hook of one, and gives its URL to the other system.
 */
export interface Hooks {
[k: string]: Hook1
}
export interface Hook1 {
/**
 * How the service makes sure who sends a request, before it is stored.
 */
verify: ("standard-webhooks" | "github" | "stripe" | "slack" | "shopify" | "twilio" | "telegram" | "meta" | "sns" | "basic" | "none")
/**
 * Name of the bot's secret that requests are checked with: required unless `verify` is `none`. `basic`: `user:password`; `sns`: the ARN of the topic. A value that is a JSON array of texts is as many secrets, each of which is accepted. It is declared here alone, and the bot never sees it.
 */
secret?: string
/**
 * Name of the bot's secret that Meta sends when the URL is set up: for `meta` only.
 */
verify_token?: string
/**
 * Where a request's id is: one that was stored already is not stored again. Of several places the first that has a value. By default the place where senders of the scheme put it.
 */
id?: (string | string[])
/**
 * Where it says what a request is about: requests with the same key are handled in order. Without one each request is handled by itself.
 */
key?: (string | string[])
/**
 * Bytes of a body at most. For large ones raise `limits.heapMb` too: the bot gets them as text.
 */
max_bytes?: number
/**
 * For channels: where a JSON body has files as base64, a JSON pointer in which `*` stands for each of a list, such as `/Attachments/* /Content`. Longer ones than 16 KB do not come to the plugin, which names them by their place: `attachments: [{ hook: "/Attachments/0/Content" }]`.
 */
files?: string
/**
 * Status of the answer; by default 202, and 200 for `meta` and `twilio`.
 */
answer?: (200 | 202)
}
/**
 * What the bot may do and see. Whatever is absent is not granted.
 */
export interface Permissions {
/**
 * Actions the plugin may return. A batch with any other action is dropped as a whole. `mute`, `sla` and `bot` are for automations.
 * 
 * @maxItems 13
 */
conversation?: ("reply" | "note" | "handoff" | "resolve" | "snooze" | "open" | "assign" | "label" | "priority" | "attributes" | "mute" | "sla" | "bot")[]
/**
 * Fields of the contact the bot may see beside its id; the others are removed before the bot is called, and reading one throws.
 * 
 * @maxItems 6
 */
contact?: ("name" | "email" | "phone_number" | "identifier" | "custom_attributes" | "visitor_attributes")[]
/**
 * Number of the conversation's latest messages that the bot gets as `ctx.history`; private notes are among them with `notes_read` only.
 */
history?: number
/**
 * true: private notes reach the bot as messages too.
 */
notes_read?: boolean
/**
 * true: outgoing messages, the bot's own included, reach the bot too.
 */
receive_own?: boolean
/**
 * What the bot may remember, and how much of it.
 */
storage?: {
/**
 * What values may belong to: one conversation, one contact, or the account as a whole.
 * 
 * @minItems 1
 * @maxItems 3
 */
scopes: ("conversation" | "contact" | "installation")[]
/**
 * Bytes of keys and values in each conversation, each contact, and each account.
 */
maxBytes?: number
}
/**
 * Where the bot may send requests with `ctx.fetch`; only https, and no redirect is followed.
 */
network?: {
hosts: Hosts
/**
 * Methods that requests may have.
 * 
 * @minItems 1
 * @maxItems 6
 */
methods?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE")[]
/**
 * What for, in a sentence for the people who install the plugin.
 */
reasoning?: string
}
/**
 * Values that the bot may send in headers without ever seeing them. A value comes from the bot's `secrets`, or from a setting with `x-secret` of the same name.
 * 
 * @maxItems 20
 */
secrets?: Secret[]
/**
 * true: the bot may ask the account's language model with `ctx.llm.chat`.
 */
llm?: boolean
/**
 * true: the bot may search the account's knowledge base with `ctx.kb.search`.
 */
kb?: boolean
/**
 * true: the bot may have itself called later with `ctx.schedule`.
 */
schedule?: boolean
/**
 * true: the bot may call the tools of its setting `tools` with `ctx.tools.call`, at hosts that the account has approved.
 */
tools?: boolean
/**
 * For channels: it sends mail by `ctx.mail.send`. The name of the secret with the URL of a mail server, `smtps://user:password@host:port`; without a value, mail of the accounts and domains of CHANNEL_MAIL_DOMAINS goes by the server of the service. All mail comes from the inbox's address: the setting that `identity` names.
 */
mail?: string
/**
 * true: the bot may say why it hands off (`ctx.handoff({ reason, cause: 'keyword' })`), which becomes the conversation's `handoff_reason`; else that is `plugin`.
 */
handoff_cause?: boolean
/**
 * true: the bot may take requests of other systems, see `hooks`.
 */
hooks?: boolean
/**
 * In `hook_received`, `read`: the bot may find contacts of the account, with `ctx.contacts.find`; `write`: it may also create them, with `ctx.contacts.findOrCreate`.
 */
contacts?: ("read" | "write")
/**
 * `write`: the bot may find conversations in its inboxes and begin them, with `ctx.conversations` in `hook_received`.
 */
conversations?: "write"
/**
 * true: the bot may forward its event to the server that its account has set, with `ctx.forward`.
 */
forward?: boolean
}
export interface Secret {
/**
 * What the bot calls it: `secret('SHOP_KEY')`.
 */
name: string
/**
 * Hosts of `network.hosts` that it may be sent to, and no other.
 */
hosts: Hosts
title?: string
description?: string
}
/**
 * The settings an account may make, as a JSON Schema object; a form is drawn from it. A subset of JSON Schema whose check always ends quickly: no references, no regular expressions.
 */
export interface Config {
type: "object"
title?: string
description?: string
properties?: {
[k: string]: Setting
}
/**
 * @maxItems 50
 */
required?: string[]
additionalProperties?: false
}
export interface Setting {
type: (("string" | "number" | "integer" | "boolean" | "array" | "object") | ("string" | "number" | "boolean")[])
title?: string
description?: string
/**
 * Used where the account sets nothing.
 */
default?: {
[k: string]: unknown
}
/**
 * @maxItems 20
 */
examples?: unknown[]
/**
 * @minItems 1
 * @maxItems 100
 */
enum?: unknown[]
format?: ("email" | "uri" | "date" | "time" | "date-time")
minLength?: number
maxLength?: number
minimum?: number
maximum?: number
minItems?: number
maxItems?: number
items?: Setting
properties?: {
[k: string]: Setting
}
/**
 * @maxItems 50
 */
required?: string[]
additionalProperties?: false
/**
 * true for the URL of a server: its host is allowed where `permissions` list `$NAME` as a host. Of the first level only.
 */
"x-host"?: boolean
/**
 * true for a text that is stored sealed, never answered, and never given to the bot, which can send it only by `secret(name)`.
 */
"x-secret"?: boolean
}
/**
 * What one run may use.
 */
export interface Limits {
/**
 * Longest uninterrupted computation in milliseconds; loading the bot counts. A run without calls to the service is one such slice; the slices of one with calls may take twice as long in all.
 */
sliceMs?: number
/**
 * Longest whole run in milliseconds, waiting for calls to the service included.
 */
wallMs?: number
/**
 * Memory for the bot's values in MiB.
 */
heapMb?: number
}
export interface Part {
/**
 * `bot`: serves conversations. `automation`: hears what happens in an account, and serves no conversation. `channel`: connects an inbox with another system.
 */
kind: ("bot" | "automation" | "channel")
/**
 * The handler file, relative to the package directory: .ts or .js.
 */
main: string
events: Events
hooks?: Hooks
/**
 * For channels: the setting or the secret that no two inboxes of the service may share, such as a bot's token.
 */
identity?: string
permissions?: Permissions
config?: Config
limits?: Limits
}
/**
 * What a bot looks for in the knowledge base, by ctx.kb.search.
 */
export interface Search1 {
/**
 * A question or words; of a longer text its beginning is looked for.
 */
query: string
limit?: number
/**
 * Only articles with one of these tags; empty = all.
 */
tags?: ArticleTags
/**
 * Only articles in one of these languages; empty = all.
 * 
 * @maxItems 20
 * 
 * Items: A language tag such as `en`, `de` or `pt-BR`.
 */
languages?: string[]
}
/**
 * A call of a tool, by ctx.tools.call.
 */
export interface ToolCall {
name: string
/**
 * As the model wrote them; a text where they are no JSON object.
 */
arguments: ({
[k: string]: unknown
} | string)
}
/**
 * The hours of one day of the week, in the timezone of the inbox.
 */
export interface WorkingDayShape {
/**
 * 0 is Sunday, 6 Saturday.
 */
day_of_week?: number
closed_all_day?: boolean
open_all_day?: boolean
/**
 * Null on a day that is closed or open all day.
 */
open_hour?: (number | null)
/**
 * 0 in a request that does not say.
 */
open_minutes?: (number | null)
/**
 * 24 with 0 minutes is the end of the day.
 */
close_hour?: (number | null)
/**
 * 0 in a request that does not say.
 */
close_minutes?: (number | null)
}

/** The settings of the service by the environment variables of schemas/config.json. */
export interface Settings {
  /** TCP port the HTTP API listens on; 0 picks a free one. */
  readonly port: number;
  /** Address the HTTP API listens on. */
  readonly host: string;
  /** PostgreSQL to use, `postgresql://user:password@host:port/database`. */
  readonly databaseUrl: string | null;
  /** Folder of the embedded database and of the generated secret key. */
  readonly dataDir: string;
  /** API access token of the first administrator (and platform administrator) of account 1, taken at the first start: at least 20 printable ASCII characters, no spaces. */
  readonly bootstrapAdminToken: string | null;
  /** Furnish the first account with demonstration data at the first start, and have a webhook receiver to try things with (`/play`), for which one loopback address may be called. */
  readonly demo: boolean;
  /** What this process does: `web` answers HTTP, `engine` delivers events and runs bots, `all` does both. */
  readonly role: 'all' | 'web' | 'engine';
  /** `off` sends nothing, as in a copy of an installation: deliveries and bots on servers wait, mail is logged, calls of plugins and models are refused, stored objects stay. */
  readonly outbound: 'on' | 'off';
  /** Private address ranges that webhooks and plugins may reach, separated by commas: `10.0.0.0/8,127.0.0.1/32`. */
  readonly outboundAllowCidrs: readonly string[];
  /** Requests one access token may make per minute, in each process: two web processes allow twice as much, and a restart begins anew; 0 switches the limit off. */
  readonly rateLimitPerMinute: number;
  /** Number of reverse proxies in a row in front of the service: the client's address is the entry of X-Forwarded-For at this place, counted from the end. 0 = none; the header is ignored. */
  readonly trustedProxies: number;
  /** Widget sessions one address may open per minute, in each process; 0 switches the limit off. */
  readonly widgetSessionsPerMinute: number;
  /** Bytes that widgets at one address may store per minute, in each process; 0 switches the limit off. */
  readonly widgetBytesPerMinute: number;
  /** Hours for which a person stays signed in in a browser. */
  readonly signInHours: number;
  /** Requests that one URL of a hook takes per minute, in each process; more are answered 429. 0 switches the limit off. */
  readonly hooksPerMinute: number;
  /** Bytes of requests of hooks that may wait to be handled in one account; more are answered 429. */
  readonly hookWaitingBytes: number;
  /** Attempts to sign in that one address may make per minute, in each process; 0 switches the limit off. */
  readonly signInsPerMinute: number;
  /** Least severe level that is logged. */
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** Key that encrypts stored secrets, at least 32 characters. Needed with `DATABASE_URL`, unless `DATA_DIR/secret-key` exists. */
  readonly secretKey: string;
  /** Largest request body, in bytes; the limit of operations without message text and attributes is 192 KB. */
  readonly bodyLimitBytes: number;
  /** Largest file of a message, in bytes. */
  readonly attachmentBytes: number;
  /** Files that one message may have at most. */
  readonly attachmentsPerMessage: number;
  /** Largest form of a message with all of its files, in bytes; at least `ATTACHMENT_BYTES`. */
  readonly attachmentFormBytes: number;
  /** Hours for which a link to a file is good, and a day at most beyond (an hour, where less than 24). Events carry such links, and receivers may get them days later. */
  readonly attachmentLinkHours: number;
  /** Object store that keeps the files of messages in place of the database: any that speaks as S3 does, by path, at a public or a private address. What the database has stays there. */
  readonly attachmentS3Endpoint: string | null;
  /** Its bucket. */
  readonly attachmentS3Bucket: string | null;
  /** Its region. */
  readonly attachmentS3Region: string;
  /** The access key for it. */
  readonly attachmentS3AccessKeyId: string | null;
  /** The secret of the access key. */
  readonly attachmentS3SecretAccessKey: string | null;
  /** Highest number of forms with files that one process has in memory; others wait for 5 seconds, and are then answered with 503. */
  readonly uploadsInFlight: number;
  /** Longest time that a form with files, an archive of articles or a plugin may take to arrive, in milliseconds, as long as 1 KB a second comes; all other requests have 20 seconds. */
  readonly uploadTimeoutMs: number;
  /** Bytes of files that widgets, and clients of inboxes, at one address may send per minute, counted before they arrive, in each process; 0 switches the limit off. */
  readonly widgetUploadBytesPerMinute: number;
  /** Highest number of HTTP connections of one process; above it, the one that was idle for the longest time is closed. */
  readonly connections: number;
  /** Highest number of HTTP connections of one address; above it, the one that was idle for the longest time is closed. Not applied with `TRUSTED_PROXIES`. */
  readonly connectionsPerAddress: number;
  /** Highest number of streams of events (`GET …/events/stream`) that one account has open at one process; further ones get 429. Contacts leave a quarter of them to agents. */
  readonly eventStreamsPerAccount: number;
  /** Highest number of streams that the contacts of one inbox have open at one process; further ones get 429. */
  readonly widgetStreamsPerInbox: number;
  /** Highest number of streams that contacts at one address have open at one process; further ones get 429. */
  readonly widgetStreamsPerAddress: number;
  /** Highest number of database connections of one process, besides up to 2 of the alarm clock and one on which processes wake each other. */
  readonly databasePoolMax: number;
  /** Number of the connections of `DATABASE_POOL_MAX` that are reserved for deliveries, bots and sweeps with the role `all`; requests use the others. */
  readonly databasePoolEngine: number | null;
  /** How long a start waits for its database, in milliseconds. */
  readonly databaseStartTimeoutMs: number;
  /** Longest run of one SQL statement, in milliseconds. */
  readonly statementTimeoutMs: number;
  /** Longest wait for a row that another transaction has locked, in milliseconds; after it, a request is answered with 503 and Retry-After. Must be longer than PostgreSQL's `deadlock_timeout` (1 s), so that deadlocks are detected first. */
  readonly lockTimeoutMs: number;
  /** Longest time between two statements of a transaction, in milliseconds; after it, the database ends the transaction and releases its locks. */
  readonly idleInTransactionTimeoutMs: number;
  /** Longest wait for a webhook receiver's answer, in milliseconds. */
  readonly webhookTimeoutMs: number;
  /** Interval at which the engine looks for due deliveries even if no commit announced any, in milliseconds; while nothing is due, it grows to 20 times as much. */
  readonly enginePollMs: number;
  /** Highest number of concurrent deliveries of one process, to webhooks and to bots each; a quarter of it for automations. */
  readonly engineInFlight: number;
  /** Highest number of concurrent deliveries to one endpoint. */
  readonly endpointInFlight: number;
  /** Time for which a process may work on a claimed delivery before another one may claim it, in seconds; must be longer than `WEBHOOK_TIMEOUT_MS`. */
  readonly leaseSeconds: number;
  /** Number of failed attempts of a delivery during which later deliveries of the same conversation to the same endpoint wait; 0 = deliveries are not kept in order. */
  readonly holdAttempts: number;
  /** Highest number of processes that run plugins: one is kept, others start when runs wait for them and end after a minute without any. If there are several, a quarter of them (at least one) is reserved for quick bots, and automations occupy a quarter (at least one) at most; a single one lets slow bots delay all others. */
  readonly sandboxRunners: number;
  /** Highest number of runs of bots that wait for a sandbox process, and as many of automations. */
  readonly sandboxQueue: number;
  /** Resident memory above which a sandbox process is killed, in megabytes. */
  readonly sandboxMaxRssMb: number;
  /** Highest number of plugin runs of one process that wait for calls such as `ctx.fetch` beside those of `ENGINE_IN_FLIGHT`; beyond it a waiting run counts as a delivery in progress. */
  readonly waitingRuns: number;
  /** Highest number of such runs of one account. */
  readonly waitingRunsPerAccount: number;
  /** Longest request of a plugin (`ctx.fetch`), in milliseconds. */
  readonly botFetchTimeoutMs: number;
  /** Bytes that one bot may store in one account: keys and values of all conversations, all contacts and the account together. */
  readonly botStorageBytes: number;
  /** Largest answer to a request of a plugin, in bytes. */
  readonly botFetchMaxBytes: number;
  /** Model server of accounts that set none of their own: any server with the API of OpenAI (chat completions), at a public or a private address. Without it AI bots answer with passages of the knowledge base. */
  readonly llmBaseUrl: string | null;
  /** Its API key. */
  readonly llmApiKey: string | null;
  /** The model that it is asked for. Needed with `LLM_BASE_URL`. Set `LLM_EMBEDDING_MODEL` too: AI bots then answer more questions. */
  readonly llmModel: string | null;
  /** Longest time for an answer of a model, in milliseconds, with the second attempt after a failure. */
  readonly llmTimeoutMs: number;
  /** Longest time for which one run of a plugin waits for models, in milliseconds. */
  readonly llmRunMs: number;
  /** Tokens that a model may write for one answer. */
  readonly llmMaxTokens: number;
  /** The model of that server for embeddings, by which articles are also found by what they mean: AI bots then answer questions in other words than those of the articles. Recommended with `LLM_MODEL`. Without it articles are found by their words. */
  readonly llmEmbeddingModel: string | null;
  /** Cosine similarity from which on a passage is found by what it means, and answers, in hundredths. It depends on the model. */
  readonly llmEmbeddingSimilarity: number;
  /** How long bots that answer bursts of messages once (`ctx.settled`) wait after the customer's last message, in milliseconds. */
  readonly burstQuietMs: number;
  /** How long they wait in all, in milliseconds. */
  readonly burstMaxMs: number;
  /** Folders of plugins, separated by commas; each contains one folder per plugin. Of two with the same plugin, the one that was there first has it. A path is relative to the working directory. */
  readonly pluginDirs: readonly string[];
  /** Largest archive of a plugin that may be uploaded, in bytes. */
  readonly pluginArchiveBytes: number;
  /** Bytes of all files of an archive together at most. */
  readonly pluginUnpackedBytes: number;
  /** Files and folders of an archive at most. */
  readonly pluginEntries: number;
  /** Largest file of articles that may be imported at once, in bytes. */
  readonly articleImportBytes: number;
  /** Public keys (Ed25519, base64) of those whose signatures of plugins are trusted, separated by commas. */
  readonly pluginTrustedKeys: readonly string[];
  /** What happens to an uploaded plugin without a signature of `PLUGIN_TRUSTED_KEYS`: `off` does not look at signatures, `warn` installs it with a warning in the log, `require` refuses it. Plugins in folders need none. */
  readonly pluginSignatures: 'off' | 'warn' | 'require';
  /** Token with which `/metrics` is read, as `Authorization: Bearer`; without one, `/metrics` answers callers on the same machine only. */
  readonly metricsToken: string | null;
  /** Time that a stopping process waits for current work to finish, in milliseconds. */
  readonly shutdownTimeoutMs: number;
  /** Number of days for which finished events and deliveries are kept, and the bot runs on them. */
  readonly retentionDays: number;
  /** Number of days for which records of bot runs are kept, with the code that ran; at most RETENTION_DAYS, as a run goes with its event. */
  readonly runRetentionDays: number;
  /** Number of days for which the hourly figures of reports and the entries of the audit log are kept; they stay when events and deliveries are deleted. */
  readonly reportRetentionDays: number;
  /** Server that sends mail such as invitations, `smtps://user:password@host:port`. */
  readonly smtpUrl: string | null;
  /** Sender of mail, `Support <support@example.com>`. Needed with `SMTP_URL`. */
  readonly mailFrom: string | null;
  /** Accounts and the domains whose mail their inboxes may send by `SMTP_URL`, as `ACCOUNT_ID:DOMAIN`, separated by commas. Not the address of `MAIL_FROM`. An inbox with a mail server of its own needs none. */
  readonly channelMailDomains: readonly string[];
  /** URL of the service for people, used in links in mail; without a slash at the end. */
  readonly publicUrl: string | null;
  /** Identity provider that people may sign in by (OpenID Connect), as its discovery document names it, at a public or a private address; without TLS on this machine only. Register `PUBLIC_URL` + `/sign_in/oidc/callback` there as the address to come back to. */
  readonly oidcIssuer: string | null;
  /** This service's name at the provider. Needed with `OIDC_ISSUER`. */
  readonly oidcClientId: string | null;
  /** Its secret there. Needed with `OIDC_ISSUER`. */
  readonly oidcClientSecret: string | null;
  /** Domains of the e-mail addresses that may sign in by the provider, separated by commas. */
  readonly oidcAllowedDomains: readonly string[];
  /** Claim of the ID token or the user info that holds `administrator` or `agent`, alone or in a list: the role of whoever accepts an invitation by signing in, in place of the invitation's. Roles of agents who have joined are changed in the console. */
  readonly oidcRoleClaim: string | null;
}
