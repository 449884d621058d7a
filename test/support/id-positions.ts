import type { Route } from '../../src/http/route/route.ts';
import { isIdParameter } from '../../src/http/route/record-route.ts';
import { documents } from '../../src/schemas.ts';
import type { Request } from './operations.ts';
import type { Tenant } from './world.ts';

/** A place in a request that holds the identifier of a record. */
export interface IdPosition {
  in: 'path' | 'body' | 'query';
  name: string;
  /** The kind of record: the word of its path. */
  kind: string;
  /** Whether it holds a list of identifiers. */
  many: boolean;
}

interface Property {
  $ref?: string;
  type?: string | string[];
  items?: Property;
}

// Names of properties that hold identifiers, and the word of the record's path.
const kinds: Record<string, string> = {
  account_id: 'accounts',
  actor_id: 'agents',
  agent_bot: 'agent_bots',
  agent_bot_id: 'agent_bots',
  assignee_id: 'agents',
  automation_id: 'automations',
  base_contact_id: 'contacts',
  contact_id: 'contacts',
  conversation_id: 'conversations',
  conversation_ids: 'conversations',
  inbox_id: 'inboxes',
  inbox_ids: 'inboxes',
  mergee_contact_id: 'contacts',
  primary_actor_id: 'conversations',
  sla_policy_id: 'sla_policies',
  team_id: 'teams',
  user_id: 'agents',
  user_ids: 'agents',
};

function isNumber({ $ref, type }: Property): boolean {
  return /#\/\$defs\/(nullable_)?id$/.test($ref ?? '') || [type].flat().includes('integer');
}

function readProperty(name: string, property: Property, path: string): Omit<IdPosition, 'in'> | null {
  const many = property.items !== undefined && isNumber(property.items);
  if (!many && !isNumber(property)) return null;
  if (name !== 'id' && name !== 'ids' && !(name in kinds) && !/_ids?$/.test(name)) return null;
  const kind = kindOf(name, path);
  if (kind === undefined) throw new Error(`What kind of record is ${name} of ${path}?`);
  return { name, kind, many };
}

function kindOf(name: string, path: string): string | undefined {
  if (name === 'id') return path.split('/').findLast((word) => !word.startsWith(':')) ?? '';
  return name === 'ids' ? (path.endsWith('/bulk_actions') ? 'conversations' : 'deliveries') : kinds[name];
}

function inSchema(where: 'body' | 'query', { path, contract }: Route): IdPosition[] {
  const schema = contract[where];
  const { properties = {} } = (schema ? documents.get(schema) : {}) as { properties?: Record<string, Property> };
  return Object.entries(properties).flatMap(([name, property]) => {
    const position = readProperty(name, property, path);
    return position ? [{ in: where, ...position }] : [];
  });
}

/** All places of identifiers in a request to the operation. */
export function findIdPositions(route: Route): IdPosition[] {
  const words = route.path.split('/');
  const inPath = words.flatMap((word, index): IdPosition[] => {
    const name = word.slice(1);
    if (!word.startsWith(':') || !isIdParameter(name)) return [];
    return [{ in: 'path', name, kind: kinds[name] ?? words[index - 1] ?? '', many: false }];
  });
  return [...inPath, ...inSchema('body', route), ...inSchema('query', route)];
}

const records: Record<string, (tenant: Tenant) => number> = {
  accounts: ({ maker }) => maker.accountId,
  agent_bots: ({ bot }) => bot.id,
  agents: ({ member }) => member.id,
  automations: ({ automation }) => automation,
  bulk: ({ bulk }) => bulk,
  bulk_actions: ({ bulkAction }) => bulkAction,
  contacts: ({ contact }) => contact,
  custom_filters: ({ customFilter }) => customFilter,
  conversations: ({ conversation }) => conversation,
  deliveries: ({ delivery }) => delivery,
  events: ({ event }) => event,
  hooks: ({ hook }) => hook,
  requests: ({ hookRequest }) => hookRequest,
  inboxes: ({ inbox }) => inbox,
  labels: ({ label }) => label.id,
  macros: ({ macro }) => macro,
  messages: ({ message }) => message,
  notifications: ({ notification }) => notification,
  recover: ({ recovery }) => recovery,
  runs: ({ run }) => run,
  secrets: ({ secret }) => secret,
  shares: ({ share }) => share,
  teams: ({ team }) => team,
  webhooks: ({ webhook }) => webhook,
};

/** The account's record of that kind. */
export function recordOf(tenant: Tenant, kind: string): number {
  const id = records[kind]?.(tenant) ?? tenant.small[kind];
  if (id === undefined) throw new Error(`No record of the kind ${kind} is there`);
  return id;
}

/** The request with another identifier in that place; lists keep their other items. */
export function substitute(request: Request, position: IdPosition, id: number): Request {
  const { name, many } = position;
  if (position.in === 'path') return { ...request, at: { ...request.at, [name]: id } };
  if (position.in === 'query') {
    const query = new URLSearchParams(request.query);
    query.set(name, String(id));
    return { ...request, query: query.toString() };
  }
  const present = request.body?.[name];
  if (present === undefined) throw new Error(`The request should have ${name} in its body`);
  return { ...request, body: { ...request.body, [name]: many ? [...(present as number[]), id] : id } };
}
