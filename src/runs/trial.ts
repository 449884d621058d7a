import type { Named } from '../records/conversations/conversation.ts';
import type { ServingBot } from '../records/conversations/serving-bot.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import type { TrialEnd } from '../domain/bots/evals/judge.ts';
import type { Shape } from '../schemas.ts';

/** A message for a bot as it is configured, in no conversation. */
export interface Trial extends Pick<Shape<'requests/bot.try'>, 'question' | 'history'> {
  account: Named;
  bot: BotToRun;
  hearing: Pick<ServingBot, 'events' | 'hearsOwn' | 'hearsNotes'>;
}

/**
 * Runs the bot for the message: it asks its model and knowledge base and sends its requests, and nothing of it is written.
 * Errors: 503 while too many trials are under way.
 */
export type TryBot = (trial: Trial) => Promise<TrialEnd>;
