import * as fc from 'fast-check';
import { Pool, type Dispatcher } from 'undici';
import { routes } from '../../../src/api/index.ts';
import type { Route } from '../../../src/http/route/route.ts';
import { hashToken } from '../../../src/lib/secrets/tokens.ts';
import { findProblems } from '../../../src/schemas.ts';
import type { TestApp } from '../app.ts';
import { changedTables, readDigest, type Digest } from '../digest.ts';
import { requestsTo, type FuzzRequest } from './requests.ts';

/** The result of a run of the fuzzer. */
export interface FuzzReport {
  requests: number;
  /** Operations that were not reached. */
  missed: number;
  statuses: Record<string, number>;
  /** A request, and what was wrong about its answer. */
  violations: string[];
  /** Batches of refused requests after which the database was compared. */
  comparedBatches: number;
  /** Conversations that were compared after calls by a silent bot. */
  silentConversations: number;
}

// Requests to an operation between two looks at the database.
const maxBatchSize = 100;
const connections = 8;
const maxViolations = 20;
const tokens = { administrator: 'fuzz-administrator', platform: 'fuzz-platform' };
const botToken = 'fuzz-bot';
const compared = /^(2\d\d|3\d\d)$/;

// The fuzzer resets tokens, demotes and removes people: it must not lock itself out.
async function restoreCallers(app: TestApp): Promise<void> {
  await app.query(
    `INSERT INTO users (id, name, email, confirmed, platform_admin) VALUES (900001, 'Fuzzer', 'fuzzer@example.com', true, true)
     ON CONFLICT DO NOTHING`,
  );
  await app.query(`UPDATE users SET platform_admin = true, confirmed = true WHERE id = 900001`);
  await app.query(
    `UPDATE seats SET person_id = NULL, email = id || '@example.com'
     WHERE account_id = 1 AND id <> 900001 AND (person_id = 900001 OR lower(email) = 'fuzzer@example.com')`,
  );
  await app.query(
    `INSERT INTO seats (account_id, id, person_id, name, email) VALUES (1, 900001, 900001, 'Fuzzer', 'fuzzer@example.com')
     ON CONFLICT (account_id, id) DO UPDATE SET person_id = 900001, left_at = NULL`,
  );
  await app.query(
    `INSERT INTO agents (account_id, user_id, role) VALUES (1, 900001, 'administrator')
     ON CONFLICT (account_id, user_id) DO UPDATE SET role = 'administrator'`,
  );
  await app.query(
    `INSERT INTO access_tokens (user_id, token_hash, last_four) SELECT 900001, unnest($1::bytea[]), 'test' ON CONFLICT DO NOTHING`,
    [Object.values(tokens).map(hashToken)],
  );
}

async function restoreRecords(app: TestApp): Promise<string> {
  await app.query(
    `INSERT INTO inboxes (id, account_id, name, channel_type, identifier)
     SELECT n, 1, 'inbox ' || n, 'Channel::WebWidget', 'fuzz-' || n FROM generate_series(1, 4) n ON CONFLICT DO NOTHING`,
  );
  await app.query(
    `INSERT INTO contacts (id, account_id, name) SELECT n, 1, 'contact ' || n FROM generate_series(1, 12) n ON CONFLICT DO NOTHING`,
  );
  await app.query(
    `INSERT INTO conversations (id, account_id, inbox_id, contact_id, status)
     SELECT n, 1, 1 + n % 4, n, 'open' FROM generate_series(1, 12) n ON CONFLICT DO NOTHING`,
  );
  const [inbox] = await app.query<{ identifier: string }>(
    'SELECT identifier FROM inboxes WHERE account_id = 1 ORDER BY id LIMIT 1',
  );
  // Explicit ids must not collide with the sequences.
  for (const table of ['inboxes', 'contacts', 'conversations']) {
    await app.query(
      `SELECT setval(pg_get_serial_sequence('${table}', 'id'), greatest((SELECT max(id) FROM ${table}), 100))`,
    );
  }
  return inbox?.identifier ?? 'none';
}

// A bot serves every inbox. In one conversation a person is assigned, in another one has replied, a third was handed off.
async function restoreSilences(app: TestApp): Promise<void> {
  await app.query(
    `INSERT INTO agent_bots (id, account_id, name, kind, outgoing_url, secret, events)
     VALUES (900001, 1, 'Fuzz bot', 'webhook', 'https://bot.example.com/', 'sealed', '{}') ON CONFLICT DO NOTHING`,
  );
  await app.query(
    `INSERT INTO access_tokens (agent_bot_id, token_hash, last_four) VALUES (900001, $1, 'test') ON CONFLICT DO NOTHING`,
    [hashToken(botToken)],
  );
  await app.query('UPDATE inboxes SET agent_bot_id = 900001 WHERE account_id = 1');
  await app.query(
    `UPDATE conversations SET agent_bot_id = NULL,
       assignee_id = CASE WHEN id % 4 = 1 THEN 900001 END,
       human_silence = CASE WHEN id % 4 = 2 THEN 'human_replied' END,
       bot_silence = CASE WHEN id % 4 = 3 THEN 'handed_off' END,
       bot_silence_of = CASE WHEN id % 4 = 3 THEN 900001 END
     WHERE account_id = 1 AND id <= 12`,
  );
}

/** Returns the body; of one that does not end, a stream of events, nothing. */
async function readText({ headers, body }: Dispatcher.ResponseData): Promise<string> {
  if (!String(headers['content-type']).startsWith('text/event-stream')) return body.text();
  body.on('error', () => undefined).destroy();
  return '';
}

/** What a silent bot must not change, by conversation. */
async function silentOnes(app: TestApp): Promise<Map<number, string>> {
  const rows = await app.query<{ id: number; standing: string }>(
    `SELECT c.id, to_jsonb((c.status, c.snoozed_until, c.assignee_id, c.team_id, c.human_silence, c.bot_silence,
       (SELECT count(*) FROM messages m WHERE m.account_id = c.account_id AND m.conversation_id = c.id AND NOT m.private
         AND m.sender_kind = 'agent_bot')))::text AS standing
     FROM conversations c JOIN contacts ct ON ct.account_id = c.account_id AND ct.id = c.contact_id
     WHERE c.account_id = 1
       AND (c.assignee_id IS NOT NULL OR c.human_silence IS NOT NULL OR c.bot_silence IS NOT NULL OR ct.blocked)`,
  );
  return new Map(rows.map(({ id, standing }) => [id, standing]));
}

// Deleting an account, or an inbox with all conversations, would leave nothing to fuzz.
const targets = routes.filter(({ method, path }) => !(method === 'DELETE' && /\/accounts\/:(account_)?id$/.test(path)));

const isForBots = ({ contract }: Route): boolean => contract.role === 'bot';

function tokenFor(route: Route): string {
  return route.path.startsWith('/platform') ? tokens.platform : tokens.administrator;
}

function describe({ route, path, body }: FuzzRequest): string {
  return `${route.method} ${path.slice(0, 200)} ${body?.slice(0, 300) ?? ''}`;
}

/** Sends seeded requests to all operations (valid, on the limits, with one fault each) and checks the answers. */
export class Fuzzer {
  readonly #app: TestApp;
  readonly #pool: Pool;
  readonly #seed: number;
  #batchSize = maxBatchSize;
  readonly report: FuzzReport = {
    requests: 0,
    missed: targets.length,
    statuses: {},
    violations: [],
    comparedBatches: 0,
    silentConversations: 0,
  };

  constructor(app: TestApp, seed: number) {
    this.#app = app;
    this.#seed = seed;
    this.#pool = new Pool(app.url, { connections });
  }

  /** Sends at least `requests`; stops after 20 violations. */
  async run(requests: number): Promise<FuzzReport> {
    // Each operation has its turns: valid requests, faulty ones, and where bots may call it, those of a silent bot.
    const turns = 2 * targets.length + targets.filter(isForBots).length;
    this.#batchSize = Math.max(1, Math.min(maxBatchSize, Math.floor(requests / turns)));
    for (let batch = 0; this.report.requests < requests && this.report.violations.length < maxViolations; batch++) {
      await restoreCallers(this.#app);
      const inbox = await restoreRecords(this.#app);
      const faulty = batch % 2 === 1;
      const route = targets[Math.floor(batch / 2) % targets.length] as Route;
      const arbitrary = requestsTo(route, { token: tokenFor(route), inbox, faulty });
      const before = faulty ? await readDigest(this.#app) : null;
      const statuses = await this.#send(fc.sample(arbitrary, { seed: this.#seed + batch, numRuns: this.#batchSize }));
      if (!faulty && isForBots(route)) await this.#sendAsBot(route, inbox, batch);
      this.report.missed = Math.max(0, targets.length - Math.ceil((batch + 1) / 2));
      if (before && !statuses.some((status) => compared.test(String(status)))) await this.#compare(before, route);
    }
    await this.#pool.close();
    return this.report;
  }

  // A silent bot neither speaks nor takes the conversation from people, whatever it calls.
  async #sendAsBot(route: Route, inbox: string, batch: number): Promise<void> {
    await restoreSilences(this.#app);
    const before = await silentOnes(this.#app);
    const arbitrary = requestsTo(route, { token: botToken, inbox, faulty: false });
    await this.#send(fc.sample(arbitrary, { seed: this.#seed + batch, numRuns: this.#batchSize }));
    const after = await silentOnes(this.#app);
    for (const [id, standing] of before) {
      this.report.silentConversations += 1;
      if (after.get(id) === standing) continue;
      this.report.violations.push(
        `${route.method} ${route.path} by a silent bot: conversation ${id} was ${standing}, is ${after.get(id)}`,
      );
    }
  }

  async #send(batch: readonly FuzzRequest[]): Promise<number[]> {
    const statuses: number[] = [];
    let next = 0;
    const client = async (): Promise<void> => {
      for (let request = batch[next++]; request; request = batch[next++]) statuses.push(await this.#sendOne(request));
    };
    await Promise.all(Array.from({ length: connections }, client));
    return statuses;
  }

  async #sendOne(request: FuzzRequest): Promise<number> {
    const { route, path, headers, body } = request;
    const response = await this.#pool.request({ method: route.method, path, headers, body: body ?? null });
    const text = await readText(response);
    this.report.requests += 1;
    const key = String(response.statusCode);
    this.report.statuses[key] = (this.report.statuses[key] ?? 0) + 1;
    const fault = this.#fault(request, response.statusCode, text);
    if (fault && this.report.violations.length < maxViolations) {
      this.report.violations.push(`${describe(request)} → ${response.statusCode} ${fault} ${text.slice(0, 300)}`);
    }
    return response.statusCode;
  }

  // The service itself checks every 2xx against its closed schema here, and answers 500 for a violation.
  #fault({ faulty }: FuzzRequest, status: number, text: string): string | null {
    // On a busy machine a record may be locked for longer than a request waits.
    if (status >= 500) return status === 503 && text.includes('"busy"') ? null : 'a server error';
    if (status < 400) return faulty ? 'a fault was let through' : null;
    const [problem] = findProblems('resources/error', JSON.parse(text));
    return problem ? `not the shape of an error: ${problem.message}` : null;
  }

  async #compare(before: Digest, { method, path }: Route): Promise<void> {
    this.report.comparedBatches += 1;
    const changed = changedTables(before, await readDigest(this.#app));
    if (changed.length > 0)
      this.report.violations.push(`${method} ${path}: refused requests wrote ${changed.join(', ')}`);
  }
}
