import { OperatorError } from '../../../lib/operator-error.ts';
import { systemClock } from '../../../lib/ports.ts';
import type { CallService } from '../../../lib/service-client.ts';
import { PluginError } from '../../../packages/plugin-error.ts';
import { readPackage, type ReadPackage } from '../../../packages/read/read.ts';
import { createSandbox } from '../../../sandbox/parent/pool.ts';
import type { Sandbox } from '../../../sandbox/run.ts';
import { printAnswer } from '../../terminal/print.ts';
import { serviceOf, type ServiceOptions } from '../../service.ts';
import { compareRun, type Candidate, type ComparedRun } from './compare-run.ts';
import { LiveModel, tellLive, type LiveReport } from './live-model.ts';
import { isIncomplete, readWholeRuns } from './whole-runs.ts';
import { ProgressBar } from '../../terminal/progress-bar.ts';
import { findSources, readRuns, timeOf, type ListedRun, type RunSelection, type RunSource } from './runs-of-plugin.ts';

export interface BacktestOptions extends ServiceOptions, RunSelection {
  since: number;
  /** The highest number of runs. */
  limit: number;
  /** Ask the model anew, in place of its recorded answers. */
  liveModel?: boolean;
  /** Tokens of the model after which no more is asked. */
  maxTokens: number;
}

/** The runs of a conversation that would end differently. */
interface ComparedConversation {
  account_id: number;
  /** Null for runs without one. */
  conversation_id: number | null;
  runs: ComparedRun[];
}

/** Result of a backtest. `skipped`: there are more runs than the limit; `erased`: runs whose content is deleted. */
interface Backtest {
  plugin: { id: string; version: string; hash: string };
  since: number;
  runs: number;
  identical: number;
  different: number;
  erased: number;
  skipped: boolean;
  conversations: ComparedConversation[];
  /** Null where the model was not asked anew. */
  live_model: LiveReport | null;
}

/** Runs at once whose model is asked anew. */
const liveAtOnce = 2;
const sandboxOptions = { size: 2, queueLimit: 100, maxRssMb: 256 };

/** The command `plugin backtest`: repeats recorded runs with the version in a folder, and prints those that end differently. */
export async function backtestPlugin(directory: string, options: BacktestOptions): Promise<void> {
  const pack = await read(directory);
  const call = serviceOf(options);
  const sandbox = createSandbox(sandboxOptions);
  const bar = new ProgressBar();
  try {
    const found = await backtest({ call, sandbox, bar, pack }, options);
    bar.end();
    printAnswer(found, options, tell);
  } finally {
    bar.end();
    await sandbox.close();
  }
}

async function read(directory: string): Promise<ReadPackage> {
  try {
    return await readPackage(directory);
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    throw new OperatorError(['This plugin cannot be used:', ...error.problems.map((one) => `  - ${one}`)].join('\n'));
  }
}

interface Tools {
  call: CallService;
  sandbox: Sandbox;
  bar: ProgressBar;
  pack: ReadPackage;
}

async function backtest({ call, sandbox, bar, pack }: Tools, options: BacktestOptions): Promise<Backtest> {
  const { id, version } = pack.manifest;
  const { since, limit } = options;
  const live = options.liveModel ? new LiveModel(call, options.maxTokens) : null;
  const candidate = candidateOf({ sandbox, pack }, live);
  const different: Compared[] = [];
  const all = await findSources(call, id, options);
  const sources = live ? botsAmong(all) : all;
  const now = systemClock.now().getTime() / 1000;
  let taken = 0;
  let runs = 0;
  let erased = 0;
  let skipped = false;
  for (const [at, source] of sources.entries()) {
    for await (const whole of readRuns(call, source, options)) {
      const some = whole.slice(0, limit - taken);
      const kept = some.filter((run) => run.erased_at === null);
      const page = (await readWholeRuns(call, source, kept)).filter((run) => !isIncomplete(run, source));
      erased += some.length - page.length;
      skipped ||= some.length < whole.length;
      taken += page.length;
      const { compared, found, hasEnded } = await compareRuns(page, candidate, live);
      different.push(...found);
      runs += compared;
      // The list is newest first: the time since its last run is the part that is done.
      const passed = (now - (some.at(-1)?.created_at ?? since)) / Math.max(1, now - since);
      bar.show((at + Math.min(1, passed)) / sources.length, `${runs} runs, ${different.length} differ`);
      if (skipped || hasEnded) break;
    }
  }
  const { hash } = pack.bundle;
  const identical = runs - different.length;
  const conversations = groupOf(different);
  const counts = { runs, identical, different: different.length, erased, skipped };
  return { plugin: { id, version, hash }, since, ...counts, conversations, live_model: live?.report ?? null };
}

// Model calls outside a run are made as an agent bot.
function botsAmong(sources: readonly RunSource[]): RunSource[] {
  const bots = sources.filter(({ kind }) => kind === 'bot');
  if (bots.length > 0) return bots;
  throw new OperatorError('--live-model is for agent bots: repeat runs of automations and channels without it.');
}

interface Compared {
  run: ListedRun;
  compared: ComparedRun;
}

function candidateOf(version: Pick<Candidate, 'sandbox' | 'pack'>, live: LiveModel | null): Candidate {
  return live ? { ...version, recallFor: (run) => live.recallFor(run) } : version;
}

/** Compares runs: few at once where the model is asked anew, and none any more after it has ended. */
async function compareRuns(
  page: readonly ListedRun[],
  candidate: Candidate,
  live: LiveModel | null,
): Promise<{ compared: number; found: Compared[]; hasEnded: boolean }> {
  const parts = live ? divide(page, liveAtOnce) : [page];
  const found: Compared[] = [];
  let count = 0;
  for (const part of parts) {
    if (live?.hasEnded) break;
    const ends = await Promise.all(part.map(async (run) => ({ run, compared: await compareRun(run, candidate) })));
    const kept = ends.filter(({ run }) => !live?.isLeftOut(run));
    count += kept.length;
    found.push(...kept.flatMap(({ run, compared }) => (compared ? [{ run, compared }] : [])));
  }
  return { compared: count, found, hasEnded: live?.hasEnded ?? false };
}

function divide(page: readonly ListedRun[], size: number): ListedRun[][] {
  return Array.from({ length: Math.ceil(page.length / size) }, (_, at) => page.slice(at * size, (at + 1) * size));
}

function groupOf(different: readonly Compared[]): ComparedConversation[] {
  const groups = Map.groupBy(different, ({ run }) => `${run.account_id} ${run.conversation_id}`);
  const conversations = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const runs = group.map(({ compared }) => compared).sort((one, other) => one.run_id - other.run_id);
    return [{ account_id: first.run.account_id, conversation_id: first.run.conversation_id, runs }];
  });
  return conversations.sort((one, other) => one.account_id - other.account_id || orderOf(one) - orderOf(other));
}

// Runs without a conversation come first.
function orderOf({ conversation_id: id }: ComparedConversation): number {
  return id ?? -1;
}

function tell(found: Backtest): string[] {
  const { plugin, since, runs, different, erased, skipped, conversations, live_model: live } = found;
  const lines = conversations.flatMap(({ account_id: account, conversation_id: conversation, runs: compared }) => [
    `${conversation === null ? 'No conversation' : `Conversation ${conversation}`} of account ${account}`,
    ...compared.flatMap(tellRun),
    '',
  ]);
  const sum =
    runs === 0
      ? `There are no runs of ${plugin.id} since ${timeOf(since)} (UTC).`
      : `${runs} runs since ${timeOf(since)} (UTC) repeated with ${plugin.id} ${plugin.version}: ${different} would end otherwise, in ${conversations.length} conversations.`;
  const left = erased > 0 ? [`${erased} runs cannot be repeated: their content was deleted.`] : [];
  const asked = live ? tellLive(live) : [];
  return [
    ...lines,
    sum,
    ...asked,
    ...left,
    ...(skipped ? ['There are more runs: raise --limit to repeat them too.'] : []),
  ];
}

function tellRun({ run_id: id, event, said, created_at: at, difference, reason }: ComparedRun): string[] {
  const text = said === null ? '' : `: ${JSON.stringify(said)}`;
  return [
    `  run ${id}, ${timeOf(at)}, ${event}${text}`,
    ...difference.map((line) => `    ${line}`),
    ...(reason === null ? [] : [`    (${reason})`]),
  ];
}
