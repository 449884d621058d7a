import { MikroORM, type EntityProperty } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { entities } from '../../src/records/entities.ts';
import { TestApp } from '../support/app.ts';
import { shared } from '../support/shared-tables.ts';

/** What the ORM would change, and why that is no drift: its metadata serves reading and writing, not making tables. */
const knownDifferences: readonly [string, RegExp][] = [
  ['keys, checks and uniqueness are written in the migration only', /^alter table "\w+" drop constraint "\w+";$/],
  ['indexes are written in the migration only', /^drop index "\w+";$/],
  [
    'it would make the ids itself, and another column that the database computes, by which contacts are ordered',
    /^alter table "\w+" drop column "id"(, drop column "activity_order")?;$/,
  ],
  ['the other half of it', /^alter table "\w+" add "id" bigserial primary key;$/],
  [
    'it does not know the default again that the database has',
    /^alter table "(agent_bots|webhooks)" alter column "secret_id" set default nextval\('signing_secret_ids'::regclass\);$/,
  ],
  ['a trigger refuses a bot of another account', /^drop trigger if exists "\w+_agent_bot" on "\w+";$/],
  [
    'a trigger refuses a channel of another account',
    /^drop (trigger|function) if exists "(inboxes_)?inboxes_channel_tenant(_fn)?".*;$/,
  ],
  ['triggers keep versions and rates', /^drop trigger if exists "webhooks_(\w*version|rate)" on "webhooks";$/],
  ['and have functions', /^drop function if exists "webhooks_webhooks_(\w*version|rate)_fn"\(\);$/],
  ['it takes a trigger to have a function of its own', /^drop function if exists "\w+_agent_bot_fn"\(\);$/],
];

/** Columns account_id that may be empty, and why. */
const sharedRows: Readonly<Record<string, string>> = {
  agent_bots: 'system bots serve every account',
  audit_log: 'an entry without an account is about the platform',
  audit_chains: 'as of audit_log',
  idempotency_keys: 'only those of contacts fall with the contact',
};
/** References by one column into a tenant table, and what keeps them within the tenant. */
const triggered = 'refuse_foreign_agent_bot';
/** Tenant tables that refer to nothing: rows of a moment, whose reader looks for what they name. */
const queues: Readonly<Record<string, string>> = {
  unplaced_events: 'placing leaves out events that are gone',
  exhausted_deliveries: 'reporting leaves out deliveries that are gone',
};
/** Uniqueness over all tenants, and why. */
const globallyUnique: Readonly<Record<string, string>> = {
  inboxes_identifier_unique: 'customers name an inbox without naming an account',
  invitations_token_unique: 'an invitation is looked up by its token alone',
  stream_tickets_hash_unique: "a ticket is looked up by its hash, and the account it is for must be the path's",
  sign_in_links_hash_unique: 'a link is looked up by its hash alone',
  contact_tokens_hash_unique: 'a customer is looked up by the token alone',
};

interface Column {
  table_name: string;
  column_name: string;
  type: string;
  nullable: boolean;
  has_default: boolean;
}

interface Constraint {
  name: string;
  type: 'f' | 'p' | 'u';
  table: string;
  columns: string[];
  target: string | null;
  on_delete: string;
}

const columnsStatement = `
  SELECT c.relname AS table_name, a.attname AS column_name, format_type(a.atttypid, a.atttypmod) AS type,
    NOT a.attnotnull AS nullable, a.atthasdef OR a.attidentity <> '' AS has_default
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped`;

const constraintsStatement = `
  SELECT k.conname AS name, k.contype AS type, k.conrelid::regclass::text AS table,
    ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)) AS columns,
    nullif(k.confrelid, 0)::regclass::text AS target, k.confdeltype AS on_delete
  FROM pg_constraint k WHERE k.connamespace = 'public'::regnamespace AND k.contype IN ('f', 'p', 'u')`;

const typeNames: Readonly<Record<string, string>> = { timestamptz: 'timestamp with time zone', int: 'integer' };

/** Two accounts with one of everything that can be referred to. */
async function makeTenants(app: TestApp): Promise<Record<string, [own: number, other: number]>> {
  const ids: Record<string, [number, number]> = {};
  const insert = async (table: string, columns: string, values: string): Promise<void> => {
    const made: number[] = [];
    for (const account of [1, 2]) {
      const [row] = await app.query<{ id: number }>(
        `INSERT INTO ${table} (account_id, ${columns}) VALUES ($1, ${values.replaceAll('#', String(account))}) RETURNING id`,
        [account],
      );
      made.push(row?.id ?? 0);
    }
    ids[table] = [made[0] ?? 0, made[1] ?? 0];
  };
  await app.query(`INSERT INTO accounts (id, name) VALUES (2, 'Other')`);
  await app.query(`INSERT INTO users (id, name, email) VALUES (1000, 'Other', 'other@example.com')`);
  for (const account of [1, 2]) {
    const statement = `INSERT INTO seats (account_id, id, name, email) VALUES ($1, $2, 'Other', 'other@example.com')`;
    await app.query(statement, [account, 1000 + account]);
  }
  ids['seats'] = [1001, 1002];
  await app.query(`INSERT INTO agents (account_id, user_id, role) VALUES (2, 1002, 'agent')`);
  await insert('agent_bots', 'name, kind, plugin_id, events', `'Bot', 'plugin', 'x', '{}'`);
  await insert('inboxes', 'name, channel_type, identifier', `'Inbox', 'Channel::Api', 'inbox-#'`);
  await insert('contacts', 'name', `'Customer'`);
  await insert('teams', 'name', `'Team'`);
  await insert('labels', 'title', `'label'`);
  for (const [index, account] of [1, 2].entries()) {
    const [row] = await app.query<{ id: number }>(
      `INSERT INTO conversations (account_id, inbox_id, contact_id, status) VALUES ($1, $2, $3, 'open') RETURNING id`,
      [account, ids['inboxes']?.[index], ids['contacts']?.[index]],
    );
    (ids['conversations'] ??= [0, 0])[index] = row?.id ?? 0;
  }
  await insert('events', 'name', `'contact_created'`);
  await insert('lanes', 'endpoint_kind, endpoint_id, subject_kind, subject_id', `'webhook', 1, 'contact', 1`);
  return ids;
}

/** Writes of account 1 that refer to account 2; `$1` its own row, `$2` the other's. */
const intrusions: readonly [title: string, own: string, other: string, statement: string][] = [
  [
    'a conversation in its inbox',
    'contacts',
    'inboxes',
    `INSERT INTO conversations (account_id, contact_id, inbox_id, status) VALUES (1, $1, $2, 'open')`,
  ],
  [
    'a conversation with its contact',
    'inboxes',
    'contacts',
    `INSERT INTO conversations (account_id, inbox_id, contact_id, status) VALUES (1, $1, $2, 'open')`,
  ],
  ['a conversation for its team', 'conversations', 'teams', 'UPDATE conversations SET team_id = $2 WHERE id = $1'],
  [
    'a conversation for its bot',
    'conversations',
    'agent_bots',
    'UPDATE conversations SET agent_bot_id = $2 WHERE id = $1',
  ],
  ['an inbox for its bot', 'inboxes', 'agent_bots', 'UPDATE inboxes SET agent_bot_id = $2 WHERE id = $1'],
  [
    'a message in its conversation',
    'contacts',
    'conversations',
    `INSERT INTO messages (account_id, sender_kind, sender_id, conversation_id, message_type, content) VALUES (1, 'contact', $1, $2, 'incoming', 'x')`,
  ],
  [
    'its contact in an inbox',
    'contacts',
    'inboxes',
    `INSERT INTO contact_inboxes (account_id, contact_id, inbox_id, source_id, admits) VALUES (1, $1, $2, 'x', true)`,
  ],
  [
    'a note on its contact',
    'contacts',
    'contacts',
    `INSERT INTO contact_notes (account_id, contact_id, content) SELECT 1, $2, 'x' WHERE $1 > 0`,
  ],
  [
    'a note by its agent',
    'contacts',
    'seats',
    `INSERT INTO contact_notes (account_id, contact_id, user_id, content) VALUES (1, $1, $2, 'x')`,
  ],
  [
    'an agent in its seat',
    'seats',
    'seats',
    `INSERT INTO agents (account_id, user_id, role) SELECT 1, $2, 'agent' WHERE $1 > 0`,
  ],
  [
    'an invitation to its seat',
    'seats',
    'seats',
    `INSERT INTO invitations (account_id, user_id, token_hash, expires_at) SELECT 1, $2, 'x', now() WHERE $1 > 0`,
  ],
  [
    'its label',
    'conversations',
    'labels',
    'INSERT INTO conversation_labels (account_id, conversation_id, label_id) VALUES (1, $1, $2)',
  ],
  [
    'a label on its conversation',
    'labels',
    'conversations',
    'INSERT INTO conversation_labels (account_id, label_id, conversation_id) VALUES (1, $1, $2)',
  ],
  [
    'a webhook for its inbox',
    'inboxes',
    'inboxes',
    `INSERT INTO webhooks (account_id, inbox_id, url, subscriptions, secret) SELECT 1, $2, 'x', '{}', 'x' WHERE $1 > 0`,
  ],
  [
    'an event of its conversation',
    'contacts',
    'conversations',
    `INSERT INTO events (account_id, contact_id, conversation_id, name) VALUES (1, $1, $2, 'x')`,
  ],
  [
    'a place in the feed for its event',
    'events',
    'events',
    'INSERT INTO event_feed (account_id, position, event_id) SELECT 1, 1000000, $2 WHERE $1 > 0',
  ],
  [
    'a delivery of its event',
    'lanes',
    'events',
    `INSERT INTO deliveries (account_id, lane_id, event_id, endpoint_kind, endpoint_id) VALUES (1, $1, $2, 'webhook', 1)`,
  ],
  [
    'a delivery in its lane',
    'events',
    'lanes',
    `INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id) VALUES (1, $1, $2, 'webhook', 1)`,
  ],
  [
    'a file in its conversation',
    'contacts',
    'conversations',
    'INSERT INTO attachments (account_id, conversation_id) SELECT 1, $2 WHERE $1 > 0',
  ],
  [
    'a run of its bot',
    'conversations',
    'agent_bots',
    `INSERT INTO bot_runs (account_id, conversation_id, agent_bot_id, event_id, attempt, plugin_id, plugin_version, bundle_hash, config, seed, clock, outcome, actions, logs, wall_ms) SELECT 1, $1, $2, min(id), 1, 'x', '1', 'x', '{}', 1, now(), 'ok', '[]', '[]', 1 FROM events WHERE account_id = 1`,
  ],
];

/** What an entity's property says that its column does not, or null. */
function differenceOf(property: EntityProperty, column: Column | undefined): string | null {
  const [type = ''] = property.columnTypes;
  if (!column) return 'is missing';
  if (column.type !== (typeNames[type] ?? type)) return `is ${column.type}, not ${type}`;
  if (column.nullable !== (property.nullable ?? false)) return 'differs in nullability';
  const hasDefault = [property.default, property.defaultRaw, property.primary].some((given) => given !== undefined);
  return hasDefault && !column.has_default ? 'has no default' : null;
}

class Undo extends Error {}

/** Whether the database takes a statement, which is undone then. */
async function undone(app: TestApp, statement: string, parameters: readonly unknown[]): Promise<boolean> {
  const trial = app.app.database.transaction(async (sql) => {
    await sql(statement, parameters);
    throw new Undo();
  });
  return trial.catch((error: unknown) => {
    if (error instanceof Undo) return true;
    throw error;
  });
}

describe('the database', () => {
  let app: TestApp;
  let orm: MikroORM;
  let columns: Column[];
  let constraints: Constraint[];

  before(async () => {
    app = await TestApp.start({ engine: false });
    orm = new MikroORM({ clientUrl: app.databaseUrl, entities: [...entities], forceUtcTimezone: true });
    columns = await app.query<Column>(columnsStatement);
    constraints = await app.query<Constraint>(constraintsStatement);
  });

  after(() => Promise.all([orm.close(true), app.stop()]));

  const columnsOf = (table: string): Column[] => columns.filter(({ table_name: name }) => name === table);
  const isTenant = (table: string): boolean => columnsOf(table).some(({ column_name: name }) => name === 'account_id');

  it('has every column that an entity has, of the same type, as nullable', () => {
    const known = [...orm.getMetadata().getAll().values()];
    expect(known.length).to.be.above(8);
    const problems = known.flatMap(({ tableName, properties }) =>
      Object.values(properties).map((property) => {
        const [name = ''] = property.fieldNames;
        const column = columnsOf(tableName).find(({ column_name: present }) => present === name);
        const difference = differenceOf(property, column);
        return difference && `${tableName}.${name} ${difference}`;
      }),
    );
    expect(problems.filter(Boolean)).to.deep.equal([]);
  });

  it('differs from the metadata in nothing but what the migration alone knows', async () => {
    const update = await orm.schema.getUpdateSchemaSQL({
      safe: false,
      dropTables: false,
      wrap: false,
    });
    const lines = update.split('\n').filter((line) => line !== '');
    expect(lines.length).to.be.above(0);
    expect(lines.filter((line) => !knownDifferences.some(([, shape]) => shape.test(line)))).to.deep.equal([]);
    for (const [why, shape] of knownDifferences)
      expect(
        lines.some((line) => shape.test(line)),
        why,
      ).to.equal(true);
  });

  it('would be told apart from metadata that has drifted', () => {
    const drifted = [
      'alter table "contacts" add "nickname" text not null;',
      'alter table "contacts" drop column "email";',
    ];
    for (const line of drifted)
      expect(
        knownDifferences.some(([, shape]) => shape.test(line)),
        line,
      ).to.equal(false);
  });

  it('keeps every table within its account', () => {
    const tables = [...new Set(columns.map(({ table_name: name }) => name))];
    expect(tables.filter((table) => !isTenant(table) && !shared[table])).to.deep.equal([]);
    const loose = tables.filter((table) =>
      columnsOf(table).some((column) => column.column_name === 'account_id' && column.nullable),
    );
    expect(loose.filter((table) => !sharedRows[table])).to.deep.equal([]);
    const unbound = tables.filter(
      (table) =>
        isTenant(table) &&
        !constraints.some(
          ({ type, table: name, columns: own }) => type === 'f' && name === table && own.includes('account_id'),
        ),
    );
    expect(unbound.filter((table) => !queues[table])).to.deep.equal([]);
  });

  it('refers from account to account by keys that hold the account', async () => {
    const references = constraints.filter(
      ({ type, table, target }) => type === 'f' && isTenant(table) && isTenant(target ?? ''),
    );
    expect(references.length).to.be.above(15);
    const guarded = await app.query<{ table: string }>(
      `SELECT t.tgrelid::regclass::text AS table FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
       WHERE NOT t.tgisinternal AND p.proname = $1`,
      [triggered],
    );
    const open = references.filter(({ table, target, columns: own }) => {
      if (own.includes('account_id')) return false;
      return target !== 'agent_bots' || !guarded.some((trigger) => trigger.table === table);
    });
    expect(open.map(({ name }) => name)).to.deep.equal([]);
    const emptied = references.filter(
      ({ on_delete: action, columns: own }) => action === 'n' && own.includes('account_id'),
    );
    expect(
      emptied.map(({ name }) => name),
      'ON DELETE SET NULL would empty account_id too',
    ).to.deep.equal([]);
  });

  it('refers to persons from seats and ways to sign in alone', () => {
    const tables = constraints
      .filter(({ type, target }) => type === 'f' && target === 'users')
      .map(({ table }) => table);
    expect(tables).to.have.members(['access_tokens', 'passwords', 'seats', 'second_factors', 'sign_in_links']);
  });

  it('has no uniqueness over all accounts but where one is looked up without its account', () => {
    const wide = constraints.filter(
      ({ type, table, columns: own }) => type === 'u' && isTenant(table) && !own.includes('account_id'),
    );
    expect(wide.map(({ name }) => name).filter((name) => !globallyUnique[name])).to.deep.equal([]);
  });

  it('refuses every reference of one account to another', async () => {
    const ids = await makeTenants(app);
    for (const [title, own, other, statement] of intrusions) {
      const parameters = [ids[own]?.[0], ids[other]?.[1]];
      const refusal = await app.query(statement, parameters).then(
        () => 'let through',
        (error: { code?: string; cause?: { code?: string } }) => error.code ?? error.cause?.code,
      );
      expect(refusal, title).to.equal('23503');
      // The same with what is its own: it was the account that was refused.
      if (own === other) continue;
      const isTaken = await undone(app, statement, [ids[own]?.[0], ids[other]?.[0]]);
      expect(isTaken, title).to.equal(true);
    }
  });
});
