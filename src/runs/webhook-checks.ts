import { keepCheck, takeDueChecks, whyMissed, type DueCheck } from '../domain/channels/checks.ts';
import { reasonOf } from './run-error.ts';
import { runBot, type RunPorts } from './run.ts';
import { runPortsOf, type RunnerOptions } from './runner-options.ts';

/**
 * Has channels check, each hour, whether the other system still sends to their hook: another system may have taken its place. The
 * result is part of the inbox's health.
 */
export class WebhookChecks {
  readonly #options: RunnerOptions;
  readonly #ports: RunPorts;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#ports = runPortsOf(options);
  }

  /** Makes the checks that are due, one after the other: nobody waits for them. */
  async run(): Promise<void> {
    for (const due of await takeDueChecks(this.#options.database)) await this.#check(due);
  }

  async #check(due: DueCheck): Promise<void> {
    const { account, bot } = due;
    const event = { id: 0, name: 'check', conversationId: null, depth: 0 };
    const body = JSON.stringify({ event: 'check', account });
    const input = { account, botId: bot.id, event, body, attempt: 1, failures: 0 };
    const { result } = await runBot(this.#ports, input, bot);
    const { database } = this.#options;
    if (result.outcome === 'no_handler') return keepCheck(database, due, null);
    if (result.outcome === 'threw') return keepCheck(database, due, reasonOf(result.error ?? ''));
    // A full queue, or another system that is busy: nothing is known.
    const found = result.actions.find((action) => action.type === 'webhook');
    if (found) await keepCheck(database, due, await whyMissed(database, due, found.url));
  }
}
