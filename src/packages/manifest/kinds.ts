import type { BotEventName } from '../../sandbox/run.ts';
import type { Manifest } from './manifest.ts';

type ConversationAction = Manifest['permissions']['conversation'][number];

/** Events that bots hear. */
const botEvents: readonly BotEventName[] = [
  'message_created',
  'message_updated',
  'conversation_opened',
  'conversation_resolved',
  'webwidget_triggered',
  'schedule',
];
/** Events of bots that accounts do not have. */
const botsAlone: readonly BotEventName[] = ['conversation_opened', 'conversation_resolved'];
/** Actions of automations that bots may not take. */
const automationsAlone: readonly ConversationAction[] = ['mute', 'sla', 'bot'];

/** A sentence for each event and each permission that plugins of the kind may not name. */
export function findKindProblems({
  kind,
  events,
  permissions,
}: Pick<Manifest, 'kind' | 'events' | 'permissions'>): string[] {
  if (kind === 'bot') {
    const foreign = events.filter((name) => !botEvents.includes(name));
    const actions = permissions.conversation.filter((action) => automationsAlone.includes(action));
    return [
      ...foreign.map((name) => `\`events\`: ${name} is for automations ("kind": "automation")`),
      ...actions.map((action) => `\`permissions.conversation\`: ${action} is for automations ("kind": "automation")`),
    ];
  }
  const foreign = events.filter((name) => botsAlone.includes(name));
  return [
    ...foreign.map((name) => `\`events\`: ${name} is for bots; automations hear conversation_status_changed`),
    ...(permissions.forward ? ['`permissions.forward` is for bots: automations have no server'] : []),
  ];
}
