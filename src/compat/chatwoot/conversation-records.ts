import { listOf, objectOf } from './json.ts';
import { theirMessage } from './message-records.ts';
import type { Json } from './operation.ts';

/** Returns a conversation in Chatwoot's fields. */
export function theirConversation(record: Json): Json {
  const { last_message: last, messages, meta, ...rest } = record;
  const newest = last ? theirMessage(objectOf(last)) : null;
  const { snoozed_until: until, waiting_since: waiting, last_activity_at: active } = record;
  return {
    ...rest,
    meta: theirMeta(objectOf(meta)),
    messages: messages ? listOf(messages).map(theirMessage) : newest ? [newest] : [],
    last_non_activity_message: newest,
    can_reply: true,
    timestamp: active,
    waiting_since: waiting ?? 0,
    snoozed_until: momentText(until),
  };
}

// Keys are left out where Chatwoot has no value.
function theirMeta({ sender, assignee, team, ...rest }: Json): Json {
  return {
    ...rest,
    sender: { ...objectOf(sender), type: 'contact' },
    ...(assignee ? { assignee: withAvailableName(objectOf(assignee)), assignee_type: 'User' } : {}),
    ...(team ? { team } : {}),
  };
}

function withAvailableName(person: Json): Json {
  return { ...person, available_name: person['name'] };
}

/** Returns a moment of Unix seconds in ISO 8601; null for none. */
export function momentText(seconds: unknown): string | null {
  return typeof seconds === 'number' ? new Date(seconds * 1000).toISOString() : null;
}
