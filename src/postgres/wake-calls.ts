import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';

/** An endpoint with new deliveries of an account. */
export interface TouchedEndpoint {
  kind: 'webhook' | 'bot' | 'automation' | 'channel';
  id: number;
  accountId: number;
  /** Whether they are requested deliveries, beside the live ones. */
  isSide?: boolean;
}

/** Committed work: events, changes of plugins, and deliveries for endpoints; null stands for any endpoint. */
export interface WakeCall {
  events: boolean;
  plugins: boolean;
  deliveries: readonly TouchedEndpoint[] | null;
}

export interface WakeCallOptions {
  url: string;
  /** Called with calls of other processes, and with everything (null) whenever something may have been missed. */
  heard?: (call: WakeCall) => void;
  /** The same for the accounts whose feeds others have made longer; null stands for any account. */
  placed?: (accounts: readonly number[] | null) => void;
  /** Called when the database was migrated, or its home was changed, and whenever that may have been missed. */
  installationChanged?: () => void;
  /** Called with errors of the connection. */
  failed: (error: unknown) => void;
}

type Told = WakeCall & { deliveries: readonly TouchedEndpoint[] };

/** Committed work that engines, and processes that answer requests, are notified of. */
interface News extends Told {
  /** Accounts with further events in their feeds. */
  placed: readonly number[];
}

const everything: WakeCall = { events: true, plugins: true, deliveries: null };
const channel = 'switchboard_wake';
// Separate from the other channel, because engines need not wake for it.
const feedChannel = 'switchboard_feed';
/** The channel on which migrations, and changes of the installation's home, announce their commit. */
export const schemaChannel = 'switchboard_schema';
// Gathers calls of this time, which reduces notifications of a busy process; a receiver waits for them this long at most.
const gatherMs = 50;
const retryMs = 500;
// PostgreSQL refuses 8000 bytes and more.
const maxPayloadBytes = 7_000;

/**
 * Tells other processes on the same database that something was committed, by LISTEN and NOTIFY on a connection of its own,
 * outside of the transactions: a NOTIFY within them would serialize their commits. A call may be lost with a connection or a
 * process; everybody who is called looks at the tables now and then.
 */
export class WakeCalls {
  readonly #options: WakeCallOptions;
  readonly #stopping = new AbortController();
  #connecting: Promise<Client> | null = null;
  #events = false;
  #plugins = false;
  #deliveries = new Map<string, TouchedEndpoint>();
  #placed = new Set<number>();
  #telling: Promise<void> | null = null;
  #retry: NodeJS.Timeout | null = null;

  constructor(options: WakeCallOptions) {
    this.#options = options;
  }

  /** Starts hearing others; reconnects for as long as it takes. */
  listen(): void {
    this.#connect().catch((error: unknown) => {
      this.#options.failed(error);
      this.#listenLater();
    });
  }

  /** Notifies the other processes, soon. */
  tell({ events = false, plugins = false, deliveries = [], placed = [] }: Partial<News>): void {
    if (this.#stopping.signal.aborted) return;
    this.#events ||= events;
    this.#plugins ||= plugins;
    for (const endpoint of deliveries) {
      this.#deliveries.set(
        `${endpoint.kind} ${endpoint.id} ${endpoint.accountId} ${endpoint.isSide ?? false}`,
        endpoint,
      );
    }
    for (const accountId of placed) this.#placed.add(accountId);
    this.#telling ??= this.#tellAll();
  }

  /** Resolves when pending notifications are sent and the connection is closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#retry) clearTimeout(this.#retry);
    await this.#telling;
    const client = await this.#connecting?.catch(() => null);
    await client?.end().catch(() => undefined);
  }

  async #tellAll(): Promise<void> {
    for (;;) {
      await wait(gatherMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      const calls = this.#take();
      if (calls.length === 0) break;
      try {
        const client = await this.#connect();
        const [channels, payloads] = [calls.map((call) => call.channel), calls.map((call) => call.payload)];
        await client.query('SELECT pg_notify(c, p) FROM unnest($1::text[], $2::text[]) AS call (c, p)', [
          channels,
          payloads,
        ]);
      } catch (error) {
        // Other processes find it at their next regular look.
        this.#options.failed(error);
      }
    }
    this.#telling = null;
  }

  #take(): { channel: string; payload: string }[] {
    const told = { events: this.#events, plugins: this.#plugins, deliveries: [...this.#deliveries.values()] };
    const placed = [...this.#placed];
    this.#events = false;
    this.#plugins = false;
    this.#deliveries = new Map();
    this.#placed = new Set();
    const isForEngines = told.events || told.plugins || told.deliveries.length > 0;
    return [
      ...(isForEngines ? [{ channel, payload: payloadOf(told) }] : []),
      ...(placed.length > 0 ? [{ channel: feedChannel, payload: fitting(JSON.stringify(placed), 'null') }] : []),
    ];
  }

  #connect(): Promise<Client> {
    this.#connecting ??= this.#open().catch((error: unknown) => {
      this.#connecting = null;
      throw error;
    });
    return this.#connecting;
  }

  async #open(): Promise<Client> {
    const { url, heard, placed, installationChanged, failed } = this.#options;
    const client = new Client({
      connectionString: url,
      application_name: 'switchboard-wakes',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', failed);
    client.once('end', () => {
      this.#connecting = null;
      if (heard || placed || installationChanged) this.#listenLater();
    });
    await client.connect();
    if (!heard && !placed && !installationChanged) return client;
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    client.on('notification', ({ channel: from, processId, payload = '' }) => {
      if (processId === rows[0]?.pid) return;
      if (from === feedChannel) placed?.(accountsOf(payload));
      else if (from === schemaChannel) installationChanged?.();
      else heard?.(callOf(payload));
    });
    if (heard) await client.query(`LISTEN ${channel}`);
    if (placed) await client.query(`LISTEN ${feedChannel}`);
    if (installationChanged) await client.query(`LISTEN ${schemaChannel}`);
    heard?.(everything);
    placed?.(null);
    installationChanged?.();
    return client;
  }

  #listenLater(): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.listen(), retryMs);
  }
}

function payloadOf(told: Told): string {
  return fitting(JSON.stringify(told), JSON.stringify({ ...told, deliveries: null }));
}

function fitting(payload: string, short: string): string {
  return Buffer.byteLength(payload) < maxPayloadBytes ? payload : short;
}

function accountsOf(payload: string): number[] | null {
  try {
    const accounts: unknown = JSON.parse(payload);
    return Array.isArray(accounts) ? (accounts as number[]) : null;
  } catch {
    return null;
  }
}

function callOf(payload: string): WakeCall {
  try {
    const { events, plugins, deliveries } = JSON.parse(payload) as WakeCall;
    return { events, plugins, deliveries };
  } catch {
    // Somebody else's notification on the channel, or one of another version.
    return everything;
  }
}
