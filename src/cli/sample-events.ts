import type { Shape } from '../schemas.ts';
import type { BotEventName } from '../sandbox/run.ts';

const account = { id: 1, name: 'Sample account' };
const channel = 'api';
const meta = { sender: { id: 3, name: 'Sam Sample', type: 'contact' as const }, channel };
const conversationEvent = { id: 2, account_id: 1, inbox_id: 4, meta, account, sequence: 1 };
const message: Omit<Shape<'events/bot/message_created'>, 'event'> = {
  id: 5,
  content: 'Hello, what are your opening hours?',
  content_type: 'text',
  message_type: 'incoming',
  created_at: 1_750_000_000,
  private: false,
  source_id: null,
  additional_attributes: {},
  content_attributes: {},
  sender: {
    id: 3,
    name: 'Sam Sample',
    email: 'sam@example.com',
    phone_number: '+14155552671',
    avatar: null,
    identifier: 'sample-3',
    type: 'contact',
  },
  inbox: { id: 4, name: 'Sample inbox', channel },
  conversation: { id: 2, account_id: 1, status: 'pending', assignee: null, meta },
  account,
  sequence: 1,
};

const messageCreated: Shape<'events/bot/message_created'> = { event: 'message_created', ...message };
const messageUpdated: Shape<'events/bot/message_updated'> = {
  event: 'message_updated',
  ...message,
  changed_attributes: { content: { previous: 'Hello', current: message.content } },
};
const opened: Shape<'events/bot/conversation_opened'> = {
  event: 'conversation_opened',
  status: 'pending',
  ...conversationEvent,
};
const resolved: Shape<'events/bot/conversation_resolved'> = {
  event: 'conversation_resolved',
  status: 'resolved',
  ...conversationEvent,
};

const { conversation: current, inbox } = message;
const triggered: Shape<'events/bot/webwidget_triggered'> = {
  event: 'webwidget_triggered',
  contact: {
    id: 3,
    name: 'Sam Sample',
    email: 'sam@example.com',
    phone_number: '+14155552671',
    avatar: null,
    identifier: 'sample-3',
    visitor_attributes: {},
    custom_attributes: { plan: 'free' },
    type: 'contact',
  },
  inbox,
  account,
  current_conversation: current,
  source_id: null,
  conversation_begun: true,
  sequence: 2,
};

const schedule: Shape<'events/bot/schedule'> = {
  event: 'schedule',
  status: 'pending',
  ...conversationEvent,
  name: 'sample',
  data: null,
  scheduled_at: 1_750_000_000,
};

/** A sample of each event of bots, to try one without a service. */
export const sampleEvents = {
  message_created: { ...messageCreated },
  message_updated: { ...messageUpdated },
  conversation_opened: { ...opened },
  conversation_resolved: { ...resolved },
  webwidget_triggered: { ...triggered },
  schedule: { ...schedule },
} satisfies Partial<Record<BotEventName, Record<string, unknown>>>;
