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

type Judged = Pick<Manifest, 'kind' | 'events' | 'permissions' | 'hooks' | 'identity' | 'config'>;

/** A sentence for each event and each permission that plugins of the kind may not name. */
export function findKindProblems(manifest: Judged): string[] {
  const { kind, identity } = manifest;
  const misplaced = identity !== null && kind !== 'channel' ? ['`identity` is for channels ("kind": "channel")'] : [];
  return [...misplaced, ...findMisplacedDoors(manifest), ...rules[kind](manifest)];
}

function findMisplacedDoors({ kind, permissions, hooks }: Judged): string[] {
  if (kind === 'channel') return [];
  const withFiles = Object.entries(hooks).filter(([, { files }]) => files !== null);
  return [
    ...(permissions.mail === undefined ? [] : ['`permissions.mail` is for channels ("kind": "channel")']),
    ...withFiles.map(([name]) => `\`hooks.${name}.files\` is for channels ("kind": "channel")`),
  ];
}

const rules: Readonly<Record<Manifest['kind'], (manifest: Judged) => string[]>> = {
  bot: ({ events, permissions }) => {
    const foreign = events.filter((name) => !botEvents.includes(name));
    const actions = permissions.conversation.filter((action) => automationsAlone.includes(action));
    return [
      ...foreign.map((name) => `\`events\`: ${name} is for automations ("kind": "automation")`),
      ...actions.map((action) => `\`permissions.conversation\`: ${action} is for automations ("kind": "automation")`),
    ];
  },
  automation: ({ events, permissions }) => {
    const foreign = events.filter((name) => botsAlone.includes(name));
    return [
      ...foreign.map((name) => `\`events\`: ${name} is for bots; automations hear conversation_status_changed`),
      ...(permissions.forward ? ['`permissions.forward` is for bots: automations have no server'] : []),
    ];
  },
  channel: ({ events, permissions, hooks, identity, config }) => [
    ...(events.length > 0 ? ['`events` of a channel is empty: it is called to send messages, and for its hooks'] : []),
    ...(Object.keys(hooks).length === 0 ? ['`hooks` of a channel names at least one: its messages come by them'] : []),
    ...permissions.conversation.map((action) => `\`permissions.conversation\`: ${action} is not for channels`),
    ...(permissions.forward ? ['`permissions.forward` is for bots: channels have no server'] : []),
    ...findIdentityProblems({ identity, permissions, config }),
  ],
};

function findIdentityProblems({ identity, permissions, config }: Pick<Judged, 'identity' | 'permissions' | 'config'>) {
  if (identity !== null && !isKnown(identity, { permissions, config }))
    return [`\`identity\` names neither a setting nor a secret of the plugin: \`${identity}\``];
  if (permissions.mail === undefined || isAddressSetting(identity, config)) return [];
  return [
    identity === null
      ? '`permissions.mail` needs `identity`: the name of a required text setting with the address that mail comes from'
      : `\`permissions.mail\` needs a required text setting as \`identity\`, with the address that mail comes from: \`${identity}\` is none`,
  ];
}

// Without a value, no mail could be sent: `from` must be the address.
function isAddressSetting(identity: string | null, { properties = {}, required = [] }: Judged['config']): boolean {
  const setting = identity !== null && Object.hasOwn(properties, identity) ? properties[identity] : undefined;
  return setting?.type === 'string' && setting['x-secret'] !== true && required.includes(identity ?? '');
}

function isKnown(name: string, { permissions, config }: Pick<Judged, 'permissions' | 'config'>): boolean {
  return permissions.secrets.some((secret) => secret.name === name) || Object.hasOwn(config.properties ?? {}, name);
}
