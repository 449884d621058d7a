import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { alarmsOf } from './alarms.ts';
import { docsFiles } from '../api/service/docs.ts';
import { routes } from '../api/index.ts';
import type { Config } from '../config.ts';
import { divideConnections, openDatabases } from './connections.ts';
import type { Database } from '../postgres/database.ts';
import { findPrincipal } from '../domain/people/identity.ts';
import { opensSecrets } from '../domain/platform/sealed-word.ts';
import { createDeliverers } from '../deliveries/deliverers.ts';
import { demoEndpoint } from '../demo/endpoint.ts';
import { Engine } from '../deliveries/engine.ts';
import { FeedPump } from '../events/feed-pump.ts';
import { FairGate } from '../http/server/fair-gate.ts';
import { RateLimit } from '../http/server/rate-limit.ts';
import { closeServer } from '../http/server/close-server.ts';
import { createHttpServer, type HttpServer } from '../http/server/server.ts';
import { AlarmClock } from '../jobs/alarm-clock.ts';
import { whenDatabaseAnswers } from '../postgres/await-database.ts';
import { listenOn } from './listen.ts';
import { createLog } from '../lib/log.ts';
import { Mailer } from '../lib/mail.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { createOutboundHttp, type OutboundHttp } from '../outbound/http.ts';
import { systemRandom, type Clock, type Random } from '../lib/ports.ts';
import { createSecretBox, type SecretBox } from '../lib/secret-box.ts';
import { SharedClock } from '../lib/shared-clock.ts';
import { isOutage } from '../postgres/errors.ts';
import { hashToken } from '../lib/tokens.ts';
import { migrate } from '../postgres/migrate.ts';
import { readRegistry, type Registry } from '../packages/registry.ts';
import { BotRunner } from '../runs/run-bot.ts';
import { createRunner } from '../sandbox/parent/pool.ts';
import type { Runner } from '../sandbox/run-types.ts';
import { seed, type Seeded } from './seed.ts';
import { warnOfStrandedBots } from './stranded-bots.ts';
import { serviceUrl } from './welcome.ts';

export interface AppOptions {
  config: Config;
  databaseUrl: string;
  log?: Logger;
  /** Stands in for the time that all processes share: the database's. */
  clock?: Clock;
  /** This machine's own clock, which is put right by the database's. */
  machineClock?: Clock;
  random?: Random;
  /** Folder that holds plugins/ and bots/. */
  pluginRoot?: string;
  /** The packages, where they were read already. */
  registry?: Registry;
  /** Whether answers are checked against their schemas; for tests. */
  checkReplies?: boolean;
}

const maxResponseBytes = 16 * 1024;
const connectionsPerOrigin = 64;
const authFailuresPerMinute = 60;
const contactWritesPerMinute = 60;
/** The folder that holds plugins/ and bots/. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** The service, put together: the one place that knows every part. */
export class App {
  /** For requests. */
  readonly database: Database;
  readonly registry: Registry;
  readonly log: Logger;
  readonly engine: Engine;
  readonly server: Server;
  /** For deliveries, bots and sweeps: connections that no request can take. */
  readonly #engineDatabase: Database;
  readonly #options: AppOptions;
  readonly #random: Random;
  readonly #outbound: OutboundHttp;
  readonly #secretBox: SecretBox;
  readonly #mailer: Mailer;
  readonly #runner: Runner;
  readonly #alarms: AlarmClock;
  readonly #feed: FeedPump;
  readonly #sharedClock: SharedClock;
  readonly #http: HttpServer;
  #started = false;
  #accepting = true;

  private constructor(options: AppOptions, registry: Registry) {
    const { config, databaseUrl, random = systemRandom } = options;
    this.#sharedClock = new SharedClock(options.machineClock);
    const clock = options.clock ?? this.#sharedClock;
    this.#options = options;
    this.#random = random;
    this.registry = registry;
    this.log = options.log ?? createLog(config.logLevel);
    const databases = openDatabases({ config, url: databaseUrl, clock, log: this.log });
    this.database = databases.requests;
    this.#engineDatabase = databases.engine;
    this.#outbound = createOutboundHttp({
      allowCidrs: config.outboundAllowCidrs,
      openEndpoints: config.demo ? [demoEndpoint] : [],
      timeoutMs: config.webhookTimeoutMs,
      maxResponseBytes,
      connectionsPerOrigin,
    });
    this.#secretBox = createSecretBox(config.secretKey, random);
    this.#mailer = new Mailer({ smtpUrl: config.smtpUrl, from: config.mailFrom, log: this.log });
    this.#runner = this.#createRunner();
    this.engine = this.#createEngine(clock);
    this.#alarms = this.#createAlarms(clock);
    this.#feed = new FeedPump({ database: this.#engineDatabase, pollMs: config.enginePollMs, failed: this.#warn });
    this.#http = this.#createServer();
    this.server = this.#http.server;
    this.database.onAnnounced('deliveries', (touched) => this.#servesEngine && this.engine.poke(touched));
    this.database.onAnnounced('events', () => this.#servesEngine && this.#feed.poke());
    this.database.onAnnounced('snooze', (until) => void this.#alarms.ringAt('wake-snoozed', until).catch(this.#warn));
  }

  /** Reads the installed plugins and puts the parts together; nothing runs yet. */
  static async create(options: AppOptions): Promise<App> {
    return new App(options, options.registry ?? (await readRegistry(options.pluginRoot ?? projectRoot)));
  }

  get #servesEngine(): boolean {
    return this.#options.config.role !== 'web';
  }

  // An outage is told once a second at most by what meets it; its details are no news.
  readonly #warn = (error: unknown): void => {
    if (isOutage(error)) this.log.warn({ reason: (error as Error).message }, 'database unavailable');
    else this.log.error({ err: error }, 'engine failure');
  };

  #createRunner(): Runner {
    const { role, sandboxRunners, sandboxQueue, sandboxMaxRssMb } = this.#options.config;
    return createRunner({
      size: role === 'web' ? 0 : sandboxRunners,
      queueLimit: sandboxQueue,
      maxRssMb: sandboxMaxRssMb,
      log: this.log,
    });
  }

  #createEngine(clock: Clock): Engine {
    const { config } = this.#options;
    const database = this.#engineDatabase;
    const [random, outbound, secretBox] = [this.#random, this.#outbound, this.#secretBox];
    const { registry, log } = this;
    const botRunner = new BotRunner({ database, registry, runner: this.#runner, clock, random, log });
    return new Engine({
      database,
      random,
      deliver: createDeliverers({
        database,
        random,
        clock,
        secretBox,
        outbound,
        botRunner,
        holdAttempts: config.holdAttempts,
        log: this.log,
        failed: this.#warn,
      }),
      inFlight: { webhook: config.engineInFlight, bot: config.engineInFlight },
      endpointInFlight: config.endpointInFlight,
      leaseSeconds: config.leaseSeconds,
      holdAttempts: config.holdAttempts,
      pollMs: config.enginePollMs,
      failed: this.#warn,
    });
  }

  #createAlarms(clock: Clock): AlarmClock {
    return new AlarmClock({
      databaseUrl: this.#options.databaseUrl,
      clock,
      alarms: alarmsOf(this.#engineDatabase, this.#options.config),
      failed: this.#warn,
    });
  }

  #createServer(): HttpServer {
    const { config, checkReplies = false } = this.#options;
    return createHttpServer(
      config.role === 'engine' ? routes.filter(({ contract }) => contract.role === 'anyone') : routes,
      {
        database: this.database,
        // One connection is left to those who are still to be let in.
        gate: new FairGate(divideConnections(config).requests - 1),
        services: {
          outbound: this.#outbound,
          secretBox: this.#secretBox,
          random: this.#random,
          mail: (tx, mail) => tx.afterCommit(() => this.#mailer.send(mail)),
          publicUrl: () => config.publicUrl ?? serviceUrl(this.server.address() as AddressInfo),
          registry: this.registry,
          started: () => this.#started,
          accepting: () => this.#accepting,
        },
        bodyLimitBytes: config.bodyLimitBytes,
        trustedProxies: config.trustedProxies,
        connections: { total: config.connections, perAddress: config.connectionsPerAddress },
        requests: new RateLimit('requests', config.rateLimitPerMinute),
        failures: new RateLimit('failed-authentications', config.rateLimitPerMinute === 0 ? 0 : authFailuresPerMinute),
        sessions: new RateLimit('widget-sessions', config.widgetSessionsPerMinute),
        visitorBytes: new RateLimit('widget-bytes', config.widgetBytesPerMinute),
        contactWrites: new RateLimit('contact-writes', config.rateLimitPerMinute === 0 ? 0 : contactWritesPerMinute),
        checkReplies,
        files: docsFiles,
        log: this.log,
        random: this.#random,
      },
    );
  }

  /** Takes requests; answers the address. Throws OperatorError when it cannot be had. */
  listen(): Promise<AddressInfo> {
    const { port, host } = this.#options.config;
    return listenOn(this.server, { port, host });
  }

  /**
   * Migrates, seeds and starts the engine, waiting for a database that cannot be reached yet; until that is through,
   * requests are refused. Throws OperatorError for what the operator can mend.
   */
  async start(): Promise<Seeded | null> {
    const seeded = await this.#whenDatabaseIsThere(async () => {
      await migrate(this.#options.databaseUrl);
      await this.#sharedClock.follow(() => this.database.time(), this.#warn);
      await this.#checkSecretKey();
      return this.#seed();
    });
    await this.#whenDatabaseIsThere(() => warnOfStrandedBots(this.database, this.registry, this.log));
    if (this.#servesEngine) {
      this.engine.start();
      this.#feed.start();
      await this.#whenDatabaseIsThere(() => this.#alarms.start());
    }
    if (!seeded) await this.#checkBootstrapToken();
    this.#started = true;
    return seeded;
  }

  /** What is under way: requests that are not answered, deliveries and bot runs that are not written. */
  underWay(): { requests: number; deliveries: number } {
    return { requests: this.#http.connections.busy, deliveries: this.engine.inFlight };
  }

  // With another key than before, every delivery would fail, and nobody would be told.
  async #checkSecretKey(): Promise<void> {
    if (await opensSecrets(this.database.em(), this.#secretBox)) return;
    throw new OperatorError(
      'The secrets in this database were sealed with another SECRET_KEY (on the embedded database: DATA_DIR/secret-key). Start with that one.',
    );
  }

  // It is taken at the first start only: whoever sets it later would wonder why it is answered 401.
  async #checkBootstrapToken(): Promise<void> {
    const { bootstrapAdminToken: token } = this.#options.config;
    if (token === null || (await findPrincipal(this.database.em(), hashToken(token)))) return;
    this.log.warn(
      'BOOTSTRAP_ADMIN_TOKEN is no access token of this database, which has its administrators already: remove it, or make a token with `npx switchboard token`',
    );
  }

  #seed(): Promise<Seeded | null> {
    const { bootstrapAdminToken, demo } = this.#options.config;
    const { database, registry } = this;
    return seed({ database, registry, random: this.#random, adminToken: bootstrapAdminToken, demo });
  }

  #whenDatabaseIsThere<Result>(work: () => Promise<Result>): Promise<Result> {
    const { config, databaseUrl: url } = this.#options;
    const timeoutMs = config.databaseStartTimeoutMs;
    return whenDatabaseAnswers({ url, timeoutMs, failed: this.#warn, stopped: () => !this.#accepting }, work);
  }

  /** Ends in order: no new requests, those under way answered, deliveries under way written, connections closed. */
  async stop(): Promise<void> {
    this.#accepting = false;
    this.#sharedClock.stop();
    await Promise.all([
      closeServer(this.server, this.#options.config.shutdownTimeoutMs / 2),
      this.engine.stop(),
      this.#feed.stop(),
    ]);
    await this.#alarms.stop();
    await this.#runner.close();
    await this.#outbound.close();
    await this.#mailer.close();
    await Promise.all([this.database.close(), this.#engineDatabase.close()]);
  }
}
