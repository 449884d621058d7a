import { readOldestPending } from '../../deliveries/log/activity.ts';
import { readActivity, type Activity } from '../../domain/reports.ts';
import { badRequest } from '../../errors.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { fromUnixSeconds, lastMoment, unixSeconds, unixSecondsOrNull } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const hourMs = 3_600_000;
/** Spans of a report by hour or by day: the length of each, the default number, and the maximum. */
const spans = {
  hour: { ms: hourMs, usual: 48, most: 31 * 24 },
  day: { ms: 24 * hourMs, usual: 30, most: 366 },
} as const;

export const reportRoutes = [
  doors.account(
    ['GET', '/api/v1/accounts/:account_id/reports/activity', 'Get what happened in the account'],
    {
      query: 'requests/report.activity.query',
      reply: 'resources/activity-report',
      role: 'administrator',
      description:
        'Messages, handoffs, ratings and attempts on receivers by hour or by day, counted every minute: what happened just now is in it within two. The figures stay when events and deliveries are deleted.',
    },
    async ({ sql, account, query, now }) => {
      const span = spanOf(query, now);
      const activity = await readActivity(sql, account.id, span);
      return {
        payload: activity.map(presentActivity),
        meta: {
          by: span.by,
          since: unixSeconds(span.since),
          until: unixSeconds(span.until),
          oldest_pending_at: unixSecondsOrNull(await readOldestPending(sql, account.id)),
        },
      };
    },
  ),
];

function spanOf({ by = 'hour', since, until }: Shape<'requests/report.activity.query'>, now: Date) {
  const { ms, usual, most } = spans[by];
  const end = until === undefined ? now.getTime() + 1 : fromUnixSeconds(until).getTime();
  const before = Math.ceil(end / ms);
  const from = since === undefined ? before - usual : Math.floor(fromUnixSeconds(since).getTime() / ms);
  if (before - from > most) throw badRequest('bad_query', `Ask for ${most} ${by}s at most`);
  const [first, last] = [Math.max(0, from * ms), Math.min(before * ms, lastMoment.getTime())];
  return { by, since: new Date(first), until: new Date(Math.max(first, last)) };
}

function presentActivity(activity: Activity): Shape<'resources/activity-report'>['payload'][number] {
  return {
    at: unixSeconds(activity.at),
    messages: { customers: activity.customers, bots: activity.bots, people: activity.people },
    handoffs: activity.handoffs,
    ratings: activity.ratings,
    attempts: activity.attempts,
    delivered: activity.delivered,
    p95_ms: activity.p95Ms,
    oldest_pending_seconds: activity.oldestPendingSeconds,
  };
}
