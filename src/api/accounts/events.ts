import type { EntityManager } from '@mikro-orm/postgresql';
import { conversationExists } from '../../domain/conversations/access.ts';
import { badRequest, notFound } from '../../errors.ts';
import { catalog } from '../../events/catalog.ts';
import { doors } from '../../http/route/doors.ts';
import { checkKept, openPlace, sealPlace } from '../../live/cursor.ts';
import { eventJson } from '../../live/present.ts';
import { readPage } from '../../live/read-page.ts';
import type { Shape } from '../../schemas.ts';

const base = '/api/v1/accounts/:account_id/events';
const told = 'Administrators get every event, agents those of the conversations that they may see.';

export const eventRoutes = [
  doors.account(
    ['GET', base, 'List events'],
    {
      query: 'requests/event.list.query',
      reply: 'resources/event-list',
      role: 'agent',
      errors: [410],
      description: `The account's events in the order in which they were committed. A reader who goes on with \`next_cursor\` gets each event once, whatever is written meanwhile. ${told}`,
    },
    async ({ services: { secretBox }, em, account: { id: accountId }, actor, query }) => {
      const { after, limit = 100 } = query;
      const filter = await readFilter(em, accountId, query);
      const place = after === undefined ? null : openPlace(secretBox, accountId, after);
      const page = await readPage(em, { accountId, actor, after: place?.position ?? 0, limit, ...filter });
      if (place) checkKept(place, page.kept);
      const { dropped } = page.kept;
      const isSame = after !== undefined && page.reached === place?.position;
      const next = isSame ? after : sealPlace(secretBox, accountId, { position: page.reached, floor: dropped });
      const payload = page.events.map((event) => eventJson(secretBox, { accountId, dropped }, event));
      return {
        payload: payload.map((json) => JSON.parse(json) as Shape<'resources/event'>),
        meta: { next_cursor: next },
      };
    },
  ),
];

interface Asked {
  types?: string | undefined;
  conversation_id?: number | undefined;
}

/** Which events are wanted. Errors: 400 for a name that no event has, 404 for a conversation that is not there. */
async function readFilter(em: EntityManager, accountId: number, { types, conversation_id: conversationId }: Asked) {
  const names = types?.split(',').map((name) => name.trim());
  const unknown = names?.find((name) => !Object.hasOwn(catalog, name));
  if (unknown !== undefined) {
    const message = `There is no event \`${unknown}\``;
    throw badRequest('bad_query', message, [{ path: '/types', rule: 'enum', message }]);
  }
  const isMissing = conversationId !== undefined && !(await conversationExists(em, accountId, conversationId));
  if (isMissing) throw notFound('Conversation');
  return { ...(names ? { types: names } : {}), ...(conversationId === undefined ? {} : { conversationId }) };
}
