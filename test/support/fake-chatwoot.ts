import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// Any value may stand in any field: that is what the import is tested with.
type Foreign = Record<string, unknown>;

/** What an account of the fake has; ids of conversations are those of its API. */
export interface ForeignAccount {
  id: number;
  inboxes: Foreign[];
  inboxMembers: Record<number, number[]>;
  agents: Foreign[];
  teams: Foreign[];
  teamMembers: Record<number, number[]>;
  labels: Foreign[];
  /** Those with neither address, number nor identifier are not listed. */
  contacts: Foreign[];
  contactLabels: Record<number, string[]>;
  contactNotes?: Record<number, Foreign[]>;
  attributeDefinitions?: Foreign[];
  cannedResponses?: Foreign[];
  webhooks?: Foreign[];
  automationRules?: Foreign[];
  macros?: Foreign[];
  /** Lists of what is not copied, by their paths. */
  others?: Record<string, Foreign[]>;
  conversations: Foreign[];
  /** By conversation. */
  messages: Record<number, Foreign[]>;
}

/** A request that the fake got. */
export interface Asked {
  path: string;
  query: URLSearchParams;
  token: string | undefined;
}

/** Answers a request in place of the fake; false leaves it to the fake. */
type Intervention = (asked: Asked, response: ServerResponse) => boolean;

const [perContactPage, perConversationPage] = [15, 25];
const [afterLimit, betweenLimit, latestLimit] = [100, 1000, 20];

/** A server that answers as Chatwoot's REST API does, by its documentation; read only. */
export class FakeChatwoot {
  readonly token = 'token-of-their-administrator';
  readonly asked: Asked[] = [];
  readonly account: ForeignAccount;
  readonly files = new Map<string, { status: number; headers: Record<string, string>; body: Buffer }>();
  profile: Foreign;
  readonly #server: Server;
  #intervene: Intervention = () => false;

  private constructor(account: ForeignAccount) {
    this.account = account;
    this.profile = { id: 1, name: 'Theirs', accounts: [{ id: account.id, name: 'Lamps', role: 'administrator' }] };
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(account: ForeignAccount): Promise<FakeChatwoot> {
    const fake = new FakeChatwoot(account);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  intervene(intervention: Intervention): void {
    this.#intervene = intervention;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '', this.url);
    const asked = { path, query, token: request.headers['api_access_token'] as string | undefined };
    this.asked.push(asked);
    if (this.#intervene(asked, response)) return;
    const file = this.files.get(path);
    if (file) response.writeHead(file.status, file.headers).end(file.body);
    else if (asked.token !== this.token) json(response, 401, { error: 'Invalid Access Token' });
    else this.#route(asked, response);
  }

  #route({ path, query }: Asked, response: ServerResponse): void {
    const base = `/api/v1/accounts/${this.account.id}`;
    if (path === '/api/v1/profile') return json(response, 200, this.profile);
    if (!path.startsWith(`${base}/`)) return json(response, 404, { error: 'Resource could not be found' });
    const [noun = '', id = '', part = ''] = path.slice(base.length + 1).split('/');
    const found = this.#find(noun, { id: Number(id), part }, query);
    json(response, found === null ? 404 : 200, found ?? { error: 'Resource could not be found' });
  }

  #find(noun: string, { id, part }: { id: number; part: string }, query: URLSearchParams): unknown {
    const { inboxes, inboxMembers, agents, teams, teamMembers, labels } = this.account;
    const agentsOf = (ids: number[] = []) => agents.filter((agent) => ids.includes(agent['id'] as number));
    const found: Record<string, () => unknown> = {
      inboxes: () => ({ payload: inboxes }),
      inbox_members: () => ({ payload: agentsOf(inboxMembers[id]) }),
      agents: () => agents,
      teams: () => (part === 'team_members' ? agentsOf(teamMembers[id]) : teams),
      labels: () => ({ payload: labels }),
      custom_attribute_definitions: () => this.account.attributeDefinitions ?? [],
      canned_responses: () => this.account.cannedResponses ?? [],
      automation_rules: () => ({ payload: this.account.automationRules ?? [] }),
      macros: () => ({ payload: this.account.macros ?? [] }),
      webhooks: () => ({ payload: { webhooks: this.account.webhooks ?? [] } }),
      contacts: () => (id ? this.#showContact(id, part) : this.#listContacts(query)),
      conversations: () => (part === 'messages' ? this.#listMessages(id, query) : this.#listConversations(query)),
    };
    return found[noun]?.() ?? this.account.others?.[noun] ?? null;
  }

  #showContact(wanted: number, part: string): unknown {
    if (part === 'labels') return { payload: this.account.contactLabels[wanted] ?? [] };
    if (part === 'notes') return this.account.contactNotes?.[wanted] ?? [];
    const contact = this.account.contacts.find(({ id }) => id === wanted);
    return contact ? { payload: contact } : null;
  }

  #listContacts(query: URLSearchParams): unknown {
    const label = query.get('labels[]');
    const { contactLabels } = this.account;
    const listed = this.account.contacts.filter(
      ({ id, email, phone_number: phone, identifier }) =>
        (email || phone || identifier) && (!label || contactLabels[id as number]?.includes(label)),
    );
    return { meta: { count: listed.length, current_page: 1 }, payload: pageOf(listed, query, perContactPage) };
  }

  #listConversations(query: URLSearchParams): unknown {
    const status = query.get('status') ?? 'open';
    const listed = this.account.conversations.filter((one) => status === 'all' || one['status'] === status);
    const shown = pageOf(listed, query, perConversationPage).map((one) => ({
      ...one,
      messages: (this.account.messages[one['id'] as number] ?? []).slice(-1),
    }));
    const meta = { mine_count: 0, unassigned_count: 0, assigned_count: 0, all_count: listed.length };
    return { data: { meta, payload: shown } };
  }

  // Ids for the cursor, times for the order.
  #listMessages(conversation: number, query: URLSearchParams): unknown {
    const all = (this.account.messages[conversation] ?? []).toSorted((one, other) => timeOf(one) - timeOf(other));
    const [after, before] = [query.get('after'), query.get('before')].map((id) => (id === null ? null : Number(id)));
    const idOf = (message: Foreign) => Number(message['id']);
    if (after != null && before != null) {
      const between = all.filter((one) => idOf(one) >= after && idOf(one) < before);
      return { meta: {}, payload: between.slice(0, betweenLimit) };
    }
    if (after != null) return { meta: {}, payload: all.filter((one) => !(idOf(one) <= after)).slice(0, afterLimit) };
    return { meta: {}, payload: all.slice(-latestLimit) };
  }
}

function timeOf({ created_at: at }: Foreign): number {
  return typeof at === 'number' ? at : 0;
}

function pageOf(records: Foreign[], query: URLSearchParams, size: number): Foreign[] {
  const page = Number(query.get('page') ?? 1);
  return records.slice((page - 1) * size, page * size);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A small account with one of everything. */
export function smallAccount(): ForeignAccount {
  const day = 86_400;
  const then = Math.floor(Date.now() / 1000) - 100 * day;
  const at = (minutes: number) => then + minutes * 60;
  const ada = {
    id: 11,
    name: 'Ada Theirs',
    email: 'ada@theirs.example',
    role: 'administrator',
    availability_status: 'online',
  };
  const bob = { id: 12, name: 'Bob Theirs', email: 'bob@theirs.example', role: 'agent', availability_status: 'busy' };
  const mia = {
    id: 501,
    name: 'Mia Novak',
    email: 'mia@example.com',
    phone_number: '+4915112345601',
    identifier: 'crm-1',
    blocked: false,
    custom_attributes: { plan: 'plus' },
    additional_attributes: { city: 'Berlin' },
    created_at: at(0),
    last_activity_at: at(45),
    contact_inboxes: [
      { source_id: '8b8de1f6-5b5e-4a1f-9a57-3a4de6a7b001', inbox: { id: 31, channel_type: 'Channel::Api' } },
      { source_id: '4915112345601', inbox: { id: 31, channel_type: 'Channel::Api' } },
    ],
  };
  const visitor = {
    id: 502,
    name: 'late-wave-12',
    email: null,
    phone_number: null,
    identifier: null,
    created_at: at(5),
  };
  const asContact = { ...mia, type: 'contact' };
  const asUser = { id: 11, name: 'Ada Theirs', type: 'user' };
  return {
    id: 7,
    agents: [ada, bob],
    inboxes: [
      {
        id: 31,
        name: 'Shop',
        channel_type: 'Channel::Api',
        greeting_enabled: true,
        greeting_message: 'Hello!',
        timezone: 'Europe/Berlin',
      },
      { id: 32, name: 'Site', channel_type: 'Channel::WebWidget', enable_auto_assignment: true },
    ],
    inboxMembers: { 31: [11, 12], 32: [12] },
    teams: [{ id: 41, name: 'sales', description: 'Sells', allow_auto_assign: false }],
    teamMembers: { 41: [12] },
    labels: [{ id: 51, title: 'vip', description: 'Important', color: '#dc2626', show_on_sidebar: true }],
    contacts: [mia, visitor],
    contactLabels: { 501: ['vip'], 502: ['vip'] },
    conversations: [
      {
        id: 1,
        inbox_id: 31,
        status: 'open',
        priority: 'high',
        labels: ['vip'],
        unread_count: 2,
        waiting_since: at(25),
        custom_attributes: { order: 7 },
        additional_attributes: { referer: 'mail' },
        created_at: at(10),
        updated_at: at(30) + 0.25,
        last_activity_at: at(30),
        meta: { sender: mia, assignee: bob, team: { id: 41 } },
      },
      {
        id: 2,
        inbox_id: 32,
        status: 'resolved',
        labels: [],
        created_at: at(12),
        updated_at: at(40),
        last_activity_at: at(40),
        meta: { sender: visitor },
      },
      {
        id: 3,
        inbox_id: 31,
        status: 'snoozed',
        snoozed_until: new Date((then + 200 * day) * 1000).toISOString(),
        created_at: at(13),
        updated_at: at(41),
        last_activity_at: at(41),
        meta: { sender: mia },
      },
    ],
    messages: {
      1: [
        { id: 901, message_type: 0, content: 'Where is my lamp?', created_at: at(10), sender: asContact },
        { id: 902, message_type: 1, content: 'On its way.', created_at: at(12), sender: asUser, status: 'read' },
        { id: 903, message_type: 1, content: 'Call the carrier', private: true, created_at: at(13), sender: asUser },
        { id: 905, message_type: 2, content: 'Ada assigned Bob', created_at: at(14) },
        { id: 907, message_type: 0, content: 'Still nothing!', created_at: at(30), sender: asContact },
      ],
      2: [
        { id: 904, message_type: 0, content: 'Hi', created_at: at(12), sender: { ...visitor, type: 'contact' } },
        {
          id: 906,
          message_type: 1,
          content: 'Hello',
          created_at: at(13),
          sender: { id: 13, name: 'Gone Agent', type: 'user' },
        },
      ],
      3: [{ id: 908, message_type: 3, content: 'How did we do?', content_type: 'input_csat', created_at: at(41) }],
    },
  };
}
