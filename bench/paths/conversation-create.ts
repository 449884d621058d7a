import type { Bench } from '../bench.ts';
import { oneByOne, type Ask } from '../support/load.ts';
import { createConversations, createSurroundings, messages } from '../support/records.ts';
import { serviceEnv, withService } from '../support/service.ts';
import { inTurns } from '../support/turns.ts';
import { onWire } from '../support/wire.ts';

const conversations = 64;

/** A conversation that is opened with its first message, beside a message to one that is there. */
export const conversationCreate: Bench = {
  name: 'conversation-create',
  needs: 'database',
  boundMs: 120_000,
  async run({ databaseUrl }) {
    const measured = await withService(serviceEnv(databaseUrl, { ROLE: 'web' }), async ({ url }) => {
      const ids = await createConversations(url, conversations);
      const next = await openings(url);
      return inTurns({ url, next }, { url, next: messages(ids) });
    });
    const cost = await onWire(databaseUrl, (wire) =>
      withService(serviceEnv(wire.url, { ROLE: 'web' }), async ({ url }) => {
        const next = await openings(url);
        return wire.costOf(() => oneByOne(url, 1, next));
      }),
    );
    const limit = { name: 'our own message create', value: measured.other.perSecond };
    return [{ path: 'conversation with a first message', unit: '/s', ours: measured.ours.perSecond, limit, cost }];
  },
};

async function openings(url: string): Promise<() => Ask> {
  const surroundings = await createSurroundings(url);
  const body = { ...surroundings, message: { content: 'Good morning, how can we help?' } };
  return () => ({ method: 'POST', path: 'conversations', body });
}
