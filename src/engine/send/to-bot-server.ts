import { isForSpeakers, silenceOfBot } from '../../domain/conversations/arbiter.ts';
import { findConversation } from '../../records/conversations/rows.ts';
import { attempts, type AttemptOptions, type Deliver, type Made } from '../attempt.ts';
import { calleeOf, whyGivenUp } from '../../deliveries/core/refusal.ts';
import { goneStatus } from '../../deliveries/core/retry.ts';
import type { DueEndpoint } from '../../deliveries/core/slots.ts';
import { withoutAttempt, type Verdict } from '../../deliveries/core/verdict.ts';
import { giveToPeople } from '../hand-off-failed.ts';
import { learning, type LearningOptions } from '../endpoint-learning.ts';
import { post, type PostOptions } from './post.ts';
import type { Claimed } from '../../deliveries/lanes/claim.ts';

type Options = AttemptOptions & LearningOptions & PostOptions;

/**
 * Delivers to the servers of bots by a signed POST. When a customer waits for a bot that cannot be reached, people get the
 * conversation.
 */
export function toBotServer(options: Options): Deliver {
  const call = async (claimed: Claimed, standing: DueEndpoint): Promise<Made> => {
    // Somebody wants the bot's server to get it; whatever the bot does about it is judged when it does.
    const silence = claimed.trigger === 'live' ? await silenceNow(options, claimed) : null;
    if (silence !== null) return { ...unmade, verdict: withoutAttempt('cancelled', silence) };
    const end = endOf(claimed, standing);
    if (end)
      return isAwaited(claimed) ? giveUp(options, claimed, { ...unmade, ...end }) : { ...unmade, verdict: end.verdict };
    const posted = await post(claimed, calleeOf(claimed.endpoint), options);
    const { verdict } = posted;
    if (verdict?.state !== 'exhausted') return posted;
    if (!isAwaited(claimed) && verdict.status !== goneStatus) return posted;
    const note = `The bot could not be reached (${verdict.errorCode ?? verdict.status}). Please take over.`;
    return giveUp(options, claimed, { ...posted, verdict, note });
  };
  return attempts(options, { call, learn: learning(options) });
}

const unmade = { isSettled: false, outcome: 'skipped', detail: null } as const;

// Why the server is not called, with the note for people who wait; null when it is called.
function endOf(claimed: Claimed, standing: DueEndpoint): { verdict: Verdict; note: string } | null {
  const reason = whyGivenUp(claimed.endpoint, standing);
  if (reason !== null) {
    const note = { bot_disabled: disabledNote(claimed), circuit_open: silentNote }[reason];
    return { verdict: withoutAttempt('exhausted', reason), note };
  }
  const callee = calleeOf(claimed.endpoint);
  if (callee !== 'endpoint_gone' && callee !== 'endpoint_disabled') return null;
  return { verdict: withoutAttempt('cancelled', callee), note: lostNote };
}

// Whether somebody may wait for what the bot says to the event. A bot that misses the others can still answer the next one.
function isAwaited({ trigger, event: { name } }: Claimed): boolean {
  if (trigger !== 'live') return false;
  return name.startsWith('message_') || name === 'webwidget_triggered';
}

const lostNote = 'The bot has no server any more. Please take over.';
const silentNote = 'The bot has not answered anybody for a while. Please take over.';

function disabledNote({ endpoint }: Claimed): string {
  return `The bot is switched off: ${endpoint.disabledReason}. Please take over.`;
}

// Somebody may have taken over the conversation since the event was written.
async function silenceNow({ database }: Options, { account, event, endpoint }: Claimed): Promise<string | null> {
  if (event.conversationId === null || !isForSpeakers(event.name)) return null;
  const conversation = await findConversation(database.sql, account.id, event.conversationId);
  return conversation ? silenceOfBot(conversation, endpoint.id) : 'not_serving';
}

async function giveUp(
  options: Options,
  claimed: Claimed,
  { verdict, note, outcome, detail }: Pick<Made, 'outcome' | 'detail'> & { verdict: Verdict; note: string },
): Promise<Made> {
  const isOurs = await giveToPeople(options, { claimed, verdict, note });
  return { verdict: isOurs ? verdict : null, isSettled: true, outcome, detail };
}
