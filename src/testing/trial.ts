import { busy } from '../errors.ts';
import type { Actor } from '../events/transaction.ts';
import type { Clock, Random } from '../lib/ports.ts';
import type { Message } from '../records/messages/message.ts';
import type { TrialEnd } from '../domain/bots/evals/judge.ts';
import { send } from '../domain/conversations/send.ts';
import { actorOf } from '../runs/conduct.ts';
import type { Trial, TryBot } from '../runs/trial.ts';
import { usageOf } from '../runs/usage.ts';
import type { RecordedCall } from '../sandbox/run.ts';
import { findProblems, type Shape } from '../schemas.ts';
import type { SimulatedRun } from './api.ts';
import { Player, type PlayerOptions } from './player.ts';
import { Stage } from './stage/stage.ts';

/** Parts of the service that trials use: all but its conversations. */
export interface TrialPorts extends Pick<PlayerOptions, 'sandbox' | 'plugins'> {
  doors: PlayerOptions['script'];
  openSecret: (sealed: string) => string;
  clock: Clock;
  random: Random;
}

/** Trials under way at once, each of which may wait for a model. */
const maxUnderWay = 20;
/** Time between two messages of the history: faster ones would look like a loop. */
const pauseMs = 60_000;

/** Creates the function that tries bots on a stage, which is a conversation in memory. */
export function createTrials(ports: TrialPorts): TryBot {
  let underWay = 0;
  return async (trial) => {
    if (underWay >= maxUnderWay) throw busy();
    underWay += 1;
    try {
      return await play(ports, trial);
    } finally {
      underWay -= 1;
    }
  };
}

async function play(ports: TrialPorts, trial: Trial): Promise<TrialEnd> {
  const runs: SimulatedRun[] = [];
  const stage = stageFor(trial, ports.clock.now());
  const { plugins, sandbox, doors: script, openSecret, random } = ports;
  const seed = random.bytes(4).readUInt32BE();
  const told = (run: SimulatedRun): void => void runs.push(run);
  // A version that was installed meanwhile is tried: nobody announces it to processes that run no bots.
  await plugins.refresh();
  const player = new Player({ stage, sandbox, bot: trial.bot, seed, plugins, script, openSecret, told });
  await recall(stage, trial);
  const before = stage.messages.length;
  await write(stage, stage.customer, trial.question);
  await player.play();
  return presentEnd(stage, runs, stage.messages.slice(before));
}

function stageFor({ account, bot, hearing, history = [] }: Trial, now: Date): Stage {
  const serving = { id: bot.id, name: bot.name, chosenBy: 'inbox', kind: 'plugin', unfit: null } as const;
  const beganAt = new Date(now.getTime() - history.length * pauseMs);
  return new Stage({ ...serving, ...hearing }, { account, now: beganAt }, () => undefined);
}

/** Writes the messages before the question, for which nobody is called. */
async function recall(stage: Stage, { bot, history = [] }: Trial): Promise<void> {
  for (const { role, content } of history) {
    await write(stage, role === 'user' ? stage.customer : actorOf(bot, 0), content);
    stage.now = new Date(stage.now.getTime() + pauseMs);
  }
  while (stage.takeEvent()) {
    // Its event is over.
  }
}

async function write(stage: Stage, actor: Actor, content: string): Promise<void> {
  const type = actor.kind === 'contact' ? 'incoming' : 'outgoing';
  await stage.transact(actor, (tx) => send(tx, stage.conversation.id, { type, content }));
}

function presentEnd(stage: Stage, runs: readonly SimulatedRun[], said: readonly Message[]): TrialEnd {
  const last = runs.at(-1);
  const calls = runs.flatMap((run) => run.calls as readonly RecordedCall[]);
  const actions = runs.flatMap((run) => run.actions);
  const replies = said.filter(({ sender, private: isNote }) => sender.kind === 'agent_bot' && !isNote);
  return {
    outcome: last?.outcome ?? 'no_handler',
    error: last?.error ?? null,
    replies: replies.map(({ content, contentType, contentAttributes }) => ({
      content,
      content_type: contentType,
      content_attributes: contentAttributes,
    })),
    handed_off: stage.silence !== null,
    handoff_reason: stage.conversation.handoffReason,
    tools: calls.filter(({ name }) => name === 'tools.call').flatMap(presentTool),
    usage: usageOf(calls, actions),
  };
}

function presentTool({ input, error }: RecordedCall): TrialEnd['tools'] {
  // A bot may pass anything.
  if (findProblems('runtime/tool-call', input).length > 0) return [];
  return [{ ...(input as Shape<'runtime/tool-call'>), error: error?.code ?? null }];
}
