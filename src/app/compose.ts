import type { Database } from '../postgres/database.ts';
import { onAnnounced } from '../events/announcements.ts';
import { Engine, type EngineOptions } from '../engine/engine.ts';
import { toBotServer } from '../engine/send/to-bot-server.ts';
import { toPlugin } from '../engine/send/to-plugin.ts';
import { toWebhook } from '../engine/send/to-webhook.ts';
import type { PassageEmbedder } from '../domain/articles/embeddings/embedder.ts';
import type { Questions } from '../domain/articles/embeddings/questions.ts';
import type { ReceiverServer } from '../demo/receiver-server.ts';
import { FeedPump } from '../events/feed-pump.ts';
import type { HttpServer } from '../http/server/server.ts';
import { AlarmClock } from '../jobs/alarm-clock.ts';
import { countBotReplies } from '../records/messages/bot-replies.ts';
import { findApprovedHosts } from '../domain/bots/tools/checks.ts';
import { oneAtATime } from '../jobs/one-at-a-time.ts';
import { BotRunner } from '../runs/bot-runner.ts';
import { WebhookChecks } from '../runs/webhook-checks.ts';
import { ChannelRunner } from '../runs/channel-runner.ts';
import { FreeRunner } from '../runs/free-runner.ts';
import { createBotCalls } from '../runs/call-as-bot.ts';
import { createDryRuns } from '../runs/dry-run.ts';
import type { DoorPorts } from '../runs/doors/doors.ts';
import { sendOutbound } from '../runs/doors/send.ts';
import { fetchOutbound } from '../runs/fetched-file.ts';
import { formFiles } from '../runs/form-files.ts';
import { ReplyFileStore } from '../runs/reply-files.ts';
import { runPortsOf, type RunnerOptions } from '../runs/runner-options.ts';
import { createTrials } from '../testing/trial.ts';
import { WakeCalls, type WakeCall, type WakeCallOptions } from '../postgres/wake-calls.ts';
import { alarmsOf, ringForRetries } from './alarms.ts';
import { EventStreams } from '../live/streams.ts';
import { Metrics } from './parts/metrics.ts';
import type { Mechanisms } from './parts/mechanisms.ts';
import { burstsOf } from './parts/message-bursts.ts';
import { embeddingsOf } from './parts/embeddings.ts';
import { knowledgeOf } from './parts/knowledge.ts';
import { modelsOf } from './parts/model-servers.ts';
import { createDemoReceiver } from './parts/demo-receiver.ts';
import { createServer } from './parts/server.ts';
import { followDecision } from './follow-decision.ts';
import { retire } from './stop-background.ts';
import { mailingAgents, sendingDigests, tellingNotices, tellingPauses } from './tell-notices.ts';

/** All parts of the service. */
export interface Parts extends Mechanisms {
  readonly engine: Engine;
  readonly embedder: PassageEmbedder;
  readonly feed: FeedPump;
  readonly streams: EventStreams;
  readonly alarms: AlarmClock;
  readonly wakes: WakeCalls;
  /** Receives the webhooks of the demonstration data; null without DEMO. */
  readonly receiver: ReceiverServer | null;
  readonly http: HttpServer;
}

/** Creates the parts and subscribes each to the announcements that concern it. Nothing runs yet. */
export function compose(mechanisms: Mechanisms): Parts {
  const { options, config, clock, databases, plugins, warn, servesEngine, objects } = mechanisms;
  const database = databases.engine;
  const { embedder, questions } = embeddingsOf(mechanisms);
  const alarmed = alarmsOf(database, {
    ...config,
    objects,
    gate: mechanisms.gate,
    retry: () => engine.poke(),
    embed: () => embedder.poke(),
    checkChannels: () => void check().catch(warn),
  });
  const alarms = new AlarmClock({ databaseUrl: options.databaseUrl, clock, alarms: alarmed, failed: warn });
  const ring = (name: string, moment: Date) => void alarms.ringAt(name, moment).catch(warn);
  const metrics = new Metrics();
  const doors = doorsOf(mechanisms, { metrics, questions });
  const checks = new WebhookChecks(runningOf(mechanisms, doors));
  const check = oneAtATime(() => checks.run());
  const engine = createEngine(mechanisms, {
    metrics,
    doors,
    retries: ringForRetries(clock, (moment) => ring('retry-deliveries', moment)),
  });
  const streams = createStreams(mechanisms);
  const placed = (accounts: readonly number[] | null): void => streams.poke(accounts);
  const feed = new FeedPump({
    database,
    pollMs: config.enginePollMs,
    failed: warn,
    placed: (accounts) => {
      placed(accounts);
      wakes.tell({ placed: accounts });
    },
  });
  const heard = ({ events, plugins: changed, deliveries }: WakeCall): void => {
    if (events) feed.poke();
    if (deliveries === null || deliveries.length > 0) engine.poke(deliveries ?? undefined);
    if (changed) plugins.poke();
  };
  const wakes = createWakes(mechanisms, { heard, placed });
  const receiver = createDemoReceiver(mechanisms);
  const tryBot = trialsOf(mechanisms, doors);
  const callAsBot = createBotCalls({ ...doors, plugins: mechanisms.plugins, clock });
  const runDry = dryRunsOf(mechanisms);
  const http = createServer(mechanisms, { streams, metrics, questions, tryBot, runDry, callAsBot, receiver });
  onAnnounced(databases.requests, 'committed', (committed) => {
    if (servesEngine) heard({ ...committed, plugins: false });
    wakes.tell(committed);
  });
  onAnnounced(databases.requests, 'plugins', () => {
    if (servesEngine) plugins.poke();
    wakes.tell({ plugins: true });
  });
  onAnnounced(databases.requests, 'articles', () =>
    servesEngine ? embedder.poke() : ring('embed-articles', clock.now()),
  );
  onAnnounced(databases.requests, 'run', (run) => metrics.ran(run));
  ringWhenAnnounced(databases.requests, ring);
  return watched({ ...mechanisms, engine, embedder, feed, streams, alarms, wakes, receiver, http });
}

function createWakes(
  { options, config, servesEngine, upgrade, home, warn }: Mechanisms,
  { heard, placed }: Required<Pick<WakeCallOptions, 'heard' | 'placed'>>,
): WakeCalls {
  return new WakeCalls({
    url: options.databaseUrl,
    failed: warn,
    ...(servesEngine ? { heard } : {}),
    ...(config.role === 'engine' ? {} : { placed }),
    installationChanged: () => void Promise.all([upgrade.look(), home.look()]).catch(warn),
  });
}

function watched(parts: Parts): Parts {
  mailWhenAnnounced(parts);
  parts.upgrade.onUpgrade((migrations) => retire(parts, migrations));
  parts.home.onChange((decision) => followDecision(parts, decision));
  return parts;
}

function ringWhenAnnounced(database: Database, ring: (name: string, moment: Date) => void): void {
  onAnnounced(database, 'snooze', (until) => ring('wake-snoozed', until));
  onAnnounced(database, 'call', (at) => ring('call-scheduled', at));
}

function mailWhenAnnounced(mechanisms: Mechanisms): void {
  const { databases, warn, config } = mechanisms;
  const options = { ...mechanisms, database: databases.engine, failed: warn };
  onAnnounced(databases.requests, 'notice', tellingNotices(options));
  onAnnounced(databases.requests, 'digest', sendingDigests(options));
  const { retentionDays, publicUrl } = config;
  onAnnounced(databases.requests, 'notification', mailingAgents({ ...mechanisms, publicUrl }));
  onAnnounced(databases.requests, 'paused', tellingPauses({ ...options, retentionDays }));
}

function createStreams({ databases, secretBox, config, warn }: Mechanisms): EventStreams {
  return new EventStreams({
    database: databases.requests,
    secretBox,
    perAccount: config.eventStreamsPerAccount,
    visitors: { perInbox: config.widgetStreamsPerInbox, perAddress: config.widgetStreamsPerAddress },
    failed: warn,
  });
}

/** Creates the ports of `ctx`, for runs and trials alike. */
function doorsOf(mechanisms: Mechanisms, { metrics, questions }: { metrics: Metrics; questions: Questions }) {
  const { config, databases } = mechanisms;
  const database = databases.engine;
  return {
    send: sendOutbound({ secure: mechanisms.botOutbound, plain: mechanisms.plainOutbound }, config.botFetchMaxBytes),
    files: formFiles(mechanisms.attachments, database.sql),
    links: database.fileLinks,
    mail: (mail, sending) => mechanisms.channelMailer.send(mail, sending),
    models: modelsOf(mechanisms, metrics),
    knowledge: knowledgeOf(database, questions.read),
    tools: { approvedHosts: (accountId) => findApprovedHosts(database.sql, accountId) },
    burst: burstsOf(mechanisms),
    replies: (place) => countBotReplies(database.sql, place),
  } satisfies DoorPorts;
}

// In the sandbox for uploaded packages, so that no customer waits for a trial.
function trialsOf({ trials, plugins, secretBox, clock, random }: Mechanisms, ports: ReturnType<typeof doorsOf>) {
  // The conversation of a trial is none of the database: a real one has the same id, and is not to be read.
  const { burst: _, replies: __, mail: ___, ...doors } = ports;
  return createTrials({
    sandbox: trials,
    plugins,
    doors: { ...doors, tools: { ...doors.tools, readsOnly: true } },
    openSecret: (sealed) => secretBox.open(sealed),
    clock,
    random,
  });
}

// In the sandbox for uploaded packages as well. Without its doors, a run can write and request nothing.
function dryRunsOf({ trials: sandbox, databases, plugins, secretBox, clock, random, log, config }: Mechanisms) {
  const common = { database: databases.engine, plugins, sandbox, clock, random, log };
  const openSecret = (sealed: string) => secretBox.open(sealed);
  const ports = runPortsOf({ ...common, openSecret, storageBytes: config.botStorageBytes });
  const { customers: _, ...doors } = ports.doors ?? {};
  return createDryRuns({ ...ports, doors });
}

function replyFilesOf(mechanisms: Mechanisms): ReplyFileStore {
  const { fileOutbound, plainOutbound, attachments, databases, config, warn } = mechanisms;
  return new ReplyFileStore({
    fetch: fetchOutbound({ secure: fileOutbound, plain: plainOutbound }, config.attachmentBytes),
    store: attachments,
    sql: databases.engine.sql,
    runBytes: config.attachmentFormBytes,
    failed: warn,
  });
}

function runningOf(
  { config, databases, plugins, sandbox, clock, random, log, secretBox }: Mechanisms,
  doors: DoorPorts,
): RunnerOptions {
  const openSecret = (sealed: string) => secretBox.open(sealed);
  const common = { database: databases.engine, plugins, sandbox, clock, random, log };
  return { ...common, doors, openSecret, storageBytes: config.botStorageBytes };
}

/** The part of the deliveries in progress that automations, and channels, may have beside those of webhooks and bots. */
const [automationShare, channelShare] = [0.25, 0.5];

function createEngine(
  mechanisms: Mechanisms,
  { retries, metrics, doors }: Pick<EngineOptions, 'retries'> & { metrics: Metrics; doors: DoorPorts },
): Engine {
  const { config, databases, clock, random, log, secretBox, outbound, warn, gate } = mechanisms;
  const database = databases.engine;
  const { holdAttempts } = config;
  const running = { ...runningOf(mechanisms, doors), files: replyFilesOf(mechanisms) };
  const runners = {
    botRunner: new BotRunner(running),
    freeRunner: new FreeRunner(running),
    channelRunner: new ChannelRunner(running),
  };
  const ways = { database, random, clock, secretBox, outbound, holdAttempts, log, failed: warn };
  const toServer = toBotServer(ways);
  const toRun = toPlugin({ ...ways, ...runners, forward: toServer });
  return new Engine({
    database,
    random,
    gate,
    deliver: {
      webhook: metrics.measured('webhook', toWebhook(ways)),
      bot: metrics.measured('bot', (claimed, standing, onWait) =>
        (claimed.endpoint.runs ? toRun : toServer)(claimed, standing, onWait),
      ),
      automation: metrics.measured('automation', toRun),
      channel: metrics.measured('channel', toRun),
    },
    inFlight: {
      webhook: config.engineInFlight,
      bot: config.engineInFlight,
      automation: Math.ceil(config.engineInFlight * automationShare),
      channel: Math.ceil(config.engineInFlight * channelShare),
    },
    room: { total: config.waitingRuns, perAccount: config.waitingRunsPerAccount },
    endpointInFlight: config.endpointInFlight,
    resent: { inFlight: config.engineResentInFlight, endpointInFlight: config.endpointResentInFlight },
    leaseSeconds: config.leaseSeconds,
    holdAttempts,
    pollMs: config.enginePollMs,
    retries,
    failed: warn,
  });
}
