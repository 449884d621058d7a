import type { RecordedRun } from '../domain/bots/runs.ts';
import { busy } from '../errors.ts';
import { storableJson } from '../lib/text/storable.ts';
import { openConfig } from '../packages/manifest/manifest.ts';
import { createSandbox, type SandboxOptions } from '../sandbox/parent/pool.ts';
import type { Sandbox } from '../sandbox/run.ts';
import { readReplayable, type Replayable } from './replayable.ts';
import { inOrder, repeat } from './repeat.ts';
import { isInterruption, isOutcomeOfSandbox } from './sandbox-outcomes.ts';

/** How a run ended when it was repeated from its record. */
export interface Replay {
  /** Whether it ended as recorded, with the same actions, byte for byte. */
  identical: boolean;
  /** `diverged`: its calls differ from those in the record. */
  outcome: string;
  actions: Record<string, unknown>[];
}

/** How long the processes wait for the next replay. */
const idleMs = 30_000;
// Outcomes that say nothing of the run: it was not repeated.
const noAnswers = new Set(['queue_full', 'waiting_full', 'unavailable']);

/**
 * Repeats runs from their records, in processes of its own, so that nobody's bot waits for a repetition. The processes are
 * started for the first replay, and end when there has been none for a while.
 */
export class Replayer {
  readonly #options: SandboxOptions;
  #sandbox: Sandbox | null = null;
  #underWay = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** Repeats a run. Errors: 409 when the record does not suffice; 503 while too many wait. */
  async replay(replayable: Replayable): Promise<Replay> {
    const { run } = replayable;
    const { manifest, repeater, recording } = readReplayable(replayable);
    if (run.outcome === 'load_failed' && openConfig(manifest, run.config).problems.length > 0) {
      return compare(run, { outcome: run.outcome, actions: [] });
    }
    const { result, unanswered } = await this.#use((sandbox) =>
      repeat(sandbox, recording, { repeater, recall: inOrder }),
    );
    if (noAnswers.has(result.outcome) || this.#isClosed) throw busy();
    if (unanswered) {
      const isEnd = result.calls.length === recording.calls.length - (repeater.permissions.history > 0 ? 1 : 0);
      const outcome = isEnd && isInterruption(run.outcome) ? run.outcome : 'diverged';
      return compare(run, { outcome, actions: [] });
    }
    // Leaves out outcomes of the commit, which is no part of the run.
    const isAsRecorded = result.outcome === (isOutcomeOfSandbox(run.outcome) ? run.outcome : 'ok');
    return compare(run, { outcome: isAsRecorded ? run.outcome : result.outcome, actions: result.actions });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await this.#sandbox?.close();
  }

  async #use<Result>(work: (sandbox: Sandbox) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw busy();
    clearTimeout(this.#idle);
    this.#underWay += 1;
    this.#sandbox ??= createSandbox(this.#options);
    try {
      return await work(this.#sandbox);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0 && !this.#isClosed) this.#idle = setTimeout(() => this.#rest(), idleMs).unref();
    }
  }

  #rest(): void {
    void this.#sandbox?.close();
    this.#sandbox = null;
  }
}

function compare(run: RecordedRun, { outcome, actions }: { outcome: string; actions: object[] }): Replay {
  const identical = outcome === run.outcome && matchesRecord(storableJson(actions), run.actionsText);
  // As recorded, without the secrets that the bot has read.
  const shown = identical ? (JSON.parse(run.actionsText) as object[]) : actions;
  return { identical, outcome, actions: shown.map((action) => ({ ...action })) };
}

/** Whether a repeated text is the recorded one, which has the names of secrets in their places. */
export function matchesRecord(repeated: string, recorded: string): boolean {
  const [first = '', ...others] = recorded.split(/\[secret [^[\]"]+\]/);
  if (others.length === 0) return repeated === recorded;
  let at = repeated.startsWith(first) ? first.length : -1;
  for (const part of others.slice(0, -1)) {
    const next = at === -1 ? -1 : repeated.indexOf(part, at);
    at = next === -1 ? -1 : next + part.length;
  }
  const last = others.at(-1) ?? '';
  return at !== -1 && repeated.length - last.length >= at && repeated.endsWith(last);
}
