import type { Logger } from 'pino';
import type { GetFromAmazon } from '../../http/server/hooks/amazon.ts';
import type { Config } from '../../config.ts';
import { receiverEndpoint } from '../../demo/endpoint.ts';
import { AttachmentStore } from '../../domain/attachments/store.ts';
import { TokenUses } from '../../http/route/admission/token-uses.ts';
import { SignedFileLinks } from '../../lib/file-links.ts';
import { createLog } from '../../lib/log.ts';
import { Mailer } from '../../lib/mail.ts';
import { OutboundSwitch, type OutboundGate } from '../../lib/outbound-gate.ts';
import type { StartPhases } from '../../lib/start-phases.ts';
import { systemRandom, type Clock, type Random } from '../../lib/ports.ts';
import { createSecretBox, type SecretBox } from '../../lib/secrets/secret-box.ts';
import { SharedClock } from '../../lib/shared-clock.ts';
import { createModelClient, type ModelClient } from '../../models/openai.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { createAddressPolicy } from '../../outbound/addresses.ts';
import { ChannelMailer } from '../../outbound/channel-mail.ts';
import { createHostResolver } from '../../outbound/host-resolver.ts';
import { createOutboundHttp, type OutboundHttp } from '../../outbound/http.ts';
import { OpenIdProvider } from '../../outbound/openid-provider.ts';
import { createArchiveReader, type ArchiveOptions, type ReadArchive } from '../../packages/archive/archive.ts';
import { trialOptions } from '../../packages/read/load-check.ts';
import type { PackageReader } from '../../packages/read/read-in-process.ts';
import { readRegistry, type BrokenPackage, type Registry } from '../../packages/registry.ts';
import { isOutage } from '../../postgres/errors.ts';
import { UpgradeWatch } from '../../postgres/upgrade-watch.ts';
import { createSandbox } from '../../sandbox/parent/pool.ts';
import type { Sandbox } from '../../sandbox/run.ts';
import { InstalledPlugins } from '../../runs/installed-plugins.ts';
import { Replayer } from '../../runs/replayer.ts';
import { Site } from '../../site/site.ts';
import { openDatabases, type Databases } from './connections.ts';
import { HomeWatch } from './home-watch.ts';
import { objectStoreOf } from './object-store.ts';
import { projectRoot } from '../project-root.ts';
import type { Furnishing } from '../start/seed.ts';

export interface AppOptions {
  config: Config;
  databaseUrl: string;
  log?: Logger;
  /** Replaces the clock that all processes share (the database's), for tests. */
  clock?: Clock;
  /** This machine's clock, which is corrected by the database's. */
  machineClock?: Clock;
  random?: Random;
  /** Folder that holds plugins/ and bots/. */
  pluginRoot?: string;
  /** Whether plugins in folders are installed again whenever a file changes, without approval: for developers. */
  watchFolders?: boolean;
  /** The folders in which readings of plugins are kept. */
  keptIn?: readonly string[];
  /** Whether the start makes the place of the database the installation's home. */
  adopts?: boolean;
  /** Measures the steps of the start. */
  phases?: StartPhases;
  /** The packages in folders, if the caller has read them already. */
  registry?: Registry;
  /** Replaces what DEMO furnishes the first account with, for tests. */
  furnishing?: Furnishing | null;
  /** Whether replies are checked against their schemas; for tests. */
  checkReplies?: boolean;
  /** Calls Amazon in place of the guarded way out, for tests. */
  getFromAmazon?: GetFromAmazon;
  /** Reads uploaded archives in place of a process for each, for tests. */
  readArchive?: PackageReader['archive'];
}

/** Where the process is between start and shutdown. */
export interface Phase {
  /** True once the start sequence has completed. */
  started: boolean;
  /** False once the shutdown has begun. */
  accepting: boolean;
  /** The packages in folders that the start left out. */
  leftOut: readonly BrokenPackage[];
  /** Ends the watching of folders, where that is going on. */
  endReload?: () => Promise<void>;
  /** The end of deliveries, sweeps and alarms, once it has begun. */
  backgroundStop?: Promise<void>;
}

/** The mechanisms that the parts are built from; none of them knows the domain. */
export interface Mechanisms {
  readonly options: AppOptions;
  readonly config: Config;
  readonly phase: Phase;
  /** Whether this process runs deliveries and sweeps, and not only requests. */
  readonly servesEngine: boolean;
  readonly log: Logger;
  /** Logs an error of background work. */
  readonly warn: (error: unknown) => void;
  readonly clock: Clock;
  readonly sharedClock: SharedClock;
  readonly random: Random;
  readonly databases: Databases;
  readonly upgrade: UpgradeWatch;
  /** Whether anything may leave the service. */
  readonly gate: OutboundGate;
  /** Decides that. */
  readonly home: HomeWatch;
  /** The packages in folders, as the start found them. */
  readonly registry: Registry;
  /** The installed plugins. */
  readonly plugins: InstalledPlugins;
  readonly readArchive: ReadArchive;
  readonly outbound: OutboundHttp;
  /** The way out for requests of bots. */
  readonly botOutbound: OutboundHttp;
  /** Gets the files that bots send. */
  readonly fileOutbound: OutboundHttp;
  /** The way out for requests and files of channels that are not encrypted: within OUTBOUND_ALLOW_CIDRS only. */
  readonly plainOutbound: OutboundHttp;
  /** Asks models, at servers of accounts by a guarded way out. */
  readonly models: ModelClient;
  /** The identity provider that signs people in; null without one. */
  readonly provider: OpenIdProvider | null;
  readonly secretBox: SecretBox;
  readonly fileLinks: SignedFileLinks;
  /** Keeps files besides the database; null without one. */
  readonly objects: ObjectStore | null;
  /** Keeps the files of messages. */
  readonly attachments: AttachmentStore;
  readonly mailer: Mailer;
  /** Sends mail of inboxes. */
  readonly channelMailer: ChannelMailer;
  readonly tokenUses: TokenUses;
  readonly sandbox: Sandbox;
  /** Where uploaded packages are tried, apart from the bots that run. */
  readonly trials: Sandbox;
  readonly replayer: Replayer;
  /** The pages for browsers. */
  readonly site: Site;
}

const maxResponseBytes = 16 * 1024;
const connectionsPerOrigin = 64;
const botConnectionsPerOrigin = 256;
/** The longest request to the identity provider. */
const providerTimeoutMs = 10_000;

/** Creates the mechanisms from the configuration and reads the installed plugins. Nothing connects or starts yet. */
export async function createMechanisms(options: AppOptions): Promise<Mechanisms> {
  const { config, databaseUrl: url, random = systemRandom, log = createLog(options.config.logLevel) } = options;
  const sharedClock = new SharedClock(options.machineClock);
  const { clock = sharedClock } = options;
  const registry =
    options.registry ?? (await readRegistry(options.pluginRoot ?? projectRoot, { dirs: config.pluginDirs }));
  const secretBox = createSecretBox(config.secretKey, random);
  const warn = (error: unknown): void => warnOf(error, log);
  const trials = createSandbox({ ...trialOptions, log });
  const gate = new OutboundSwitch();
  const files = createFiles(config, { secretBox, clock, random, warn, gate });
  const databases = openDatabases({ config, url, clock, log, fileLinks: files.fileLinks });
  return {
    options,
    config,
    phase: { started: false, accepting: true, leftOut: [] },
    servesEngine: config.role !== 'web',
    log,
    warn,
    clock,
    sharedClock,
    random,
    databases,
    upgrade: new UpgradeWatch(databases.requests),
    gate,
    home: new HomeWatch(databases.requests, gate, config),
    registry,
    plugins: new InstalledPlugins({
      database: databases.engine,
      pollMs: config.pluginPollMs,
      maxChars: config.pluginCacheBytes,
      failed: warn,
    }),
    trials,
    readArchive: createReader(options, { log, sandbox: trials }),
    ...createWaysOut(config, gate),
    models: createModelClient({
      gate,
      allowCidrs: config.outboundAllowCidrs,
      timeoutMs: config.llmTimeoutMs,
      maxBytes: config.llmMaxBytes,
      maxVectorBytes: config.llmEmbeddingMaxBytes,
    }),
    provider: providerOf(config, { gate, clock, random, log }),
    secretBox,
    ...files,
    tokenUses: new TokenUses(databases.requests, warn),
    channelMailer: new ChannelMailer({
      smtpUrl: config.smtpUrl,
      serviceFrom: config.mailFrom,
      domains: config.channelMailDomains,
      gate,
      policy: createAddressPolicy(config.outboundAllowCidrs),
      resolver: createHostResolver(),
    }),
    mailer: new Mailer({ smtpUrl: config.smtpUrl, from: config.mailFrom, log, gate }),
    site: new Site({ root: projectRoot, watch: options.watchFolders ?? false }),
    ...createSandboxes(config, log),
  };
}

function providerOf(
  { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcRoleClaim: roleClaim }: Config,
  ports: Pick<Mechanisms, 'gate' | 'clock' | 'random' | 'log'>,
): OpenIdProvider | null {
  if (issuer === null || clientId === null || clientSecret === null) return null;
  return new OpenIdProvider({ issuer, clientId, clientSecret, roleClaim, timeoutMs: providerTimeoutMs, ...ports });
}

function createWaysOut(
  config: Config,
  gate: OutboundGate,
): Pick<Mechanisms, 'outbound' | 'botOutbound' | 'fileOutbound' | 'plainOutbound'> {
  const { outboundAllowCidrs: allowCidrs, botFetchTimeoutMs: timeoutMs } = config;
  return {
    outbound: createOutboundHttp({
      gate,
      allowCidrs,
      openEndpoints: config.demo ? [receiverEndpoint(config.secretKey)] : [],
      timeoutMs: config.webhookTimeoutMs,
      maxResponseBytes,
      connectionsPerOrigin,
    }),
    botOutbound: createOutboundHttp({
      gate,
      allowCidrs,
      timeoutMs,
      maxResponseBytes: config.botFetchMaxBytes,
      connectionsPerOrigin: botConnectionsPerOrigin,
    }),
    plainOutbound: createOutboundHttp({
      gate,
      allowCidrs,
      onlyRanges: true,
      timeoutMs,
      maxResponseBytes: config.attachmentBytes,
      keepsBytes: true,
      connectionsPerOrigin: botConnectionsPerOrigin,
    }),
    fileOutbound: createOutboundHttp({
      gate,
      allowCidrs,
      timeoutMs,
      maxResponseBytes: config.attachmentBytes,
      keepsBytes: true,
      connectionsPerOrigin,
    }),
  };
}

function createFiles(
  config: Config,
  {
    secretBox,
    clock,
    random,
    warn: failed,
    gate,
  }: Pick<Mechanisms, 'secretBox' | 'clock' | 'random' | 'warn' | 'gate'>,
): Pick<Mechanisms, 'fileLinks' | 'objects' | 'attachments'> {
  const { attachmentBytes: bytes, attachmentsPerMessage: perMessage, attachmentLinkHours: hours } = config;
  const objects = objectStoreOf(config, { clock, gate });
  return {
    fileLinks: new SignedFileLinks({ secretBox, clock, hours }),
    objects,
    attachments: new AttachmentStore({ bytes, perMessage }, { objects, random, failed }),
  };
}

function createReader(
  { config, readArchive: read }: AppOptions,
  ports: Pick<ArchiveOptions, 'log' | 'sandbox'>,
): ReadArchive {
  return createArchiveReader({
    bounds: { unpackedBytes: config.pluginUnpackedBytes, entries: config.pluginEntries },
    trustedKeys: config.pluginTrustedKeys,
    signatures: config.pluginSignatures,
    read,
    ...ports,
  });
}

function createSandboxes(config: Config, log: Logger): Pick<Mechanisms, 'sandbox' | 'replayer'> {
  const common = { maxRssMb: config.sandboxMaxRssMb, log };
  const size = config.role === 'web' ? 0 : config.sandboxRunners;
  return {
    sandbox: createSandbox({ ...common, size, queueLimit: config.sandboxQueue }),
    replayer: new Replayer({ ...common, size: config.replayRunners, queueLimit: config.replayQueue }),
  };
}

// During an outage every poll fails in the same way: its stack traces would only fill the log.
function warnOf(error: unknown, log: Logger): void {
  if (isOutage(error)) log.warn({ reason: (error as Error).message }, 'database unavailable');
  else log.error({ err: error }, 'engine failure');
}
