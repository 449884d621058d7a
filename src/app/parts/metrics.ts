import type { Deliver } from '../../engine/attempt.ts';
import { readBacklogFigures } from '../../deliveries/log/figures.ts';
import type { RunFigures } from '../../events/announcements.ts';
import { gaugeLines, type Reading } from '../../metrics/text.ts';
import { Counter, Histogram } from '../../metrics/measures.ts';
import type { Chat } from '../../models/chat.ts';
import type { Databases } from './connections.ts';
import { readJobLags } from '../job-lags.ts';

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
  readonly requests = new Histogram('http_request_duration_seconds', 'Time to answer a request.');
  readonly rateLimited = new Counter('rate_limited_total', 'Requests that were refused with 429, by limit.');
  readonly #attempts = new Counter(
    'webhook_attempts_total',
    'Attempts to deliver an event, by kind of endpoint and result.',
  );
  readonly #durations = new Histogram('webhook_attempt_duration_seconds', 'Time of an attempt to deliver an event.');
  readonly #runs = new Counter('bot_runs_total', 'Runs of bots inside the service, by plugin and outcome.');
  readonly #cpu = new Histogram('bot_run_cpu_seconds', 'Processor time of a run.');
  readonly #tokens = new Counter('ai_tokens_total', 'Tokens that language models read and wrote.');
  #figures: { lines: string[]; at: number } | null = null;

  /** Counts the attempts that `deliver` makes on endpoints of the kind. */
  measured(kind: 'webhook' | 'bot', deliver: Deliver): Deliver {
    return async (...call) => {
      const begun = performance.now();
      try {
        const attempted = await deliver(...call);
        this.#attempts.count({ kind, result: attempted.outcome });
        return attempted;
      } catch (error) {
        this.#attempts.count({ kind, result: 'defect' });
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
      const { model, usage } = answer;
      this.#tokens.count({ model, direction: 'in' }, usage.prompt_tokens);
      this.#tokens.count({ model, direction: 'out' }, usage.completion_tokens);
      return answer;
    };
  }

  /** Counts a recorded run. */
  ran({ plugin, outcome, cpuSeconds }: RunFigures): void {
    this.#runs.count({ plugin, outcome });
    this.#cpu.observe({ plugin }, cpuSeconds);
  }

  /** Returns all metrics in the text format of Prometheus; those of the process alone if the database is not available. */
  async text(sources: Sources): Promise<string> {
    const counted = [
      this.requests,
      this.rateLimited,
      this.#attempts,
      this.#durations,
      this.#runs,
      this.#cpu,
      this.#tokens,
    ];
    const { databases, streams } = sources;
    const pools = Object.entries(databases).map(([pool, { inUse }]) => ({ labels: { pool }, value: inUse }));
    const lines = [
      ...counted.flatMap((metric) => metric.lines()),
      ...gaugeLines('db_pool_in_use', 'Database connections in use.', pools),
      ...gaugeLines('event_streams', 'Open streams of events.', [{ value: streams() }]),
      ...(await this.#ofDatabase(sources)),
    ];
    return `${lines.join('\n')}\n`;
  }

  async #ofDatabase({ databases, failed }: Sources): Promise<string[]> {
    const now = performance.now();
    if (this.#figures && now - this.#figures.at < keptMs) return this.#figures.lines;
    const sql = databases.requests.sql;
    try {
      const { pending, oldestSeconds, lagSeconds } = await readBacklogFigures(sql);
      const lags: Reading[] = Array.from(await readJobLags(sql), ([queue, value]) => ({ labels: { queue }, value }));
      const lines = [
        ...gaugeLines('webhook_pending', 'Deliveries that have not ended.', [{ value: pending }]),
        ...gaugeLines('webhook_oldest_pending_seconds', 'Age of the oldest of them.', [{ value: oldestSeconds }]),
        ...gaugeLines('jobs_lag_seconds', 'How long the work that is due has been waiting.', [
          { labels: { queue: 'deliveries' }, value: lagSeconds },
          ...lags,
        ]),
      ];
      this.#figures = { lines, at: now };
      return lines;
    } catch (error) {
      failed(error);
      return [];
    }
  }
}
