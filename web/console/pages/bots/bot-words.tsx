import type { Bot } from './bot-list.ts';

const kinds = { webhook: 'Webhook', ai: 'AI', plugin: 'Plugin' } as const;

/** The events that bots can be told of, in words. */
export const botEvents = [
  ['message_created', 'Messages'],
  ['message_updated', 'Changes of messages'],
  ['conversation_opened', 'Conversations that are opened again'],
  ['conversation_resolved', 'Conversations that are resolved'],
  ['webwidget_triggered', 'Customers who open the chat'],
] as const;

/** What a bot is, in a word or two. */
export function nameOfKind({ kind, plugin_id: plugin }: Bot): string {
  return kind === 'plugin' ? `${kinds.plugin} ${plugin ?? ''}` : kinds[kind];
}

/** Whether a bot answers as it is meant to, at a glance. */
export function Health({ bot: { quarantine, paused, health } }: { bot: Bot }) {
  if (quarantine) return <span class="badge bad">Quarantined</span>;
  if (paused) return <span class="badge wait">Paused</span>;
  return health.state === 'ok' ? <span class="badge good">Well</span> : <span class="badge bad">Failing</span>;
}
