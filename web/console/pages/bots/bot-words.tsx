import type { Bot } from './bot-list.ts';

const kinds = { webhook: 'Webhook', ai: 'AI', plugin: 'Plugin' } as const;

/** The events that bots can be told of, in words. */
export const botEvents = [
  ['message_created', 'Messages'],
  ['message_updated', 'Message changes'],
  ['conversation_opened', 'Conversations reopened'],
  ['conversation_resolved', 'Conversations resolved'],
  ['webwidget_triggered', 'Chat opened'],
] as const;

/** Name of the kind of a bot. */
export function nameOfKind({ kind, plugin_id: plugin }: Bot): string {
  return kind === 'plugin' ? `${kinds.plugin} ${plugin ?? ''}` : kinds[kind];
}

/** Whether a bot answers as it is meant to, at a glance. */
export function Health({ bot: { quarantine, paused, health } }: { bot: Bot }) {
  if (quarantine) return <span class="badge bad">Quarantined</span>;
  if (paused) return <span class="badge wait">Paused</span>;
  return health.state === 'ok' ? <span class="badge good">Healthy</span> : <span class="badge bad">Failing</span>;
}
