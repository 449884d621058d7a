import { Client } from 'pg';
import { claiming, type Claimed } from '../../src/deliveries/lanes/claim.ts';
import { firstEndpoint, surveyDue } from '../../src/deliveries/lanes/due-endpoints.ts';
import { finishDeliveries, type Finished } from '../../src/deliveries/lanes/finish.ts';
import { extendLeases, type Lease } from '../../src/deliveries/lanes/lease.ts';
import type { Share } from '../../src/deliveries/core/slots.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { TestApp } from '../support/app.ts';

export const holdAttempts = 3;
export const perEndpoint = 8;
export const leaseSeconds = 30;
/** Makes no delivery: tests of webhooks have neither bots nor automations. */
export const noBot = () => Promise.reject(new Error('There is no bot'));
export const claimDue = claiming({ kind: 'webhook', isSide: false });
const pingUrl = 'http://127.0.0.1:9/hook';

/** The engine's steps without its timers, on a database whose clock the test moves. */
export class Bench {
  readonly app: TestApp;
  #contactId = 0;

  private constructor(app: TestApp) {
    this.app = app;
  }

  static async start(): Promise<Bench> {
    const bench = new Bench(await TestApp.start({ engine: false }));
    const [contact] = await bench.rows(`INSERT INTO contacts (account_id, name) VALUES (1, 'Customer') RETURNING id`);
    bench.#contactId = Number(contact?.id);
    return bench;
  }

  get sql(): Sql {
    return this.app.app.database.sql;
  }

  transaction<Done>(work: (sql: Sql) => Promise<Done>): Promise<Done> {
    return this.app.app.database.transaction(work);
  }

  rows(text: string, parameters: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return this.app.query(text, parameters);
  }

  async webhook(): Promise<number> {
    const [row] = await this.rows(
      `INSERT INTO webhooks (account_id, url, subscriptions, secret) VALUES (1, $1, '{}', 'sealed') RETURNING id`,
      [pingUrl],
    );
    return Number(row?.id);
  }

  /** Inserts due deliveries, each on a new lane or on the given one; returns the lanes' ids. */
  async deliveries(webhookId: number, count: number, laneId?: number): Promise<number[]> {
    const lanes = await this.rows(
      `WITH lane AS (
         INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
         SELECT 1, 'webhook', $1, 'contact', coalesce((SELECT max(subject_id) FROM lanes), 0) + n, now()
         FROM generate_series(1, $2) n WHERE $3::bigint IS NULL RETURNING id
       ), chosen AS (
         SELECT id, row_number() OVER (ORDER BY id) AS n FROM lane
         UNION ALL SELECT $3, n FROM generate_series(1, $2) n WHERE $3 IS NOT NULL
       ), event AS (
         INSERT INTO events (account_id, name, contact_id, account_payload)
         SELECT 1, 'contact_updated', $4, '{}' FROM generate_series(1, $2) RETURNING id
       ), unplaced AS (INSERT INTO unplaced_events (event_id, account_id) SELECT id, 1 FROM event
       ), numbered AS (SELECT id, row_number() OVER (ORDER BY id) AS n FROM event)
       INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id)
       SELECT 1, numbered.id, chosen.id, 'webhook', $1 FROM numbered JOIN chosen USING (n) RETURNING lane_id AS id`,
      [webhookId, count, laneId ?? null, this.#contactId],
    );
    return [...new Set(lanes.map(({ id }) => Number(id)))];
  }

  /** Leases this many lanes of each endpoint with something due. */
  async shares(lanes: number): Promise<Share[]> {
    const { due } = await surveyDue(this.sql, {
      kind: 'webhook',
      isSide: false,
      after: firstEndpoint,
      limit: 1_000,
      isHeld: () => false,
    });
    return due.map((endpoint) => ({ ...endpoint, lanes }));
  }

  async claim(lanes = perEndpoint): Promise<Claimed[]> {
    const token = systemRandom.uuid();
    const shares = await this.shares(lanes);
    return (await claimDue(this.sql, { shares, leaseSeconds, token, holdAttempts, isHeld: false })).heads;
  }

  resultOf({ deliveryId, laneId, token }: Claimed): Finished {
    return {
      deliveryId,
      laneId,
      token,
      state: 'delivered',
      delayMs: 0,
      status: 200,
      errorCode: null,
      durationMs: 1,
      responseBody: '',
      wire: null,
    };
  }

  finish(claimed: Claimed, changes: Partial<Finished> = {}): Promise<number[]> {
    const finished = { ...this.resultOf(claimed), ...changes };
    return this.transaction((sql) => finishDeliveries(sql, [finished], holdAttempts));
  }

  extend(lease: Lease, seconds: number): Promise<Lease[]> {
    return this.transaction((sql) => extendLeases(sql, [lease], seconds));
  }

  /** Claims the delivery and lets its lease expire this many times, as if the process had died; returns the next claim. */
  async lose(times: number): Promise<Claimed> {
    for (let loss = 0; ; loss += 1) {
      const [claimed] = await this.claim();
      if (loss === times) return claimed!;
      await this.pass(61);
    }
  }

  /** Locks lanes in another transaction until the returned function is called. */
  async hold(laneIds: readonly number[]): Promise<() => Promise<void>> {
    const client = new Client({ connectionString: this.app.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM lanes WHERE id = ANY ($1) FOR UPDATE', [laneIds]);
    return () => client.end();
  }

  fail(claimed: Claimed, delayMs = 60_000): Promise<number[]> {
    return this.finish(claimed, { state: 'pending', delayMs, status: 500, errorCode: 'bad_status' });
  }

  /** Advances time for everything that waits. */
  async pass(seconds: number): Promise<void> {
    await this.rows('UPDATE lanes SET due_at = due_at - make_interval(secs => $1)', [seconds]);
    await this.rows('UPDATE deliveries SET next_attempt_at = next_attempt_at - make_interval(secs => $1)', [seconds]);
  }

  async ledger(): Promise<{ lanes: unknown[]; deliveries: unknown[]; attempts: unknown[] }> {
    return {
      lanes: await this.rows('SELECT id, due_at::text, lease_token FROM lanes ORDER BY id'),
      deliveries: await this.rows(
        'SELECT id, state, attempt, lease_token, next_attempt_at::text, last_status FROM deliveries ORDER BY id',
      ),
      attempts: await this.rows('SELECT delivery_id, number, outcome, error_code FROM attempts ORDER BY id'),
    };
  }
}
