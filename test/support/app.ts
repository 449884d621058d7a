import type { GetFromAmazon } from '../../src/http/server/hooks/amazon.ts';
import { join } from 'node:path';
import { pino, type Logger } from 'pino';
import { App } from '../../src/app/app.ts';
import { preparedFolder, projectRoot } from '../../src/app/project-root.ts';
import type { Furnishing } from '../../src/app/start/seed.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import type { Clock } from '../../src/lib/ports.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { readRegistry, type Registry } from '../../src/packages/registry.ts';
import { oneBot } from './furnishing.ts';
import { sharedReader } from './package-reader.ts';
import { patience } from './patience.ts';
import { pauseAfter } from './polling.ts';
import { createDatabase, dropDatabase } from './postgres.ts';

/** The administrator's token of account 1 in every test service. */
export const adminToken = 'administrator-of-the-tests';

/** An answer: status, headers, and the parsed body if it is JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  // Typed `any`: replies are checked against their schemas when they are sent.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** A recorded event. */
export interface EventRow {
  id: number;
  name: string;
  account_id: number;
  conversation_id: number | null;
  contact_id: number | null;
  sequence: number | null;
  account_payload: Record<string, unknown> | null;
  bot_payload: Record<string, unknown> | null;
  bot_id: number | null;
  bot_silence: string | null;
}

export interface TestAppOptions {
  config?: Partial<Config>;
  clock?: Clock;
  /** The machine's clock, which the service corrects by the database's. */
  machineClock?: Clock;
  /** Stands for Amazon, of which certificates and confirmations are asked. */
  getFromAmazon?: GetFromAmazon;
  /** False disables engine and alarms: events and deliveries stay as they were written. */
  engine?: boolean;
  /** What the first account has; by default an inbox with a bot. Null leaves it to DEMO. */
  furnishing?: Furnishing | null;
  /** Folder with plugins/ and bots/; by default this repository. */
  pluginRoot?: string;
  /** Whether plugins in folders are installed again when a file changes. */
  watchFolders?: boolean;
  /** An existing migrated database, with its own administrator, instead of a new one. */
  databaseUrl?: string;
  /** The log's destination; by default nothing is logged. */
  log?: Logger;
}

/** The text of an answer; of one that does not end, a stream of events, nothing. */
export async function readText(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  await response.body?.cancel();
  return '';
}

// The packages of this repository, read once for all services of a test run, and not at all where `npm ci` has read them.
let ownRegistry: Promise<Registry> | undefined;

function ownPackages(): Promise<Registry> {
  ownRegistry ??= readRegistry(projectRoot, { keptIn: [join(preparedFolder, 'plugins')] });
  return ownRegistry;
}

/** A whole service with a database of its own, called over HTTP. */
export class TestApp {
  readonly app: App;
  readonly databaseUrl: string;
  readonly url: string;
  /** Whether it makes what is due by itself. */
  readonly hasEngine: boolean;
  #lastEvent = 0;

  private constructor(app: App, { databaseUrl, url, hasEngine }: Pick<TestApp, 'databaseUrl' | 'url' | 'hasEngine'>) {
    this.app = app;
    this.databaseUrl = databaseUrl;
    this.url = url;
    this.hasEngine = hasEngine;
  }

  static async start(options: TestAppOptions = {}): Promise<TestApp> {
    const databaseUrl = options.databaseUrl ?? (await createDatabase(migrate));
    const defaults = loadConfig({
      DATABASE_URL: databaseUrl,
      SECRET_KEY: 'a key that only the tests use, long enough',
      PORT: '0',
      DEMO: 'false',
      BOOTSTRAP_ADMIN_TOKEN: adminToken,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32',
      RATE_LIMIT_PER_MINUTE: '0',
      SIGN_INS_PER_MINUTE: '0',
      LOG_LEVEL: 'fatal',
      // Longer than by default: a busy machine makes everybody wait, and most tests are about something else.
      LOCK_TIMEOUT_MS: '5000',
      STATEMENT_TIMEOUT_MS: '30000',
      IDLE_IN_TRANSACTION_TIMEOUT_MS: '30000',
      ROLE: options.engine === false ? 'web' : 'all',
    });
    const config = { ...defaults, ...options.config };
    const { furnishing = oneBot } = options;
    const app = await App.create({
      config,
      databaseUrl,
      log: options.log ?? pino({ level: config.logLevel }),
      checkReplies: true,
      readArchive: sharedReader.archive,
      furnishing,
      ...(options.watchFolders ? { watchFolders: true, pluginRoot: options.pluginRoot ?? '' } : {}),
      ...(options.clock ? { clock: options.clock } : {}),
      ...(options.getFromAmazon ? { getFromAmazon: options.getFromAmazon } : {}),
      ...(options.machineClock ? { machineClock: options.machineClock } : {}),
      registry: await (options.pluginRoot
        ? readRegistry(options.pluginRoot, { dirs: config.pluginDirs, read: sharedReader.folder })
        : ownPackages()),
    });
    const { port } = await app.listen();
    await app.start();
    const url = `http://127.0.0.1:${port}`;
    return new TestApp(app, { databaseUrl, url, hasEngine: options.engine !== false });
  }

  /** Calls an operation; a path without a leading slash is relative to account 1. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const full = path.startsWith('/') ? path : `/api/v1/accounts/1/${path}`;
    const response = await fetch(this.url + full, {
      method,
      headers: { api_access_token: adminToken, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await readText(response);
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.call('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.call('POST', path, body ?? {}, headers);
  }

  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.call('PATCH', path, body ?? {}, headers);
  }

  delete(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.call('DELETE', path, undefined, headers);
  }

  /** Runs a statement on the service's database. */
  query<Row>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.app.database.sql<Row>(text, parameters);
  }

  /** The events recorded since the last call, without the samples of tests, which have not happened. */
  async events(): Promise<EventRow[]> {
    const rows = await this.query<EventRow>('SELECT * FROM events WHERE id > $1 AND NOT is_test ORDER BY id', [
      this.#lastEvent,
    ]);
    this.#lastEvent = rows.at(-1)?.id ?? this.#lastEvent;
    return rows;
  }

  /** The names of the events recorded since the last call. */
  async eventNames(): Promise<string[]> {
    return (await this.events()).map(({ name }) => name);
  }

  /** Repeats `probe` until it returns something; fails after `timeoutMs`. */
  async eventually<Result>(
    probe: () => Promise<Result>,
    timeoutMs = 60_000,
  ): Promise<Exclude<Result, false | undefined>> {
    const begun = Date.now();
    for (;;) {
      const result = await probe();
      if (result) return result as Exclude<Result, false | undefined>;
      if (Date.now() > begun + patience(timeoutMs)) throw new Error(`Not within ${timeoutMs} ms`);
      await pauseAfter(Date.now() - begun);
    }
  }

  async stop(): Promise<void> {
    await this.app.stop();
    await dropDatabase(this.databaseUrl);
  }
}
