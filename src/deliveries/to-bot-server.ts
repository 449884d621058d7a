import { isForSpeakers, silenceOfBot } from '../domain/conversations/arbiter.ts';
import { findConversation } from '../records/conversation-rows.ts';
import { attempts, type AttemptOptions, type Deliver, type Made } from './attempt.ts';
import { calleeOf, whyGivenUp } from './core/refusal.ts';
import type { DueEndpoint } from './core/slots.ts';
import { withoutAttempt, type Verdict } from './core/verdict.ts';
import { giveToPeople } from './give-to-people.ts';
import { learning, type LearningOptions } from './learning.ts';
import { post, type PostOptions } from './post.ts';
import type { Claimed } from './queue/claim.ts';

type Options = AttemptOptions & LearningOptions & PostOptions;

/** Delivers to webhook bots by a signed POST. When a bot cannot be reached, people get the conversation. */
export function toBotServer(options: Options): Deliver {
  const call = async (claimed: Claimed, standing: DueEndpoint): Promise<Made> => {
    const unmade = { isSettled: false, outcome: 'skipped', detail: null } as const;
    const silence = await silenceNow(options, claimed);
    if (silence !== null) return { ...unmade, verdict: withoutAttempt('cancelled', silence) };
    const reason = whyGivenUp(claimed.endpoint, standing);
    if (reason !== null) {
      const note = { bot_disabled: disabledNote(claimed), circuit_open: silentNote }[reason];
      return giveUp(options, claimed, { ...unmade, verdict: withoutAttempt('exhausted', reason), note });
    }
    const posted = await post(claimed, calleeOf(claimed.endpoint), options);
    const { verdict } = posted;
    if (verdict?.state !== 'exhausted') return posted;
    const note = `The bot could not be reached (${verdict.errorCode ?? verdict.status}). Please take over.`;
    return giveUp(options, claimed, { ...posted, verdict, note });
  };
  return attempts(options, { call, learn: learning(options) });
}

const silentNote = 'The bot has not answered anybody for a while. Please take over.';

function disabledNote({ endpoint }: Claimed): string {
  return `The bot is switched off: ${endpoint.disabledReason}. Please take over.`;
}

// Somebody may have taken over the conversation since the event was written.
async function silenceNow({ database }: Options, { account, event, endpoint }: Claimed): Promise<string | null> {
  if (event.conversationId === null || !isForSpeakers(event.name)) return null;
  const conversation = await findConversation(database.em(), account.id, event.conversationId);
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
