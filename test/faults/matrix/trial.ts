import { readLedger } from '../../../src/deliveries/log/ledger.ts';
import { rowsOf } from '../helpers.ts';
import type { Arrival, Evidence, ReceiverLog, Write } from './evidence.ts';
import { patiently } from './patience.ts';
import { Client, Producer } from './producer.ts';
import { Receiver, type Conduct } from './receiver.ts';
import { Services } from './services.ts';
import { isClean, judge, type Verdict } from './verdict.ts';
import { expireLeases, nextWaitSeconds, pass } from './virtual-time.ts';

/** HOLD_ATTEMPTS and ENDPOINT_IN_FLIGHT, which stay as they ship. */
const holdAttempts = 3;
const endpointInFlight = 8;
const feedPage = 500;
/** How long everything stands still before the clock of what waits is moved. */
const stillMs = 400;

/** How large a run is, and how far it goes. */
export interface Scale {
  isFull: boolean;
  /** The first number in a short run, the second in a full one. */
  pick: (short: number, full: number) => number;
  /** How often to kill: so often in a short run, 50 times in a full one; or as FAULT_KILLS says. */
  kills: (short: number) => number;
  /** A number in [0, 1), from the seed. */
  random: () => number;
}

/** A line of the table. */
export interface Row extends Verdict {
  /** Violations of the ledger, by invariant. */
  ledger: string[];
  /** What else should have been so. */
  problems: string[];
  seconds: number;
  isClean: boolean;
}

export interface TrialOptions {
  databaseUrl: string;
  scale: Scale;
  env: Record<string, string>;
  /** The processes that one disturbance may interrupt. */
  engines: number;
}

/** One fault: a database, the processes of a service, who writes, who receives, and what is found in the end. */
export class Trial {
  readonly scale: Scale;
  readonly databaseUrl: string;
  readonly services: Services;
  readonly client: Client;
  readonly receivers: Receiver[] = [];
  readonly #problems: string[] = [];
  readonly #writers: { readonly writes: readonly Write[] }[] = [];
  readonly #webhooks: { receiver: Receiver; id: number }[] = [];
  readonly #begun = performance.now();
  readonly #engines: number;
  #passedSeconds = 0;

  constructor({ databaseUrl, scale, env, engines }: TrialOptions) {
    this.scale = scale;
    this.databaseUrl = databaseUrl;
    this.services = new Services(databaseUrl, env);
    this.client = new Client(this.services);
    this.#engines = engines;
  }

  /** Notes a problem unless it is so. */
  check(isSo: boolean, problem: string): void {
    if (!isSo) this.#problems.push(problem);
  }

  /** A producer with open conversations. Every message of it has to reach every receiver. */
  async producer(conversations: number, name = 'message'): Promise<Producer> {
    const producer = new Producer(this.client, name);
    this.#writers.push(producer);
    await producer.open(conversations);
    return producer;
  }

  /** Takes the log of another writer, whose messages have to reach every receiver, too. */
  follow(log: { readonly writes: readonly Write[] }): void {
    this.#writers.push(log);
  }

  /** A receiver that is to get every message that is written from now on, and the id and secret of its webhook. */
  async receiver(name: string, conduct: Conduct, options: Subscribed = {}): Promise<Subscription> {
    const receiver = await new Receiver(name, conduct, options).open();
    this.receivers.push(receiver);
    return this.subscribe(receiver, options.url ?? receiver.url, options.subscriptions);
  }

  /** Subscribes an address by which the receiver is to get every message too. */
  async subscribe(receiver: Receiver, url: string, subscriptions = ['message_created']): Promise<Subscription> {
    const { id, secret } = await this.client.need('POST', 'webhooks', { url, subscriptions });
    this.#webhooks.push({ receiver, id });
    return { receiver, id, secret };
  }

  /** Rows of one statement on the service's database. */
  rows<Found extends object>(text: string, parameters: readonly unknown[] = []): Promise<Found[]> {
    return rowsOf<Found>(this.databaseUrl, text, parameters);
  }

  /** Moves everything that waits as if so many seconds had passed on the database's clock; leases are left alone. */
  async pass(seconds: number): Promise<void> {
    this.#passedSeconds += seconds;
    await pass(this.databaseUrl, seconds);
  }

  /** The time that has passed for what waits: the real time, and what was passed over. */
  virtualMs(): number {
    return performance.now() + this.#passedSeconds * 1000;
  }

  /**
   * Lets the leases of processes that are dead or stopped end. A short run moves them; a full one waits, as the service
   * has to do.
   */
  async endLeases(): Promise<void> {
    if (!this.scale.isFull) await expireLeases(this.databaseUrl);
  }

  /** What arrived in all. */
  get arrivals(): number {
    return this.receivers.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
  }

  /** How far it has come, for who watches. */
  get progress(): string {
    const written = this.#writers.reduce((sum, { writes }) => sum + writes.length, 0);
    return `${written} messages, ${this.arrivals} arrivals, ${this.services.disturbances.length} disturbances`;
  }

  /** How many deliveries wait. */
  async pending(): Promise<number> {
    const [row] = await this.rows<{ count: number }>(
      `SELECT count(*)::int AS count FROM deliveries WHERE state = 'pending'`,
    );
    return row?.count ?? 0;
  }

  /**
   * Waits until nothing is to be delivered any more. When everything stands still because it waits for its next attempt,
   * that time is passed over.
   */
  async settle(): Promise<void> {
    let arrivals = -1;
    let stillSince = performance.now();
    await patiently('deliveries', async () => {
      const pending = await this.pending();
      if (this.arrivals !== arrivals) stillSince = performance.now();
      arrivals = this.arrivals;
      if (pending > 0 && performance.now() - stillSince > stillMs) {
        const seconds = await nextWaitSeconds(this.databaseUrl);
        if (seconds !== null) await this.pass(seconds);
        stillSince = performance.now();
      }
      return { done: pending === 0, progress: `${arrivals} arrived, ${pending} pending` };
    });
  }

  /** Waits for the end of everything, and judges. */
  async conclude(): Promise<Row> {
    await this.settle().catch((error: Error) => this.check(false, error.message));
    const evidence = await this.#evidence();
    const verdict = judge(evidence);
    const ledger = await this.#ledger();
    this.#problems.push(...(await this.services.end()));
    const problems = this.#problems;
    return {
      ...verdict,
      ledger,
      problems,
      seconds: Math.round((performance.now() - this.#begun) / 1000),
      isClean: isClean(verdict) && ledger.length === 0 && problems.length === 0,
    };
  }

  /** Ends everything that was started, whatever became of it. */
  async close(): Promise<void> {
    await this.services.end();
    await Promise.all(this.receivers.map((receiver) => receiver.close().catch(() => undefined)));
    await this.client.close();
  }

  async #evidence(): Promise<Evidence> {
    const writes = this.#writers.flatMap((writer) => writer.writes);
    return {
      writes,
      committed: await this.#readFeed(writes.filter(({ outcome }) => outcome === 'acknowledged').length),
      receivers: this.#arrived(),
      disturbances: this.services.disturbances,
      overdue: await this.#overdue(),
      holdAttempts,
      mostInFlight: endpointInFlight * this.#engines,
    };
  }

  // A log for each webhook. What came to a receiver and is none of its webhooks' nobody asked for.
  #arrived(): ReceiverLog[] {
    const ofWebhook = (id: number) => (arrival: Arrival) => arrival.webhookId.endsWith(`_webhook_${id}`);
    const logs = this.#webhooks.map(({ receiver, id }) => ({
      name: receiver.name,
      arrivals: receiver.arrivals.filter(ofWebhook(id)),
    }));
    const asked = logs.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
    this.check(asked === this.arrivals, `${this.arrivals - asked} arrivals were for another receiver`);
    return logs;
  }

  // The feed goes on a moment after the commits: it is read until it has as many messages as were acknowledged, or stands still.
  async #readFeed(acknowledged: number): Promise<Set<string>> {
    const found = new Set<string>();
    let cursor = '';
    const read = async () => {
      const after = cursor ? `&after=${encodeURIComponent(cursor)}` : '';
      const page = await this.client.need('GET', `events?types=message_created&limit=${feedPage}${after}`);
      for (const { payload } of page.payload) found.add(payload.content);
      const isOver = page.payload.length < feedPage && found.size >= acknowledged;
      cursor = page.meta.next_cursor;
      return { done: isOver, progress: found.size };
    };
    await patiently('the feed', read).catch((error: Error) => this.check(false, error.message));
    return found;
  }

  async #overdue(): Promise<Set<string>> {
    const rows = await this.rows<{ id: string }>(
      `SELECT DISTINCT 'evt_' || d.event_id || '_webhook_' || d.endpoint_id AS id
       FROM attempts a JOIN deliveries d ON d.account_id = a.account_id AND d.id = a.delivery_id WHERE a.error_code = 'timeout'`,
    );
    return new Set(rows.map(({ id }) => id));
  }

  async #ledger(): Promise<string[]> {
    const { invariants } = await readLedger({ databaseUrl: this.databaseUrl, holdAttempts, timeoutMs: 0 });
    return invariants
      .filter(({ violations }) => violations > 0)
      .map(({ id, violations, sample }) => `${id}: ${violations}, such as ${JSON.stringify(sample[0])}`);
  }
}

interface Subscribed {
  subscriptions?: string[];
  keepsPosts?: boolean;
  /** Where the webhook leads at first, when it is not the receiver. */
  url?: string;
}

/** A receiver with its webhook. */
export interface Subscription {
  receiver: Receiver;
  id: number;
  secret: string;
}
