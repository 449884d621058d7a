import { Engine } from '../deliveries/engine.ts';
import { toBotServer } from '../deliveries/to-bot-server.ts';
import { toPlugin } from '../deliveries/to-plugin.ts';
import { toWebhook } from '../deliveries/to-webhook.ts';
import { FeedPump } from '../events/feed-pump.ts';
import type { HttpServer } from '../http/server/server.ts';
import { AlarmClock } from '../jobs/alarm-clock.ts';
import { BotRunner } from '../runs/bot-runner.ts';
import { alarmsOf } from './alarms.ts';
import type { Mechanisms } from './mechanisms.ts';
import { createServer } from './server.ts';

/** All parts of the service. */
export interface Parts extends Mechanisms {
  readonly engine: Engine;
  readonly feed: FeedPump;
  readonly alarms: AlarmClock;
  readonly http: HttpServer;
}

/** Creates the parts and subscribes each to the announcements that concern it. Nothing runs yet. */
export function compose(mechanisms: Mechanisms): Parts {
  const { config, databases, warn, servesEngine } = mechanisms;
  const database = databases.engine;
  const engine = createEngine(mechanisms);
  const feed = new FeedPump({ database, pollMs: config.enginePollMs, failed: warn });
  const alarms = createAlarms(mechanisms);
  const http = createServer(mechanisms);
  databases.requests.onAnnounced('deliveries', (touched) => servesEngine && engine.poke(touched));
  databases.requests.onAnnounced('events', () => servesEngine && feed.poke());
  databases.requests.onAnnounced('snooze', (until) => void alarms.ringAt('wake-snoozed', until).catch(warn));
  return { ...mechanisms, engine, feed, alarms, http };
}

function createEngine(mechanisms: Mechanisms): Engine {
  const { config, databases, plugins, sandbox, clock, random, log, secretBox, outbound, warn } = mechanisms;
  const database = databases.engine;
  const { holdAttempts } = config;
  const botRunner = new BotRunner({ database, plugins, sandbox, clock, random, log });
  const ways = { database, random, clock, secretBox, outbound, holdAttempts, log, failed: warn };
  const [toServer, toRun] = [toBotServer(ways), toPlugin({ ...ways, botRunner })];
  return new Engine({
    database,
    random,
    deliver: {
      webhook: toWebhook(ways),
      bot: (claimed, standing) => (claimed.endpoint.url === null ? toRun : toServer)(claimed, standing),
    },
    inFlight: { webhook: config.engineInFlight, bot: config.engineInFlight },
    endpointInFlight: config.endpointInFlight,
    leaseSeconds: config.leaseSeconds,
    holdAttempts,
    pollMs: config.enginePollMs,
    failed: warn,
  });
}

function createAlarms({ options, config, clock, databases, warn }: Mechanisms): AlarmClock {
  const { databaseUrl } = options;
  return new AlarmClock({ databaseUrl, clock, alarms: alarmsOf(databases.engine, config), failed: warn });
}
