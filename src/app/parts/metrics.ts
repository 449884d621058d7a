import packageJson from '../../../package.json' with { type: 'json' };
import type { EndpointKind } from '../../deliveries/core/endpoint.ts';
import { readBacklogFigures } from '../../deliveries/log/figures.ts';
import type { Attempted, Deliver } from '../../engine/attempt.ts';
import type { RunFigures } from '../../events/announcements.ts';
import type { HookOutcome } from '../../http/server/hooks/receive-hooks.ts';
import {
  boundedLabel,
  Counter,
  Gauge,
  Histogram,
  prefix,
  processRegistry,
  Registry,
  secondsBuckets,
} from '../../metrics/registries.ts';
import type { Chat } from '../../models/chat.ts';
import type { Sql } from '../../postgres/sql.ts';
import { readJobLags } from '../job-lags.ts';
import type { Databases } from './connections.ts';

/** Sources that metrics read on each scrape. */
export interface Sources {
  databases: Databases;
  /** Open streams of events. */
  streams: () => number;
  failed: (error: unknown) => void;
}

// Scrapes within this time share the figures that were last read from the database.
const keptMs = 5_000;

/** Metrics for Prometheus: counters of this process, and figures read from the database. */
export class Metrics {
  readonly #own = new Registry();
  readonly #read = new Registry();
  readonly requests = this.#histogram('http_request_duration_seconds', 'Time to answer a request.', [
    'method',
    'route',
    'status',
  ]);
  readonly rateLimited = this.#counter('rate_limited_total', 'Requests that were refused with 429.', ['policy']);
  readonly #hooks = this.#counter('hook_requests_total', 'Requests of hooks.', ['outcome']);
  /** Counts a request of a hook. */
  readonly countHook = (outcome: HookOutcome): void => this.#hooks.inc({ outcome });
  readonly #attempts = this.#counter('webhook_attempts_total', 'Attempts to deliver an event.', ['kind', 'result']);
  readonly #ended = this.#counter('webhook_deliveries_total', 'Deliveries to webhooks that an attempt ended.', [
    'state',
  ]);
  readonly #durations = this.#histogram('webhook_attempt_duration_seconds', 'Time of an attempt.', ['kind']);
  readonly #runs = this.#counter('bot_runs_total', 'Runs of bots inside the service.', ['plugin', 'outcome']);
  readonly #cpu = this.#histogram('bot_run_cpu_seconds', 'Processor time of a run.', ['plugin']);
  readonly #tokens = this.#counter('ai_tokens_total', 'Tokens that language models read and wrote.', [
    'model',
    'direction',
  ]);
  readonly #pools = this.#gauge(this.#own, 'db_pool_in_use', 'Database connections in use.', ['pool']);
  readonly #streams = this.#gauge(this.#own, 'event_streams', 'Open streams of events.');
  readonly #pending = this.#gauge(this.#read, 'webhook_pending', 'Deliveries that have not ended.');
  readonly #oldest = this.#gauge(this.#read, 'webhook_oldest_pending_seconds', 'Age of the oldest of them.');
  readonly #lags = this.#gauge(this.#read, 'jobs_lag_seconds', 'How long work that may be done has waited.', ['queue']);
  readonly #endpoints = this.#gauge(this.#read, 'webhook_endpoints', 'Webhooks by state.', ['state']);
  readonly #models = boundedLabel();
  readonly #plugins = boundedLabel();
  #readAt: number | null = null;

  constructor() {
    const { version } = packageJson;
    this.#gauge(this.#own, 'build_info', 'The release of this process.', ['version']).set({ version }, 1);
    // A rate of a counter misses the step from nothing to its first value.
    for (const kind of ['webhook', 'bot', 'automation', 'channel'])
      for (const result of ['delivered', 'failed', 'unanswered', 'skipped', 'defect'])
        this.#attempts.inc({ kind, result }, 0);
    for (const state of ['delivered', 'exhausted', 'cancelled']) this.#ended.inc({ state }, 0);
  }

  /** Counts the attempts that `deliver` makes on endpoints of the kind. */
  measured(kind: EndpointKind, deliver: Deliver): Deliver {
    return async (...call) => {
      const begun = performance.now();
      try {
        const attempted = await deliver(...call);
        this.#attempts.inc({ kind, result: attempted.outcome });
        const state = endOf(attempted);
        if (kind === 'webhook' && state !== null) this.#ended.inc({ state });
        return attempted;
      } catch (error) {
        this.#attempts.inc({ kind, result: 'defect' });
        throw error;
      } finally {
        this.#durations.observe({ kind }, (performance.now() - begun) / 1000);
      }
    };
  }

  /** Counts the tokens of requests through `chat`. */
  measuredChat(chat: Chat): Chat {
    return async (...question) => {
      const answer = await chat(...question);
      const { usage } = answer;
      const model = this.#models(answer.model);
      this.#tokens.inc({ model, direction: 'in' }, usage.prompt_tokens);
      this.#tokens.inc({ model, direction: 'out' }, usage.completion_tokens);
      return answer;
    };
  }

  /** Counts a recorded run. */
  ran({ outcome, cpuSeconds, ...run }: RunFigures): void {
    const plugin = this.#plugins(run.plugin);
    this.#runs.inc({ plugin, outcome });
    this.#cpu.observe({ plugin }, cpuSeconds);
  }

  /** Returns all metrics in the text format of Prometheus; those of the process alone if the database is not available. */
  async text({ databases, streams, failed }: Sources): Promise<string> {
    for (const [pool, { inUse }] of Object.entries(databases)) this.#pools.set({ pool }, inUse);
    this.#streams.set(streams());
    const registries = [this.#own, processRegistry()];
    try {
      await this.#readFigures(databases.requests.sql);
      registries.push(this.#read);
    } catch (error) {
      failed(error);
    }
    return Registry.merge(registries).metrics();
  }

  async #readFigures(sql: Sql): Promise<void> {
    const now = performance.now();
    if (this.#readAt !== null && now - this.#readAt < keptMs) return;
    this.#readAt = null;
    const [{ pending, oldestSeconds, lagSeconds, webhooks }, lags] = await Promise.all([
      readBacklogFigures(sql),
      readJobLags(sql),
    ]);
    this.#pending.set(pending);
    this.#oldest.set(oldestSeconds);
    this.#lags.reset();
    for (const [queue, seconds] of [['deliveries', lagSeconds] as const, ...lags]) this.#lags.set({ queue }, seconds);
    for (const [state, count] of Object.entries(webhooks)) this.#endpoints.set({ state }, count);
    this.#readAt = now;
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: prefix + name, help, labelNames, registers: [this.#own] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[]): Histogram<Label> {
    return new Histogram({ name: prefix + name, help, labelNames, buckets: secondsBuckets, registers: [this.#own] });
  }

  #gauge<Label extends string>(registry: Registry, name: string, help: string, labelNames: Label[] = []): Gauge<Label> {
    return new Gauge({ name: prefix + name, help, labelNames, registers: [registry] });
  }
}

/** The state in which an attempt ended its delivery; null when it is tried again, or is another process's. */
function endOf({ finished, outcome }: Attempted): string | null {
  if (finished === null) return outcome === 'delivered' ? 'delivered' : null;
  return finished.state === 'pending' ? null : finished.state;
}
