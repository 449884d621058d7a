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
  /** By default the operation's usual request. */
  request?: Prepare;
  as?: PrincipalName;
  /** Set where the service of these tests refuses the request, since it lacks what it is about. */
  isRefused?: true;
  says: string[];
  /** The effect of repeating the request: nothing, the same events, the listed ones, or a refusal. */
  again: 'nothing' | 'the same' | 'refused' | string[];
}

/** The events of each operation that may write, by the operation's name. */
export const eventCases: Readonly<Record<string, EventCase[]>> = {
  ...smallEvents,
  ...conversationEvents,
  ...accountEvents,
  ...outerEvents,
};
