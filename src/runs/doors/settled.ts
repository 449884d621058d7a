import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../lib/ports.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { CustomerWords } from '../../records/messages/customer-words.ts';

/** The conversation of a run, and the customer's message that it is for. */
interface Occasion {
  accountId: number;
  conversationId: number;
  messageId: number;
}

/** How runs learn what else the customer writes at the moment. */
export interface BurstPorts {
  /** The customer's messages from the given one on, in their order; at most `limit`. */
  read: (occasion: Occasion, limit: number) => Promise<CustomerWords[]>;
  clock: Clock;
  /** Milliseconds after the customer's last message from which on the customer has said everything. */
  quietMs: number;
  /** Milliseconds after the first message after which nothing is waited for any more. */
  maxMs: number;
}

/** A message of a burst, as bots get it. */
interface BurstMessage {
  id: number;
  content: string;
  created_at: number;
}

/** Messages of a burst at most, the first included. */
const maxMessages = 21;

/**
 * Waits until the customer pauses; returns what the customer has written since the message of the run. A run that begins
 * late does not wait.
 */
export async function settled(
  { read, clock, quietMs, maxMs }: BurstPorts,
  occasion: Occasion,
  signal: AbortSignal,
): Promise<BurstMessage[]> {
  const startedAt = performance.now();
  let messages = await read(occasion, maxMessages);
  for (;;) {
    const [first, last] = [messages[0], messages.at(-1)];
    // The message was deleted, or there are too many.
    if (!first || !last || messages.length === maxMessages) break;
    const end = Math.min(last.createdAt.getTime() + quietMs, first.createdAt.getTime() + maxMs);
    const left = Math.min(end - clock.now().getTime(), maxMs - (performance.now() - startedAt));
    if (left <= 0) break;
    await wait(left, undefined, { signal });
    const again = await read(occasion, maxMessages);
    if (again.length === messages.length) break;
    messages = again;
  }
  const others = messages.filter(({ id }) => id > occasion.messageId);
  return others.map(({ id, content, createdAt }) => ({ id, content, created_at: unixSeconds(createdAt) }));
}
