import { call } from '../../session.ts';
import { allPages, loadBots } from '../bots/bot-list.ts';

type Choices = readonly (readonly [value: string, text: string])[];

/** Values of an account that rules may name. */
export interface RuleOptions {
  agents: Choices;
  teams: Choices;
  labels: Choices;
  inboxes: Choices;
  bots: Choices;
  /** Attributes of conditions, the account's own included. */
  attributes: Choices;
}

const own: Choices = [
  ['content', 'Message text'],
  ['message_type', 'Message type'],
  ['private', 'Private note'],
  ['status', 'Status'],
  ['priority', 'Priority'],
  ['assignee_id', 'Assignee'],
  ['team_id', 'Team'],
  ['inbox_id', 'Inbox'],
  ['labels', 'Labels'],
  ['hours', 'Working hours'],
  ['contact.name', 'Contact name'],
  ['contact.email', 'Contact email'],
  ['contact.phone_number', 'Contact phone number'],
  ['contact.identifier', 'Contact identifier'],
];

export const priorities: Choices = [
  ['urgent', 'Urgent'],
  ['high', 'High'],
  ['medium', 'Medium'],
  ['low', 'Low'],
];

export const times: Choices = [
  ['3600', '1 hour'],
  ['14400', '4 hours'],
  ['86400', '1 day'],
  ['604800', '1 week'],
];

const fixed: Readonly<Record<string, Choices>> = {
  priority: priorities,
  status: [
    ['open', 'Open'],
    ['pending', 'Pending'],
    ['snoozed', 'Snoozed'],
    ['resolved', 'Resolved'],
  ],
  message_type: [
    ['incoming', 'Incoming'],
    ['outgoing', 'Outgoing'],
  ],
  private: [
    ['true', 'Yes'],
    ['false', 'No'],
  ],
  hours: [
    ['inside', 'Inside'],
    ['outside', 'Outside'],
  ],
};

/** Returns the values that an attribute may have; null for any text. */
export function valuesFor(attribute: string, options: RuleOptions): Choices | null {
  const { agents, teams, labels, inboxes } = options;
  const ofAccount = { assignee_id: agents, team_id: teams, labels, inbox_id: inboxes }[attribute];
  return ofAccount ?? fixed[attribute] ?? null;
}

/** Reads the values that rules may name. */
export async function loadRuleOptions(signal: AbortSignal): Promise<RuleOptions> {
  const [agents, teams, labels, inboxes, bots, definitions] = await Promise.all([
    call('GET agents', { signal }),
    call('GET teams', { signal }),
    call('GET labels', { signal }),
    call('GET inboxes', { signal }),
    loadBots(signal),
    allPages((page) => call('GET custom_attribute_definitions', { query: { page }, signal })),
  ]);
  return {
    agents: named(agents),
    teams: named(teams),
    labels: labels.payload.map(({ title }) => [title, title]),
    inboxes: named(inboxes.payload),
    bots: named(bots),
    attributes: [...own, ...definitions.map(attributeOf)],
  };
}

function attributeOf(definition: { attribute_key: string; attribute_display_name: string; attribute_model: string }) {
  const { attribute_key: key, attribute_display_name: name, attribute_model: model } = definition;
  const isOfContact = model === 'contact_attribute';
  return [isOfContact ? `contact.${key}` : key, isOfContact ? `Contact: ${name}` : name] as const;
}

function named(records: readonly { id: number; name: string }[]): Choices {
  return records.map(({ id, name }) => [String(id), name]);
}
