import { accountEvents } from './account-event-cases.ts';
import { conversationEvents } from './conversation-event-cases.ts';
import type { Prepare } from './operations.ts';
import { outerEvents } from './outer-event-cases.ts';
import { smallEvents } from './small-resources.ts';
import type { PrincipalName } from './world.ts';

/**
 * A request and what it says, in order: each event's name and, behind it, the kinds of endpoints that it is delivered to.
 * The account has one webhook, for everything.
 */
export interface EventCase {
  when?: string;
  /** The operation's usual request unless said otherwise. */
  request?: Prepare;
  as?: PrincipalName;
  says: string[];
  /** What the very same request does a second time: nothing, the same as before, what is listed, or it is refused. */
  again: 'nothing' | 'the same' | 'refused' | string[];
}

/** What every operation that may write says, by the operation's name. */
export const eventCases: Readonly<Record<string, EventCase[]>> = {
  ...smallEvents,
  ...conversationEvents,
  ...accountEvents,
  ...outerEvents,
};
