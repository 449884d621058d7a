import type { HeardEvent } from '../domain/bots/heard-events.ts';
import { ApiError, busy } from '../errors.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import type { LogLine, RunResult } from '../sandbox/run.ts';
import { runBot, type RunPorts } from './run.ts';

/** An automation, and events that it might act on. */
interface DryRun {
  account: { id: number; name: string };
  bot: BotToRun;
  events: readonly HeardEvent[];
}

/** Actions that an automation would have taken for an event, by its rule; null for a plugin that names none. */
interface Match {
  event: HeardEvent;
  rule: string | null;
  actions: RunResult['actions'];
}

/**
 * Runs an automation for events without effects. `lookedAt` is less than the number of events when they took too long.
 * Errors: 422 `run_failed` when a run fails; 503 while too many dry runs are under way.
 */
export type RunDry = (dryRun: DryRun) => Promise<{ lookedAt: number; matches: Match[] }>;

/** Dry runs under way at once. */
const maxUnderWay = 4;
/** Time after which no further event is looked at. */
const maxMs = 10_000;
const completed: ReadonlySet<string> = new Set(['ok', 'no_handler']);
// A full queue and a busy machine are not the plugin's fault.
const passing: ReadonlySet<string> = new Set(['queue_full', 'waiting_full', 'unavailable', 'crashed']);

/** Creates the function that runs automations without effects: what they store, write and request is left out. */
export function createDryRuns(ports: RunPorts): RunDry {
  let underWay = 0;
  return async (dryRun) => {
    if (underWay >= maxUnderWay) throw busy();
    underWay += 1;
    try {
      return await runAll(ports, dryRun);
    } finally {
      underWay -= 1;
    }
  };
}

async function runAll(ports: RunPorts, { account, bot, events }: DryRun): ReturnType<RunDry> {
  // A version that was installed meanwhile is used: nobody announces it to processes that run no bots.
  await ports.plugins.refresh();
  const endsAt = performance.now() + maxMs;
  const matches: Match[] = [];
  for (const [lookedAt, event] of events.entries()) {
    if (performance.now() > endsAt) return { lookedAt, matches };
    const { body, ...about } = event;
    const { result } = await runBot(
      ports,
      { account, botId: bot.id, event: about, body, attempt: 1, failures: 0 },
      bot,
    );
    if (passing.has(result.outcome)) throw busy();
    if (!completed.has(result.outcome)) throw failed(event, result);
    matches.push(...matchesOf(result).map((match) => ({ event, ...match })));
  }
  return { lookedAt: events.length, matches };
}

function failed({ id, name }: HeardEvent, { outcome, error = '' }: RunResult): ApiError {
  return new ApiError(422, 'run_failed', `The run for event ${id} (${name}) failed: ${outcome}. ${error}`.trim());
}

// A line of the log with the fields `rule` and `actions` names the rule that wanted the next actions.
function matchesOf({ actions, logs }: RunResult): Omit<Match, 'event'>[] {
  let taken = 0;
  const byRule = logs.flatMap(({ fields }: LogLine) => {
    const { rule, actions: count } = fields ?? {};
    if (typeof rule !== 'string' || typeof count !== 'number') return [];
    return [{ rule, actions: actions.slice(taken, (taken += count)) }];
  });
  const others = actions.slice(taken);
  return others.length > 0 ? [...byRule, { rule: null, actions: others }] : byRule;
}
