import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import { keyOf, type DueLanes, type EndpointKind, type EndpointOfAccount } from '../core/endpoint.ts';
import { botPatienceSeconds } from '../core/retry.ts';
import type { DueEndpoint } from '../core/slots.ts';
import { leavesService } from './leaving.ts';
import { pausedSince } from './resting-channels.ts';
import { nextTokenAt, tokensIn } from './rates.ts';

interface DueRow {
  endpoint_id: number;
  account_id: number;
  is_proven: boolean | null;
  max_per_second: number | null;
  tokens: number | null;
  circuit: DueEndpoint['circuit'] | null;
}

/** The row of no endpoint (id 0) says when something becomes due. */
interface SurveyRow extends DueRow {
  next_in_ms: number | null;
}

/** Lanes of which those are left out that lead out of the service while that is held. */
export interface SurveyedLanes extends DueLanes {
  isHeld: () => boolean;
}

// How long a bot's delivery waits before people get the conversation.
const waitOf = (circuit: string): string =>
  `CASE ${circuit} WHEN 'open' THEN interval '${botPatienceSeconds} seconds' ELSE interval '0' END`;

interface Place {
  kind: EndpointKind;
  standing: string;
  patience: string | null;
}

// Selects from `page` the endpoints that have a due lane and may be called: all while their circuit is closed, one lane when
// a probe is due, none of a webhook that waits for its rate, and none that leads out of the service while the gate is held.
// `standing` says whether an endpoint is proven, where its next probe stands, and what its rate allows now.
const permitted = ({ kind, standing, patience }: Place, { isSide, isHeld }: { isSide: string; isHeld: string }) => `
  SELECT p.endpoint_id, p.account_id, s.is_proven, s.max_per_second, s.tokens, circuit.state AS circuit
  FROM page p LEFT JOIN ${standing}
  CROSS JOIN LATERAL (SELECT CASE WHEN s.circuit_probe_at IS NULL THEN 'closed'
    WHEN s.circuit_probe_at <= now() THEN 'probe' ELSE 'open' END AS state) circuit
  WHERE s.paused_at IS NULL AND NOT (${isHeld} AND ${leavesService[kind]('s')}) AND s.tokens IS DISTINCT FROM 0 AND ${patience === null ? `circuit.state <> 'open'` : patience} AND EXISTS (
    SELECT FROM lanes l WHERE l.endpoint_kind = $1 AND l.is_side = ${isSide} AND l.endpoint_id = p.endpoint_id
      AND l.account_id = p.account_id AND l.due_at <= now() ${patience === null ? '' : `- ${waitOf('circuit.state')}`})`;

// Bots without a server have no health of their own: a system bot's failures in one account must not count in another.
const standingOfBots = `(SELECT id, kind, plugin_id, outgoing_url, circuit_probe_at, ${pausedSince('agent_bots')} AS paused_at, resumed_at,
    NULL::int AS max_per_second, NULL::int AS tokens, NULL::timestamptz AS token_at,
    CASE WHEN outgoing_url IS NOT NULL THEN is_proven END AS is_proven FROM agent_bots) s
  ON s.id = p.endpoint_id`;

const places: Record<EndpointKind, Place> = {
  webhook: {
    kind: 'webhook',
    standing: `(SELECT w.*, rate.tokens, rate.token_at FROM webhooks w LEFT JOIN LATERAL (
        SELECT ${tokensIn('r', 'w.max_per_second')} AS tokens, ${nextTokenAt('r', 'w.max_per_second')} AS token_at
        FROM webhook_rates r WHERE w.max_per_second IS NOT NULL AND r.account_id = w.account_id AND r.webhook_id = w.id
      ) rate ON true) s
      ON s.account_id = p.account_id AND s.id = p.endpoint_id`,
    patience: null,
  },
  bot: {
    kind: 'bot',
    standing: standingOfBots,
    // Nothing ages in a pause.
    patience: `coalesce(s.resumed_at <= now() - ${waitOf('circuit.state')}, true)`,
  },
  automation: { kind: 'automation', standing: standingOfBots, patience: null },
  channel: { kind: 'channel', standing: standingOfBots, patience: null },
};

// Steps from endpoint to endpoint over the index instead of reading due lanes in order, so that an endpoint with a hundred
// thousand due lanes costs no more than one with a single lane. The row without a circuit marks the end of a full page.
const survey = (place: Place) =>
  prepared(`
  WITH RECURSIVE endpoint AS (
    (SELECT endpoint_id, account_id FROM lanes WHERE endpoint_kind = $1 AND is_side = $5 AND due_at IS NOT NULL
       AND (endpoint_id, account_id) > ($2, $3) ORDER BY endpoint_id, account_id LIMIT 1)
    UNION ALL
    SELECT next.endpoint_id, next.account_id FROM endpoint CROSS JOIN LATERAL (
      SELECT l.endpoint_id, l.account_id FROM lanes l WHERE l.endpoint_kind = $1 AND l.is_side = $5 AND l.due_at IS NOT NULL
        AND (l.endpoint_id, l.account_id) > (endpoint.endpoint_id, endpoint.account_id)
      ORDER BY l.endpoint_id, l.account_id LIMIT 1) next
  ), page AS MATERIALIZED (SELECT * FROM endpoint LIMIT $4)
  SELECT due.*, NULL::float8 AS next_in_ms FROM (${permitted(place, { isSide: '$5', isHeld: '$6' })}) due
  UNION ALL (SELECT endpoint_id, account_id, NULL, NULL, NULL, NULL, NULL FROM page OFFSET $4 - 1)
  UNION ALL SELECT 0, 0, NULL, NULL, NULL, NULL, extract(epoch FROM min(next.at) - now()) * 1000
  FROM page p LEFT JOIN ${place.standing} CROSS JOIN LATERAL (
    SELECT min(l.due_at) AS at FROM lanes l WHERE l.endpoint_kind = $1 AND l.is_side = $5
      AND l.endpoint_id = p.endpoint_id AND l.account_id = p.account_id AND l.due_at > now()
    UNION ALL SELECT s.circuit_probe_at WHERE s.circuit_probe_at > now()
    UNION ALL SELECT greatest(s.token_at, now()) WHERE s.tokens = 0) next`);

const look = (place: Place) =>
  prepared(`
  WITH page AS MATERIALIZED (SELECT DISTINCT * FROM unnest($2::bigint[], $3::bigint[]) AS touched (endpoint_id, account_id))
  ${permitted(place, { isSide: '$4', isHeld: '$5' })}`);

const surveys = ofKinds(survey);
const looks = ofKinds(look);

/**
 * Returns a page of the endpoints with something due that may be called, in the order of their ids, and the start of the
 * next page; the beginning after the last page. `nextInMs` is the time until something more on the page becomes due, or
 * may be called; null when nothing waits. While it is held, endpoints outside of the service are left out.
 */
export async function surveyDue(
  sql: Sql,
  { kind, isSide, after, limit, isHeld }: SurveyedLanes & { after: EndpointOfAccount; limit: number },
): Promise<{ due: DueEndpoint[]; next: EndpointOfAccount; nextInMs: number | null }> {
  const rows = await sql<SurveyRow>(surveys[kind], [kind, after.id, after.accountId, limit, isSide, isHeld()]);
  const end = rows.find((row) => row.circuit === null && row.endpoint_id > 0);
  const waiting = rows.find((row) => row.endpoint_id === 0);
  return {
    due: rows.flatMap(toDue),
    next: end ? { id: end.endpoint_id, accountId: end.account_id } : firstEndpoint,
    nextInMs: waiting?.next_in_ms ?? null,
  };
}

function toDue({ circuit, ...row }: DueRow): DueEndpoint[] {
  if (circuit === null) return [];
  const { endpoint_id: id, account_id: accountId, is_proven: isProven, max_per_second: perSecond, tokens } = row;
  const rate = perSecond === null ? null : { perSecond, tokens: tokens ?? 0 };
  return [{ id, accountId, isProven, circuit, rate }];
}

/** Sorts before all endpoints. */
export const firstEndpoint: EndpointOfAccount = { id: 0, accountId: 0 };

/** Returns, by their keys, the endpoints that have something due and may be called. */
export async function lookAt(
  sql: Sql,
  { kind, isSide, isHeld }: SurveyedLanes,
  endpoints: readonly EndpointOfAccount[],
): Promise<Map<string, DueEndpoint>> {
  const rows = await sql<DueRow>(looks[kind], [
    kind,
    endpoints.map(({ id }) => id),
    endpoints.map(({ accountId }) => accountId),
    isSide,
    isHeld(),
  ]);
  return new Map(rows.flatMap(toDue).map((endpoint) => [keyOf(endpoint), endpoint]));
}

function ofKinds(statement: (place: Place) => string): Record<EndpointKind, string> {
  const { webhook, bot, automation, channel } = places;
  return {
    webhook: statement(webhook),
    bot: statement(bot),
    automation: statement(automation),
    channel: statement(channel),
  };
}
