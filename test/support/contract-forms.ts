import {
  anyObject,
  color,
  exactly,
  flag,
  isoTime,
  list,
  nullable,
  number,
  oneOf,
  text,
  time,
  type Form,
} from './shapes.ts';

const named: Form = { id: number, name: text };
const contactBrief: Form = { id: number, name: text, email: nullable(text) };
const attributes = anyObject;

export const conversation = {
  id: number,
  inbox_id: number,
  status: oneOf('open', 'resolved', 'pending', 'snoozed'),
  priority: nullable(oneOf('urgent', 'high', 'medium', 'low')),
  unread_count: number,
  created_at: time,
  updated_at: time,
  last_activity_at: time,
  contact: exactly({ id: number, name: text, email: nullable(text) }),
  meta: { assignee: nullable(named), team: nullable(named) },
  source_id: nullable(text),
  additional_attributes: attributes,
  sla_policy_id: nullable(number),
};

export const message = {
  id: number,
  content: text,
  message_type: oneOf('incoming', 'outgoing'),
  status: oneOf('sent', 'delivered', 'read', 'failed'),
  private: flag,
  content_type: oneOf('text', 'input_select', 'input_email', 'cards'),
  content_attributes: attributes,
  created_at: time,
  sender: { id: number, name: text, type: oneOf('Contact', 'User', 'AgentBot') },
  attachments: list,
} satisfies Record<string, Form>;

export const contact = {
  id: number,
  name: text,
  email: nullable(text),
  phone_number: nullable(text),
  identifier: nullable(text),
  blocked: flag,
  thumbnail: nullable(text),
  last_activity_at: nullable(time),
  created_at: time,
  custom_attributes: attributes,
  additional_attributes: attributes,
};

export const note = { id: number, content: text, created_at: time };

export const label = {
  id: number,
  title: text,
  description: nullable(text),
  color,
  show_on_sidebar: flag,
  created_at: time,
};

export const agent = {
  id: number,
  name: text,
  email: text,
  role: oneOf('administrator', 'agent'),
  availability: oneOf('online', 'busy', 'offline'),
  confirmed: flag,
  avatar_url: nullable(text),
};

export const inbox = {
  id: number,
  name: text,
  channel_type: text,
  greeting_enabled: flag,
  greeting_message: nullable(text),
  enable_auto_assignment: flag,
  timezone: text,
  working_hours_enabled: flag,
  csat_survey_enabled: flag,
  avatar_url: nullable(text),
};

export const team = {
  id: number,
  name: text,
  description: nullable(text),
  allow_auto_assign: flag,
  created_at: time,
  updated_at: time,
};

export const webhook = {
  id: number,
  url: text,
  name: nullable(text),
  subscriptions: [text],
  active: flag,
  inbox_id: nullable(number),
} satisfies Record<string, Form>;

/** The `meta` of paged lists. */
export const pages = exactly({ count: number, current_page: number, total_pages: number });

/** The `meta` of the list of conversations. */
export const counts = {
  all_count: number,
  mine_count: number,
  unassigned_count: number,
  assigned_count: number,
};

/** The body of message events for account webhooks. */
export const accountMessage = {
  event: text,
  id: text,
  content: text,
  created_at: isoTime,
  message_type: oneOf('incoming', 'outgoing'),
  conversation: { id: number, status: text, inbox_id: number },
  contact: contactBrief,
  account: named,
};

const botSender = {
  id: number,
  name: text,
  email: nullable(text),
  phone_number: nullable(text),
  avatar: nullable(text),
  identifier: nullable(text),
  type: oneOf('contact', 'user', 'agent_bot'),
};
const botMeta = { sender: { id: number, name: text, type: oneOf('contact') }, channel: text };

/** The body of message events for bots. */
export const botMessage = {
  event: text,
  id: number,
  content: text,
  content_type: oneOf('text', 'input_select', 'input_email', 'cards'),
  message_type: oneOf('incoming', 'outgoing'),
  created_at: time,
  private: flag,
  source_id: nullable(text),
  additional_attributes: attributes,
  content_attributes: attributes,
  sender: botSender,
  inbox: { id: number, name: text, channel: text },
  conversation: { id: number, account_id: number, status: text, assignee: nullable(anyObject), meta: botMeta },
  account: named,
};

/** The body of conversation_resolved for bots. */
export const botResolved = {
  event: oneOf('conversation_resolved'),
  id: number,
  status: oneOf('resolved'),
  account_id: number,
  meta: botMeta,
  account: named,
};
