import { createUser, grantToken } from '../../src/domain/people/users.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { newToken } from '../../src/lib/secrets/tokens.ts';
import { readText, TestApp, type TestAppOptions } from './app.ts';
import { formOf } from './archives.ts';
import { makeClient, type ClientOf } from './clients.ts';
import { Maker, type Bot } from './maker.ts';
import { addAccount, addPerson, type Person } from './people.ts';
import { makeEachSmall } from './small-resources.ts';

/** All kinds of callers, with their tokens. */
export const principals = [
  'administrator',
  'member',
  'mate',
  'outsider',
  'bot',
  'idle',
  'otherBot',
  'otherAdmin',
  'platform',
  'guest',
  'otherGuest',
  'revoked',
  'nobody',
] as const;

export type PrincipalName = (typeof principals)[number];

/** An account with people, bots and a record of each kind. */
export interface Tenant {
  maker: Maker;
  /** An administrator other than the maker's. */
  administrator: Person;
  /** An agent who is a member of the inbox. */
  member: Person;
  /** An agent who is a member of the team only. */
  mate: Person;
  /** An agent without inbox and team. */
  outsider: Person;
  /** The bot of the inbox. */
  bot: Bot;
  /** A bot that serves nothing. */
  idle: Bot;
  inbox: number;
  team: number;
  contact: number;
  note: number;
  /** A conversation of the contact in the inbox, assigned to the team, with a customer's message. */
  conversation: number;
  message: number;
  /** A run of the bot on that message. */
  run: number;
  /** A recovery of the webhook's deliveries. */
  recovery: number;
  /** A bulk action on the webhook's deliveries. */
  bulk: number;
  /** A signing secret of the webhook. */
  secret: number;
  /** A link that shares the webhook. */
  share: number;
  /** The delivery of that message to the webhook, which ended without success. */
  delivery: number;
  /** The event of that delivery. */
  event: number;
  label: { id: number; title: string };
  slaPolicy: number;
  /** A custom filter of the account's administrator. */
  customFilter: number;
  /** An automation that is off. */
  automation: number;
  /** A global macro. */
  macro: number;
  /** A notification of the account's administrator. */
  notification: number;
  /** A complete bulk action on conversations. */
  bulkAction: number;
  hook: number;
  /** A request that came to the hook. */
  hookRequest: number;
  /** The small resources, by kind. */
  small: Record<string, number>;
  webhook: number;
  /** A web page's inbox, with the bot and the member. */
  widget: { id: number; identifier: string };
  guest: { contactId: number; headers: Record<string, string> };
  /** A client of the inbox, by the public API, in a conversation with a question to it. */
  client: ClientOf;
}

type Building = Partial<Tenant> & { maker: Maker };
type Step = (tenant: Tenant) => Promise<Partial<Tenant>>;

// Accounts alternate, so that ids of one account lie between those of the other.
const steps: Step[] = [
  async ({ maker }) => ({ administrator: await maker.agent('administrator') }),
  async ({ maker }) => ({ member: await maker.agent() }),
  async ({ maker }) => ({ mate: await maker.agent() }),
  async ({ maker }) => ({ outsider: await maker.agent() }),
  async ({ maker }) => ({ bot: await maker.bot() }),
  async ({ maker }) => ({ idle: await maker.bot() }),
  async ({ maker, member, bot }) => ({ inbox: await maker.inbox({ members: [member], bot }) }),
  async ({ maker, member, bot }) => {
    const id = await maker.inbox({ members: [member], bot, channel_type: 'Channel::WebWidget' });
    return { widget: { id, identifier: (await maker.call('GET', `inboxes/${id}`)).identifier } };
  },
  async ({ maker, mate }) => ({ team: await maker.team([mate]) }),
  async ({ maker }) => ({ label: await maker.label() }),
  async ({ maker }) => {
    const small = await makeEachSmall(maker);
    return { small, slaPolicy: small['sla_policies']! };
  },
  async ({ maker, administrator }) => ({ customFilter: await maker.customFilter(administrator.headers) }),
  async ({ maker }) => ({ automation: await maker.automation() }),
  async ({ maker }) => ({ macro: await maker.macro() }),
  async ({ maker }) => ({ hook: await maker.hook() }),
  async ({ maker, hook }) => ({ hookRequest: await maker.hookRequest(hook) }),
  async ({ maker }) => ({ webhook: await maker.webhook() }),
  async ({ maker }) => ({ contact: await maker.contact() }),
  async ({ maker, contact }) => ({ note: await maker.note(contact) }),
  async ({ maker, inbox, contact, team }) => ({
    conversation: await maker.conversation(inbox, { contact_id: contact, team_id: team }),
  }),
  async ({ maker, conversation }) => ({ message: await maker.message(conversation) }),
  async ({ maker, conversation, administrator }) => ({
    notification: await maker.notification(conversation, administrator),
  }),
  async ({ maker, conversation }) => ({ bulkAction: await maker.bulkAction(conversation) }),
  async ({ maker, conversation, bot }) => ({ run: await maker.run(conversation, bot) }),
  async ({ maker, conversation, webhook }) => ({ delivery: await maker.delivery(conversation, webhook) }),
  async ({ maker, delivery }) => ({ event: (await maker.call('GET', `deliveries/${delivery}`)).event_id as number }),
  async ({ maker, webhook }) => ({ recovery: await maker.recovery(webhook) }),
  async ({ maker, webhook }) => ({ bulk: await maker.bulk(webhook) }),
  async ({ maker, webhook }) => ({ secret: await maker.secret(webhook) }),
  async ({ maker, webhook }) => ({ share: await maker.share(webhook) }),
  async ({ maker, widget }) => ({ guest: await maker.visitor(widget.id) }),
  async ({ maker, inbox }) => ({ client: await makeClient(maker, inbox) }),
  async ({ maker, widget, guest }) => {
    await maker.message(await maker.conversation(widget.id, { contact_id: guest.contactId }));
    return {};
  },
];

/** Creates people, bots and a record of each kind in the accounts, alternating. */
export async function furnish(makers: readonly Maker[]): Promise<Tenant[]> {
  const tenants: Building[] = makers.map((maker) => ({ maker }));
  for (const step of steps) {
    for (const tenant of tenants) Object.assign(tenant, await step(tenant as Tenant));
  }
  return tenants as Tenant[];
}

async function addPlatformAdministrator(app: TestApp): Promise<Person> {
  const sql = app.app.database.sql;
  const profile = { name: 'Platform', email: 'platform@example.com', confirmed: true, platformAdmin: true };
  const { id } = await createUser(sql, profile, new Date());
  const token = newToken('user', systemRandom);
  await grantToken(sql, id, token, new Date());
  return { id, headers: { api_access_token: token } };
}

const uploads = /^\/platform\/api\/v1\/plugins$|\/articles\/import$/;

/** The body of an upload, which is sent as a form. */
interface Upload extends Record<string, string> {
  /** One character for each byte. */
  file: string;
}

/** A body as it is sent, and its type. */
function contentOf(
  method: string,
  path: string,
  body: object | undefined,
): { body: string | FormData; headers: Record<string, string> } {
  if (method === 'POST' && uploads.test(path) && body) return { body: formWith(body as Upload), headers: {} };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

function formWith({ file, ...fields }: Upload): FormData {
  const form = formOf(Buffer.from(file, 'latin1'));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

const profileReset = '/api/v1/profile/reset_access_token';

/** A raw answer; `body` is parsed if it is JSON. */
export interface Reply {
  status: number;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** Two accounts with alternating ids, and all kinds of callers. */
export class World {
  readonly app: TestApp;
  readonly home: Tenant;
  readonly other: Tenant;
  readonly platform: Person;
  readonly #headers: Record<PrincipalName, Record<string, string>>;

  private constructor(
    app: TestApp,
    [home, other]: Tenant[],
    { platform, revoked }: { platform: Person; revoked: Person },
  ) {
    this.app = app;
    this.home = home!;
    this.other = other!;
    this.platform = platform;
    this.#headers = {
      administrator: home!.administrator.headers,
      member: home!.member.headers,
      mate: home!.mate.headers,
      outsider: home!.outsider.headers,
      bot: home!.bot.headers,
      idle: home!.idle.headers,
      otherBot: other!.bot.headers,
      otherAdmin: other!.administrator.headers,
      platform: platform.headers,
      guest: home!.guest.headers,
      otherGuest: other!.guest.headers,
      revoked: revoked.headers,
      nobody: {},
    };
  }

  static async build(options: TestAppOptions = {}): Promise<World> {
    // Nothing listens there: mail goes nowhere, and links are in no answer.
    const mail = { smtpUrl: 'smtp://127.0.0.1:9', mailFrom: 'desk@example.com' };
    const config = { widgetSessionsPerMinute: 0, ...mail, ...options.config };
    const app = await TestApp.start({ engine: false, ...options, config });
    const administrator = await addPerson(app, { name: 'Alpha keeper', role: 'administrator' });
    const elsewhere = await addAccount(app, 'Bravo');
    const revoked = await addPerson(app, { name: 'Alpha revoked', role: 'administrator' });
    const tenants = await furnish([
      new Maker(app, 1, { mark: 'Alpha', administrator }),
      new Maker(app, elsewhere.id, { mark: 'Bravo', administrator: elsewhere.administrator }),
    ]);
    await app.post(profileReset, {}, revoked.headers);
    return new World(app, tenants, { platform: await addPlatformAdministrator(app), revoked });
  }

  headersOf(name: PrincipalName): Record<string, string> {
    return this.#headers[name];
  }

  /** Calls as the principal, with its token only. A principal that resets its token uses the new one afterwards. */
  async send(
    name: PrincipalName,
    { method, path, body, headers }: { method: string; path: string; body?: object; headers?: Record<string, string> },
  ): Promise<Reply> {
    const content = contentOf(method, path, body);
    const response = await fetch(this.app.url + path, {
      method,
      headers: { ...content.headers, ...this.#headers[name], ...headers },
      ...(body && method !== 'GET' ? { body: content.body } : {}),
    });
    const text = await readText(response);
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const reply: Reply = { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
    if (path === profileReset && reply.status === 200) {
      this.#headers[name] = { api_access_token: reply.body.access_token };
    }
    return reply;
  }

  stop(): Promise<void> {
    return this.app.stop();
  }
}
