import type { CallService } from '../../../lib/service-client.ts';
import { byQuestion } from '../../../runs/repeat.ts';
import type { Recall, RecordedCall } from '../../../sandbox/run.ts';
import type { Shape } from '../../../schemas.ts';
import { patiently } from '../../patiently.ts';
import type { ListedRun } from './runs-of-plugin.ts';

/** Why no more is asked: the bound of the command, the bot's tokens of the day, or no model server. */
type LiveEnd = 'max_tokens' | 'budget' | 'unavailable';

/** Questions to a model that is asked anew, and what they took. */
export interface LiveReport {
  questions: number;
  prompt_tokens: number;
  completion_tokens: number;
  models: string[];
  /** Runs that could not be compared, because the model gave no answer. */
  failed: { run_id: number; reason: string }[];
  stopped: LiveEnd | null;
}

type Call = Pick<RecordedCall, 'name' | 'input'>;
type Answer = Shape<'resources/bot-call'>;

const ends: Readonly<Record<string, LiveEnd>> = { budget: 'budget', unavailable: 'unavailable' };

/**
 * Asks the model of recorded runs anew, through the service, as their bots: with their model, and counted in their usage and
 * their tokens of the day.
 */
export class LiveModel {
  readonly #call: CallService;
  readonly #maxTokens: number;
  readonly #left = new Set<number>();
  readonly #models = new Set<string>();
  readonly #report: Omit<LiveReport, 'models'> = {
    questions: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    failed: [],
    stopped: null,
  };

  /** Asks nothing more once the answers have taken `maxTokens`. */
  constructor(call: CallService, maxTokens: number) {
    this.#call = call;
    this.#maxTokens = maxTokens;
  }

  get report(): LiveReport {
    return { ...this.#report, models: [...this.#models] };
  }

  /** Whether nothing more is asked. */
  get hasEnded(): boolean {
    return this.#report.stopped !== null;
  }

  /** Whether a run is left out, since a question of it had no answer that says anything of the bot. */
  isLeftOut(run: ListedRun): boolean {
    return this.#left.has(run.id);
  }

  /** Answers of a run: the model's are new, all others recorded, but for searches that the record does not answer. */
  recallFor(run: ListedRun): (calls: readonly RecordedCall[]) => Recall {
    return (calls) => {
      const recorded = byQuestion(calls);
      return async (call) => {
        if (call.name === 'llm.chat') return this.#ask(run, call);
        // The model may have worded the search.
        return (await recorded(call)) ?? (call.name === 'kb.search' ? this.#ask(run, call) : null);
      };
    };
  }

  async #ask(run: ListedRun, { name, input }: Call): Promise<Pick<RecordedCall, 'output' | 'error'>> {
    if (this.hasEnded) return this.#leaveOut(run);
    const path = `/api/v1/accounts/${run.account_id}/agent_bots/${run.agent_bot_id}/calls`;
    const { output, error, usage } = await patiently(() => this.#call<Answer>('POST', path, { name, input }));
    if (error) return this.#leaveOut(run, error);
    if (name === 'llm.chat') this.#count(output, usage);
    return { output };
  }

  #count(output: unknown, usage: Answer['usage']): void {
    const { model } = output as { model?: string };
    if (model !== undefined) this.#models.add(model);
    this.#report.questions += 1;
    this.#report.prompt_tokens += usage.prompt_tokens;
    this.#report.completion_tokens += usage.completion_tokens;
    const { prompt_tokens: prompt, completion_tokens: completion } = this.#report;
    if (prompt + completion >= this.#maxTokens) this.#report.stopped ??= 'max_tokens';
  }

  #leaveOut(run: ListedRun, error?: { code: string; message: string }): { error: { code: string; message: string } } {
    const end = error && ends[error.code];
    if (end) this.#report.stopped ??= end;
    else if (error && !this.#left.has(run.id)) this.#report.failed.push({ run_id: run.id, reason: error.message });
    this.#left.add(run.id);
    return { error: error ?? { code: 'budget', message: 'No more is asked' } };
  }
}

const stops: Readonly<Record<LiveEnd, string>> = {
  max_tokens: 'Stopped at --max-tokens: raise it to compare the other runs too.',
  budget: 'Stopped: the tokens of a bot for today (`tokens_per_day`) are used up. The other runs were not compared.',
  unavailable: 'Stopped: a bot has no model server. Set one in the account (`llm`) or in the service (LLM_BASE_URL).',
};

/** The report in lines, for people. */
export function tellLive({
  questions,
  prompt_tokens: prompt,
  completion_tokens: completion,
  ...more
}: LiveReport): string[] {
  const { models, failed, stopped } = more;
  const by = models.length === 0 ? '' : ` by ${models.join(', ')}`;
  const reason = failed[0] ? ` (run ${failed[0].run_id}: ${failed[0].reason})` : '';
  return [
    `The model was asked anew: ${questions} answers${by}, ${prompt} prompt tokens and ${completion} completion tokens.`,
    'The tokens count in the usage and the `tokens_per_day` of the bots. Answers of a model may differ from one run to the next.',
    ...(failed.length > 0 ? [`${failed.length} runs were not compared: the model gave no answer${reason}.`] : []),
    ...(stopped === null ? [] : [stops[stopped]]),
  ];
}
