import { openConfig, type Manifest } from '../../../packages/manifest/manifest.ts';
import { bundleOf, partOf } from '../../../packages/manifest/parts.ts';
import type { ReadPackage } from '../../../packages/read/read.ts';
import { byQuestion, repeat, type Recording } from '../../../runs/repeat.ts';
import { isOutcomeOfSandbox } from '../../../runs/sandbox-outcomes.ts';
import type { Recall, RecordedCall, Sandbox } from '../../../sandbox/run.ts';
import { differenceOf, type Ending } from './difference.ts';
import type { ListedRun } from './runs-of-plugin.ts';

/** A run that would end differently. */
export interface ComparedRun {
  run_id: number;
  event: string;
  /** The customer's message, cut short; null if nobody wrote. */
  said: string | null;
  created_at: number;
  recorded: Ending;
  now: Ending;
  /** Lines that show the difference, for people. */
  difference: string[];
  /** Reason for a bad end; null for a good one. */
  reason: string | null;
}

const maxSaidChars = 80;

/** A version that repeats recorded runs, and where its calls get their answers. */
export interface Candidate {
  sandbox: Sandbox;
  pack: ReadPackage;
  /** Answers the calls of a run; by default from its record. */
  recallFor?: (run: ListedRun) => (calls: readonly RecordedCall[]) => Recall;
}

/** Repeats a recorded run with another version; returns null if it ends as recorded. */
export async function compareRun(run: ListedRun, candidate: Candidate): Promise<ComparedRun | null> {
  const recorded = { outcome: isOutcomeOfSandbox(run.outcome) ? run.outcome : 'ok', actions: run.actions };
  const { reason = null, ...now } = await endOf(run, candidate);
  const difference = differenceOf(effectOf(recorded), effectOf(now));
  if (difference.length === 0) return null;
  const { id, event, created_at } = run;
  return { run_id: id, event: event.name, said: saidIn(event.body), created_at, recorded, now, difference, reason };
}

interface End extends Ending {
  reason?: string | null;
}

async function endOf(run: ListedRun, { sandbox, pack, recallFor }: Candidate): Promise<End> {
  const manifest = partOf(pack.manifest, run.kind);
  if (!manifest || !hears(manifest, run)) return { outcome: 'not_heard', actions: [] };
  const { config, problems } = openConfig(manifest, run.config);
  const [problem] = problems;
  if (problem) return { outcome: 'load_failed', actions: [], reason: problem.message };
  const { permissions, limits } = manifest;
  const calls = run.calls as RecordedCall[];
  if (permissions.history > 0 && calls[0]?.name !== 'history') return unanswered({ name: 'history', input: {} });
  const { event, seed, now, account_id: account } = run;
  const recording: Recording = { owner: { account, bot: ownerOf(run) }, event, config, seed, now, calls };
  const repetition = await repeat(sandbox, recording, {
    repeater: { bundle: bundleOf(pack.bundle, manifest), permissions, limits },
    recall: recallFor?.(run) ?? byQuestion,
  });
  if (repetition.unanswered) return unanswered(repetition.unanswered);
  const { outcome, actions, error = null } = repetition.result;
  return { outcome, actions: actions.map((action) => ({ ...action })), reason: error };
}

function ownerOf({ agent_bot_id: bot, automation_id: automation, inbox_id: inbox }: ListedRun): number {
  return (bot ?? automation ?? inbox) as number;
}

// Requests of hooks, and messages that a channel sends, need no entry in `events`.
function hears({ events, hooks, kind }: Manifest, { event: { name, body } }: ListedRun): boolean {
  if (body['event'] === 'send') return kind === 'channel';
  if (name === 'hook_received') return Object.hasOwn(hooks, (body['hook'] as { name: string }).name);
  return kind === 'channel' || (events as readonly string[]).includes(name);
}

function unanswered({ name, input }: Pick<RecordedCall, 'name' | 'input'>): End {
  const reason = `It asks for ${name} ${JSON.stringify(input)}, which the record does not answer`;
  return { outcome: 'unanswered', actions: [], reason };
}

// A bot that does not subscribe to an event has the same effect as one without a handler: none.
function effectOf({ outcome, actions }: Ending): Ending {
  const isQuiet = outcome === 'no_handler' || outcome === 'not_heard';
  return { outcome: isQuiet ? 'ok' : outcome, actions };
}

function saidIn(body: Record<string, unknown>): string | null {
  const { content } = body;
  return typeof content === 'string' ? content.slice(0, maxSaidChars) : null;
}
