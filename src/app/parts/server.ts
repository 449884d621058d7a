import type { AddressInfo } from 'node:net';
import { routes } from '../../api/index.ts';
import { drawError, plainPageFiles } from '../../api/service/plain-page.ts';
import { docsFiles } from '../../api/service/docs.ts';
import { serveChatwoot } from '../../compat/chatwoot/serve.ts';
import { receiverEndpoint, receiverUrl } from '../../demo/endpoint.ts';
import type { ReceiverServer } from '../../demo/receiver-server.ts';
import { servePlay } from '../../demo/serve-play.ts';
import { readLedger, type Ledger } from '../../deliveries/log/ledger.ts';
import type { Questions } from '../../domain/articles/embeddings/questions.ts';
import { PasswordHashes } from '../../domain/people/sign-ins/password-hashes.ts';
import { Identities } from '../../domain/people/remembered-identities.ts';
import { WaitingBytes } from '../../domain/hooks/waiting-bytes.ts';
import { ApiError } from '../../errors.ts';
import { Arrivals } from '../../http/server/limits/arrivals.ts';
import type { OutsideServices } from '../../http/route/call.ts';
import type { MountOptions } from '../../http/route/mount.ts';
import type { Ask } from '../../http/server/ask.ts';
import { FairGate } from '../../http/server/limits/fair-gate.ts';
import { RateLimit } from '../../http/server/limits/rate-limit.ts';
import { serveAttachments } from '../../http/server/serve-attachments.ts';
import { AmazonSns } from '../../http/server/hooks/amazon.ts';
import { receiveHooks } from '../../http/server/hooks/receive-hooks.ts';
import { UploadGate, type UploadBounds } from '../../http/server/limits/upload-gate.ts';
import { createHttpServer, type HttpServer, type ServerOptions } from '../../http/server/server.ts';
import type { Mailer } from '../../lib/mail.ts';
import type { EventStreams } from '../../live/streams.ts';
import type { Config } from '../../config.ts';
import { playPath } from '../../site/layout.ts';
import { isStatementTimeout } from '../../postgres/errors.ts';
import { divideConnections } from './connections.ts';
import type { Metrics } from './metrics.ts';
import type { Mechanisms } from './mechanisms.ts';
import { serviceUrl } from '../start/welcome.ts';

const authFailuresPerMinute = 60;
const contactWritesPerMinute = 60;
/** Transcripts of an account, which go to addresses that did not ask for them. */
const transcriptsPerMinute = 15;
/** Refused and repeated requests of a hook of which a row is kept. */
const keptFactsPerMinute = 60;
/** Certificates and confirmations that are asked of Amazon for one hook. */
const callsToAmazonPerMinute = 10;
/** The longest time that a request without an upload may take to arrive. */
const requestMs = 20_000;
/** Fewer bytes of an upload are not worth the connection. */
const uploadBytesPerSecond = 1_024;
/** Bytes of a multipart request besides its file. */
const formBytes = 16 * 1024;

/** Parts that requests use. */
interface ServedParts {
  streams: EventStreams;
  metrics: Metrics;
  questions: Questions;
  tryBot: OutsideServices['tryBot'];
  runDry: OutsideServices['runDry'];
  callAsBot: OutsideServices['callAsBot'];
  receiver: ReceiverServer | null;
}

/** Creates the HTTP server with the operations that this process answers. It does not listen yet. */
export function createServer(
  mechanisms: Mechanisms,
  { streams, metrics, questions, receiver, ...plugins }: ServedParts,
): HttpServer {
  const { options, config, databases, readArchive, replayer, outbound, secretBox, clock, random, mailer, log } =
    mechanisms;
  const publicUrl = () => config.publicUrl ?? serviceUrl(http.server.address() as AddressInfo);
  mechanisms.fileLinks.publicUrl = publicUrl;
  const http = createHttpServer(
    config.role === 'engine' ? routes.filter(({ contract }) => contract.role === 'anyone') : routes,
    {
      database: databases.requests,
      identities: new Identities(clock),
      tokenUses: mechanisms.tokenUses,
      // Authentication happens before the gate, and keeps one connection for itself.
      gate: new FairGate(divideConnections(config).requests - 1),
      services: {
        outbound,
        readArchive,
        attachments: mechanisms.attachments,
        fileLinks: mechanisms.fileLinks,
        streams,
        importBounds: { unpackedBytes: config.articleImportUnpackedBytes, entries: config.articleImportEntries },
        ledger: sharedBySteps((step) => readLedgerFor(mechanisms, step)),
        readMeaning: questions.read,
        replay: (recorded) => replayer.replay(recorded),
        ...plugins,
        secretBox,
        random,
        ...signInsOf(mechanisms),
        ...mailOf(mailer, config),
        holdAttempts: config.holdAttempts,
        publicUrl,
        hasModel: config.llmBaseUrl !== null,
        ...conditionOf(mechanisms),
      },
      bodyLimits: {
        maxBytes: config.bodyLimitBytes,
        maxUploadBytes: uploadLimits(config),
        maxFormBytes: config.attachmentFormBytes + formBytes,
        formBytes,
      },
      ...uploadsOf(config),
      trustedProxies: config.trustedProxies,
      connections: { total: config.connections, perAddress: config.connectionsPerAddress },
      ...rateLimitsOf(config),
      checkReplies: options.checkReplies ?? false,
      metrics: metricsOf(mechanisms, { metrics, streams }),
      // A process of deliveries shows nothing to people.
      ...(config.role === 'engine' ? {} : { home: '/console', dialects: [dialectOf(mechanisms)] }),
      findFile: (path) => (isShown(path, config, receiver) ? mechanisms.site.find(path) : Promise.resolve(null)),
      ...pagesOf(mechanisms, { metrics, receiver }),
      drawError,
      log,
      random,
    },
  );
  return http;
}

function signInsOf({
  config,
  provider,
  random,
}: Mechanisms): Pick<OutsideServices, 'passwords' | 'provider' | 'providerDomains' | 'hasProvider' | 'signInMs'> {
  const { passwordsInFlight: inFlight, passwordQueue: queue } = config;
  return {
    passwords: new PasswordHashes(random, { inFlight, queue }),
    provider,
    providerDomains: config.oidcAllowedDomains,
    hasProvider: provider !== null,
    signInMs: config.signInHours * 3_600_000,
  };
}

function conditionOf({
  phase,
  upgrade,
  gate,
  home,
}: Mechanisms): Pick<OutsideServices, 'started' | 'accepting' | 'upgrade' | 'gate' | 'home'> {
  return { started: () => phase.started, accepting: () => phase.accepting, upgrade, gate, home };
}

function metricsOf(
  { config, databases, warn: failed }: Mechanisms,
  { metrics, streams }: Pick<ServedParts, 'metrics' | 'streams'>,
): ServerOptions['metrics'] {
  return {
    requests: metrics.requests,
    rateLimited: metrics.rateLimited,
    token: config.metricsToken,
    text: () => metrics.text({ databases, streams: () => streams.size, failed }),
  };
}

function mailOf(
  mailer: Mailer,
  { rateLimitPerMinute }: Config,
): Pick<OutsideServices, 'mail' | 'mailText' | 'sendsMail' | 'countTranscript'> {
  const transcripts = new RateLimit('transcripts', rateLimitPerMinute > 0 ? transcriptsPerMinute : 0);
  return {
    mail: (tx, mail) => tx.afterCommit(() => mailer.send(mail)),
    mailText: (tx, mail) => {
      tx.afterCommit(() => mailer.tell(mail));
      return mailer.sends;
    },
    sendsMail: mailer.sends,
    countTranscript: (accountId) => transcripts.take(accountId),
  };
}

function dialectOf({ outbound, random, clock }: Mechanisms) {
  const checkUrl = (url: string) => outbound.checkUrl(url, { httpsOnly: false });
  return (ask: Ask) => serveChatwoot({ ask, checkUrl, uuid: () => random.uuid(), now: () => clock.now() });
}

function rateLimitsOf(config: Config) {
  const isLimited = config.rateLimitPerMinute > 0;
  return {
    requests: new RateLimit('requests', config.rateLimitPerMinute),
    failures: new RateLimit('failed-authentications', isLimited ? authFailuresPerMinute : 0),
    sessions: new RateLimit('widget-sessions', config.widgetSessionsPerMinute),
    guesses: new RateLimit('client-guesses', config.clientGuessesPerMinute),
    signIns: new RateLimit('sign-ins', config.signInsPerMinute),
    visitorBytes: new RateLimit('widget-bytes', config.widgetBytesPerMinute),
    visitorUploads: new RateLimit('widget-upload-bytes', config.widgetUploadBytesPerMinute),
    contactWrites: new RateLimit('contact-writes', isLimited ? contactWritesPerMinute : 0),
  };
}

function isShown(path: string, { role }: Config, receiver: ReceiverServer | null): boolean {
  return role !== 'engine' && (path !== playPath || receiver !== null);
}

/** Returns everything that is served besides the API: documentation, files of messages, hooks, and the built-in receiver with DEMO. */
function pagesOf(
  { config, clock, options, outbound }: Mechanisms,
  { metrics, receiver: server }: Pick<ServedParts, 'metrics' | 'receiver'>,
): Pick<ServerOptions, 'files' | 'serve'> {
  const hooks = {
    requests: new RateLimit('hooks', config.hooksPerMinute),
    facts: new RateLimit('hook-facts', keptFactsPerMinute),
    amazon: new AmazonSns(options.getFromAmazon ?? ((url) => outbound.request(url, { method: 'GET', headers: {} })), {
      clock,
      calls: new RateLimit('hook-calls', callsToAmazonPerMinute),
    }),
    waiting: new WaitingBytes(config.hookWaitingBytes, clock),
    count: metrics.countHook,
  };
  const receive = (mounted: MountOptions) => receiveHooks(mounted, hooks);
  const serve = config.role === 'engine' ? [] : [serveAttachments, receive];
  const files = [...docsFiles, ...plainPageFiles];
  if (!server) return { files, serve };
  const url = receiverUrl(receiverEndpoint(config.secretKey));
  return { files, serve: [...serve, (mounted) => servePlay({ server, url, mounted })] };
}

function uploadsOf(config: Config): Pick<ServerOptions, 'uploads' | 'arrivals'> {
  const { uploadTimeoutMs: uploadMs } = config;
  return {
    uploads: new UploadGate(uploadBounds(config)),
    arrivals: new Arrivals({ requestMs, uploadMs, bytesPerSecond: uploadBytesPerSecond }),
  };
}

function uploadBounds(config: Config): UploadBounds {
  return {
    places: config.uploadsInFlight,
    perAccount: config.uploadsPerAccount,
    ofVisitors: config.uploadsOfVisitors,
    perAddress: config.uploadsPerAddress,
    stallMs: config.uploadStallMs,
    bytesPerSecond: config.uploadBytesPerSecond,
  };
}

function uploadLimits({ pluginArchiveBytes, articleImportBytes }: Config) {
  return { plugin: pluginArchiveBytes + formBytes, articles: articleImportBytes + formBytes };
}

// Concurrent callers share one check, because it is a load for the database.
function sharedBySteps(work: (step: number | undefined) => Promise<Ledger>): (step?: number) => Promise<Ledger> {
  const going = new Map<number | undefined, Promise<Ledger>>();
  return (step) => {
    const shared = going.get(step) ?? work(step).finally(() => going.delete(step));
    going.set(step, shared);
    return shared;
  };
}

async function readLedgerFor({ options: { databaseUrl }, config }: Mechanisms, step?: number): Promise<Ledger> {
  const { holdAttempts, ledgerTimeoutMs: timeoutMs } = config;
  return readLedger({ databaseUrl, holdAttempts, timeoutMs, step }).catch((error: unknown) => {
    if (!isStatementTimeout(error)) throw error;
    const hint = 'The ledger is too large to check within a request: call `npx switchboard verify` beside the service';
    throw new ApiError(503, 'ledger_timeout', hint);
  });
}
