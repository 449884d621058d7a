import { pluginArchive, upload } from './archives.ts';
import { atClient, makeClient } from './clients.ts';
import { codeOf } from './one-time-codes.ts';
import type { Prepare, Request } from './operations.ts';
import { signInAt } from './sign-in.ts';
import type { PrincipalName, Tenant, World } from './world.ts';

const nothing: Prepare = () => ({});
const atWidget = ({ widget }: Tenant): Request => ({ at: { identifier: widget.identifier } });

let made = 0;

/** Creates a record as the first platform administrator; returns its id. */
async function make(world: World, what: string, fields: object = {}): Promise<number> {
  made += 1;
  const name = `Charlie ${made}`;
  const path = `/platform/api/v1/${what}`;
  const answer = await world.app.post(path, { name, ...fields });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

const password = 'charlie has a long one';
const profile = () => ({ name: 'Charlie', email: `charlie.${(made += 1)}@example.com` });
const server = { name: 'Charlie', outgoing_url: 'https://127.0.0.1:9/' };

function on(what: string, fields: () => object, body: object = {}): Prepare {
  return async (_, world) => ({ at: { id: await make(world, what, fields()) }, body: { ...body } });
}

const onAccount = (body: object = {}) => on('accounts', () => ({}), body);
const onUser = (body: object = {}) => on('users', profile, body);
const onSystemBot = (body: object = {}) => on('agent_bots', () => server, body);

const newPlugin = (): string => `charlie-${(made += 1)}`;

/** An installed plugin; `waiting`: with a version that waits for approval. */
function onPlugin(body: object = {}, { waiting = false } = {}): Prepare {
  return async (_, { app }) => {
    const plugin = newPlugin();
    await upload(app, pluginArchive({ id: plugin }));
    if (!waiting) return { at: { plugin }, body: { ...body } };
    const wider = { id: plugin, version: '2.0.0', permissions: { conversation: ['reply', 'note'] } };
    const { version, hash } = (await upload(app, pluginArchive(wider))).body.pending;
    return { at: { plugin }, body: { version, hash } };
  };
}

/** A new sign-in of a person, with the present token: its reset is one of these requests. */
export async function signInOf(world: World, name: PrincipalName): Promise<Request> {
  const headers = world.headersOf(name);
  await signInAt(world.app.url, { access_token: headers['api_access_token'] ?? '' });
  const { payload } = (await world.app.get('/api/v1/profile/access_tokens', headers)).body;
  return { at: { id: payload[0].id } };
}

/** The plugin of this repository, which stays as it is. */
const onShipped =
  (body: object = {}): Prepare =>
  () => ({ at: { plugin: 'faq' }, body: { ...body } });

const clients = '/public/api/v1/inboxes/:identifier/contacts';
const client = `${clients}/:contact_identifier`;
const own = `${client}/conversations/:conversation_id`;

const asClient =
  (body?: object): Prepare =>
  ({ client: present }) => ({
    at: { ...atClient(present), conversation_id: present.conversation, message_id: present.message },
    ...(body ? { body: { ...body } } : {}),
  });

/** As a new client, whose conversation the request changes. */
const asNewClient =
  (body?: object): Prepare =>
  async ({ maker, inbox, ...home }) =>
    asClient(body)({ ...home, maker, inbox, client: await makeClient(maker, inbox) }, {} as World);

/** Requests of the clients of inboxes. */
export const clientOperations: Record<string, Prepare> = {
  [`POST ${clients}`]: ({ client: { identifier }, maker }) => ({
    at: { identifier },
    body: { name: maker.text('client') },
  }),
  [`GET ${client}`]: asClient(),
  [`PATCH ${client}`]: async (home, world) => asNewClient({ name: home.maker.text('client') })(home, world),
  [`GET ${client}/conversations`]: asClient(),
  [`POST ${client}/conversations`]: asClient({}),
  [`GET ${own}`]: asClient(),
  [`POST ${own}/toggle_status`]: asNewClient(),
  [`POST ${own}/toggle_typing`]: asClient({ typing_status: 'on' }),
  [`POST ${own}/update_last_seen`]: asNewClient(),
  [`GET ${own}/messages`]: asClient(),
  [`POST ${own}/messages`]: async (home, world) => asClient({ content: home.maker.text('message') })(home, world),
  [`PATCH ${own}/messages/:message_id`]: asNewClient({ submitted_values: [{ title: 'Yes', value: 'yes' }] }),
};

/** The code of a second factor that the member begins. */
export async function newFactor(_: Tenant, world: World): Promise<Request> {
  const { secret } = (await world.app.post('/api/v1/profile/security/second_factor', {}, world.headersOf('member')))
    .body;
  return { body: { code: codeOf(secret) } };
}

/** A recovery code of a second factor that the member confirms. */
export async function recoveryCode(home: Tenant, world: World): Promise<Request> {
  await world.app.query('DELETE FROM second_factors');
  const { body } = await newFactor(home, world);
  const path = '/api/v1/profile/security/second_factor/confirm';
  const confirmed = await world.app.post(path, body, world.headersOf('member'));
  return { body: { code: confirmed.body.recovery_codes[0] } };
}

/** Requests outside of accounts. */
export const outerOperations: Record<string, Prepare> = {
  'GET /api/v1/profile': nothing,
  'POST /api/v1/profile/reset_access_token': nothing,
  'GET /api/v1/profile/access_tokens': nothing,
  'DELETE /api/v1/profile/access_tokens/:id': (_, world) => signInOf(world, 'administrator'),
  'GET /sign_in': nothing,
  // With the administrator's present token: its reset is one of these requests.
  'POST /sign_in': (_, world) => ({ body: { access_token: world.headersOf('administrator')['api_access_token'] } }),
  'DELETE /sign_in': nothing,
  'GET /sign_in/methods': nothing,
  'POST /sign_in/oidc': nothing,
  'GET /sign_in/oidc/callback': nothing,
  'POST /sign_in/links': () => ({ body: { email: profile().email } }),
  'GET /api/v1/profile/security': nothing,
  'POST /api/v1/profile/security/password': () => ({ body: { password, current_password: password } }),
  'DELETE /api/v1/profile/security/password': () => ({ body: { current_password: password } }),
  'DELETE /api/v1/profile/sign_ins': nothing,
  'POST /api/v1/profile/security/second_factor': nothing,
  // None was begun.
  'POST /api/v1/profile/security/second_factor/confirm': () => ({ body: { code: '000000' } }),
  'POST /api/v1/profile/security/second_factor/recovery_codes': () => ({ body: { code: '000000' } }),
  'DELETE /api/v1/profile/security/second_factor': () => ({ body: { code: '000000' } }),
  'GET /invitations/:token': async ({ maker }) => ({ at: { token: (await maker.invitee()).token } }),
  'POST /invitations/:token': async ({ maker }) => ({ at: { token: (await maker.invitee()).token } }),
  'GET /healthz': nothing,
  'GET /api': nothing,
  'GET /readyz': nothing,
  'GET /openapi.json': nothing,

  'GET /public/api/v1/inboxes/:identifier': atWidget,
  'POST /public/api/v1/inboxes/:identifier/sessions': (home) => ({
    ...atWidget(home),
    body: { name: home.maker.text('visitor') },
  }),
  'GET /public/api/v1/inboxes/:identifier/conversation': atWidget,
  'GET /public/api/v1/inboxes/:identifier/messages': atWidget,
  'POST /public/api/v1/inboxes/:identifier/messages': (home) => ({
    ...atWidget(home),
    body: { content: home.maker.text('message') },
  }),
  'POST /public/api/v1/inboxes/:identifier/update_last_seen': atWidget,
  'GET /public/api/v1/inboxes/:identifier/events': atWidget,

  'GET /platform/api/v1/accounts': nothing,
  'GET /platform/api/v1/accounts/:id': onAccount(),
  'POST /platform/api/v1/accounts': () => ({ body: { name: 'Charlie' } }),
  'PATCH /platform/api/v1/accounts/:id': onAccount({ name: 'Delta' }),
  'DELETE /platform/api/v1/accounts/:id': onAccount(),
  'GET /platform/api/v1/accounts/:id/account_users': onAccount(),
  'POST /platform/api/v1/accounts/:id/account_users': async (_, world) => ({
    at: { id: await make(world, 'accounts') },
    body: { user_id: await make(world, 'users', profile()), role: 'agent' },
  }),
  'DELETE /platform/api/v1/accounts/:id/account_users': async ({ maker }) => ({
    at: { id: maker.accountId },
    body: { user_id: (await maker.agent()).id },
  }),
  'GET /platform/api/v1/users/:id': onUser(),
  'POST /platform/api/v1/users': () => ({ body: profile() }),
  'PATCH /platform/api/v1/users/:id': onUser({ name: 'Delta' }),
  'POST /platform/api/v1/users/:id/reset_access_token': onUser(),
  'DELETE /platform/api/v1/users/:id': onUser(),
  'GET /platform/api/v1/agent_bots': nothing,
  'GET /platform/api/v1/agent_bots/:id': onSystemBot(),
  'POST /platform/api/v1/agent_bots': () => ({ body: server }),
  'PATCH /platform/api/v1/agent_bots/:id': onSystemBot({ name: 'Delta' }),
  'POST /platform/api/v1/agent_bots/:id/reset_access_token': onSystemBot(),
  'POST /platform/api/v1/agent_bots/:id/reset_secret': onSystemBot(),
  'POST /platform/api/v1/agent_bots/:id/release': onSystemBot(),
  'DELETE /platform/api/v1/agent_bots/:id': onSystemBot(),
  'GET /platform/api/v1/audit_log': nothing,
  'GET /platform/api/v1/backlogs': nothing,
  'GET /platform/api/v1/ledger': nothing,
  'GET /platform/api/v1/plugins': nothing,
  'GET /platform/api/v1/plugins/:plugin': onShipped(),
  'POST /platform/api/v1/plugins': () => ({ body: { file: pluginArchive({ id: newPlugin() }).toString('latin1') } }),
  'PATCH /platform/api/v1/plugins/:plugin': onShipped({ enabled: true }),
  'DELETE /platform/api/v1/plugins/:plugin': onPlugin(),
  'GET /platform/api/v1/plugins/:plugin/versions': onShipped(),
  'POST /platform/api/v1/plugins/:plugin/approve': onPlugin({}, { waiting: true }),
  'POST /platform/api/v1/plugins/:plugin/reject': onPlugin({}, { waiting: true }),
  'POST /platform/api/v1/plugins/:plugin/enable': onShipped(),
  'POST /platform/api/v1/plugins/:plugin/disable': onPlugin(),
};
