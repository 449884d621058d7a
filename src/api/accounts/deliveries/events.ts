import type { Sql } from '../../../postgres/sql.ts';
import { conversationExists } from '../../../domain/conversations/access.ts';
import { standingOf } from '../../../domain/people/standing.ts';
import { grantStreamTicket } from '../../../domain/people/stream-tickets.ts';
import { notFound } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { newToken } from '../../../lib/secrets/tokens.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import { checkKept, openPlace, sealPlace } from '../../../live/cursor.ts';
import { presentEvent } from '../../../live/present.ts';
import { readKept, readPage } from '../../../live/read-page.ts';
import type { Shape } from '../../../schemas.ts';
import { requireEventNames } from '../../event-names.ts';

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
    async ({ services: { secretBox }, sql, account: { id: accountId }, actor, query }) => {
      const { after, limit = 100 } = query;
      const filter = await readFilter(sql, accountId, query);
      const place = after === undefined ? null : openPlace(secretBox, accountId, after);
      const page = await readPage(sql, { accountId, actor, after: place?.position ?? 0, limit, ...filter });
      if (place) checkKept(place, page.kept);
      const { dropped } = page.kept;
      const isSame = after !== undefined && page.reached === place?.position;
      const next = isSame ? after : sealPlace(secretBox, accountId, { position: page.reached, floor: dropped });
      const payload = page.events.map((event) => presentEvent(secretBox, { accountId, dropped }, event).json);
      return {
        payload: payload.map((json) => JSON.parse(json) as Shape<'resources/event'>),
        meta: { next_cursor: next },
      };
    },
  ),
  doors.stream(
    ['GET', `${base}/stream`, 'Follow events'],
    {
      query: 'requests/event.stream.query',
      reply: 'resources/event',
      role: 'agent',
      errors: [410],
      description: `Server-sent events: each has the event's name as \`event\`, its cursor as \`id\` and the event as \`data\`. Without Last-Event-ID or \`after\` the stream begins with what is committed from now on. It shows its place at least every 15 seconds, and ends when the caller loses the token, the seat or the role. A web page, which cannot send a token with an EventSource, gives a \`ticket\` in the query instead. ${told}`,
    },
    async ({ services, sql, account: { id: accountId }, identity, query, lastEventId }) => {
      const { types, conversationId } = await readFilter(sql, accountId, query);
      const cursor = lastEventId ?? query.after;
      const place = cursor === undefined ? null : openPlace(services.secretBox, accountId, cursor);
      const kept = await readKept(sql, accountId);
      if (place) checkKept(place, kept);
      return () =>
        services.streams.open({
          standing: standingOf(identity),
          place: place ?? { position: kept.head, floor: kept.dropped },
          types: types ? new Set(types) : null,
          conversationId: conversationId ?? null,
        });
    },
  ),
  doors.account(
    ['POST', `${base}/ticket`, 'Create a ticket for a stream of events'],
    {
      reply: 'resources/stream-ticket',
      role: 'agent',
      status: 201,
      description: 'Opens one stream, as `?ticket=`, in the name of the caller. For web pages.',
    },
    async ({ services, principal, transact }) => {
      const ticket = newToken('ticket', services.random);
      const expiresAt = await transact((tx) => grantStreamTicket(tx, principal.tokenId, ticket));
      return { ticket, expires_at: unixSeconds(expiresAt) };
    },
  ),
];

interface Asked {
  types?: string | undefined;
  conversation_id?: number | undefined;
}

/** Which events are wanted. Errors: 400 for a name that no event has, 404 for a conversation that is not there. */
async function readFilter(
  sql: Sql,
  accountId: number,
  { types, conversation_id: conversationId }: Asked,
): Promise<{ types?: string[]; conversationId?: number }> {
  const names = types?.split(',').map((name) => name.trim());
  requireEventNames(names ?? [], 'types');
  const isMissing = conversationId !== undefined && !(await conversationExists(sql, accountId, conversationId));
  if (isMissing) throw notFound('Conversation');
  return { ...(names ? { types: names } : {}), ...(conversationId === undefined ? {} : { conversationId }) };
}
