/** The name by which the webhook of an inbox of the API is known. */
export const channelName = 'API channel';

/** Events that both know. They know no others. */
const known = [
  'conversation_created',
  'conversation_updated',
  'conversation_status_changed',
  'message_created',
  'message_updated',
  'contact_created',
  'contact_updated',
  'webwidget_triggered',
  'conversation_typing_on',
  'conversation_typing_off',
];

/** Events for a webhook that names none. */
const usual = known.filter((name) => !name.startsWith('conversation_typing'));

/** Events for the webhook of an API inbox: everything that happens in it. */
export const ofChannel = known.filter((name) => !name.startsWith('contact_'));

/** Leaves out events that do not exist here; if none is left, our route refuses the request. */
export function readSubscriptions(names: unknown): unknown {
  if (!Array.isArray(names)) return names;
  const kept = names.filter((name: unknown) => typeof name === 'string' && known.includes(name));
  return [...new Set(kept)];
}

/** The subscriptions of a new webhook. */
export function newSubscriptions(names: unknown): unknown {
  return names === undefined ? usual : readSubscriptions(names);
}
