import { OperatorError } from '../../lib/operator-error.ts';
import type { CallService } from '../../lib/service-client.ts';
import { printable } from '../../lib/text/printable.ts';
import type { Shape } from '../../schemas.ts';
import { patiently } from '../patiently.ts';
import { readList, serviceOf, type ServiceOptions } from '../service.ts';
import { printAnswer } from '../terminal/print.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { readCases, type EvalCase } from './cases.ts';
import { tellEvals, type EvalReport, type EvalResult } from './report.ts';

export interface EvalOptions extends ServiceOptions {
  /** The share of questions that must pass, from 0 to 1. */
  min: number;
  account: number;
}

type Bot = Shape<'resources/agent-bot'>;
type Trial = Shape<'resources/bot-trial'>;

const failedCode = 1;
const unusableCode = 2;
/** Questions under way at once. */
const atOnce = 4;
const maxKeptChars = 400;

/**
 * The command `evals`: asks a bot the questions of a file, prints what passed and what has changed since the last run, and keeps
 * the results. The exit code is 1 if less than `min` passed, 2 if the questions could not be asked.
 */
export async function runEvals(bot: string, file: string, options: EvalOptions): Promise<void> {
  try {
    const report = await evaluate(bot, file, options);
    if (!report.ok) process.exitCode = failedCode;
    printAnswer(report, options, tellEvals);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    for (const line of error.message.split('\n')) console.error(printable(line));
    process.exitCode = unusableCode;
  }
}

async function evaluate(name: string, file: string, { min, account, ...options }: EvalOptions): Promise<EvalReport> {
  const cases = await readCases(file);
  const call = serviceOf(options);
  const base = `/api/v1/accounts/${account}/agent_bots`;
  const bot = await findBot(call, base, name);
  const path = `${base}/${bot.id}`;
  const results = await askAll({ call, path }, cases);
  const told = results.map(({ question, passed, got }) => ({ question: cut(question), passed, got: cut(got) }));
  const kept = await call<Shape<'resources/bot-evals-kept'>>('POST', `${path}/evals`, { results: told });
  const passed = results.filter((result) => result.passed).length;
  const share = passed / results.length;
  const counts = { passed, count: results.length, share, min, ok: share >= min };
  return {
    bot: { id: bot.id, name: bot.name },
    ...counts,
    last_run_at: kept.last_ran_at,
    changes: kept.changes,
    results,
  };
}

async function findBot(call: CallService, base: string, name: string): Promise<Bot> {
  const { payload } = await readList<Bot>(call, base);
  const found = payload.filter((bot) => String(bot.id) === name || bot.name === name);
  const [bot] = found;
  if (!bot) throw new OperatorError(`There is no bot ${name} in the account: give the id or the name of one.`);
  if (found.length > 1) {
    throw new OperatorError(`Several bots are called ${name}: give an id, ${found.map(({ id }) => id).join(' or ')}.`);
  }
  if (bot.kind === 'webhook')
    throw new OperatorError(`${bot.name} runs on a server of its own: it cannot be asked here.`);
  return bot;
}

interface Asked {
  call: CallService;
  path: string;
}

async function askAll(asked: Asked, cases: readonly EvalCase[]): Promise<EvalResult[]> {
  const results: EvalResult[] = [];
  const left = cases.map((one, index) => ({ one, index }));
  const bar = new ProgressBar();
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      results[next.index] = await askOne(asked, next.one);
      const done = cases.length - left.length;
      bar.show(done / cases.length, `${done} of ${cases.length} questions`);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    bar.end();
  }
  return results;
}

async function askOne({ call, path }: Asked, asked: EvalCase): Promise<EvalResult> {
  const trial = await patiently(() => call<Trial>('POST', `${path}/try`, asked));
  const { got, handed_off, handoff_reason, tools } = trial;
  const replies = trial.replies.map(({ content }) => content);
  const { question, expect } = asked;
  return { question, expect, passed: trial.passed === true, got, replies, handed_off, handoff_reason, tools };
}

function cut(text: string): string {
  return text.slice(0, maxKeptChars).toWellFormed();
}
