import type { Mutant } from './mutant.ts';

const test = 'test/api/accounts/reports.test.ts';
const counts = 'src/domain/upkeep/activity-counts.ts';

/** Figures of what happened, counted after the fact. */
export const reports: readonly Mutant[] = [
  {
    file: counts,
    text: 'await sampleWaiting(database.em()).catch(database.failed);',
    replacement: 'await sampleWaiting(database.em());',
    test,
    only: 'what waits cannot be looked at',
    harm: 'While very much waits, the alarm that counts ends with an error each minute.',
  },
  {
    file: 'src/api/accounts/usage.ts',
    text: 'Math.min(Math.ceil(end / dayMs), Math.floor(lastMoment.getTime() / dayMs))',
    replacement: 'Math.ceil(end / dayMs)',
    test: 'test/http/moments.test.ts',
    only: 'usage',
    harm: 'A query with the last moment that there is is answered as a defect of the service.',
  },
  {
    file: 'src/api/accounts/reports.ts',
    text: 'Math.min(before * ms, lastMoment.getTime())',
    replacement: 'before * ms',
    test: 'test/http/moments.test.ts',
    only: 'until of /api/v1/accounts/:account_id/reports',
    harm: 'A report names a moment that no request may have.',
  },
  {
    file: counts,
    text: "        WHEN body->>'private' = 'true' THEN NULL\n",
    replacement: '',
    test,
    only: 'counts public messages',
    harm: 'Notes among people count as replies to customers.',
  },
  {
    file: 'src/deliveries/queue/activity.ts',
    text: 'AND pg_snapshot_xmin(pg_current_snapshot()) >= seen_xid',
    replacement: '',
    test,
    only: 'each exactly once',
    harm: 'Attempts that are written later than others with a higher number are never counted.',
  },
  {
    file: 'src/deliveries/queue/activity.ts',
    text: 'OR seen_xid > pg_snapshot_xmax(pg_current_snapshot()))`',
    replacement: ')`',
    test,
    only: 'restored to a server',
    harm: 'In a database that was restored elsewhere attempts are never counted again.',
  },
  {
    file: counts,
    text: 'CASE WHEN b.rows < ${batch} THEN h.position ELSE b.last END',
    replacement: 'b.last',
    test,
    only: 'goes on behind what was deleted',
    harm: 'After a contact was erased each look counts in vain, for ever.',
  },
  {
    file: 'src/domain/reports.ts',
    text: 'FROM report_hours WHERE account_id = $1 AND hour >= $2',
    replacement: 'FROM report_hours WHERE account_id <= $1 AND hour >= $2',
    test,
    only: 'that of the own account',
    harm: 'An account sees the figures of others among its own.',
  },
  {
    file: 'src/domain/reports.ts',
    text: 'const reached = sorted.find(({ count }) => (sum += count) >= wanted);',
    replacement: 'const [reached] = sorted;',
    test,
    only: 'how long their answers took',
    harm: 'The charts show the fastest answers as p95.',
  },
  {
    file: 'src/api/accounts/reports.ts',
    text: 'if (before - from > most)',
    replacement: 'if (before - from > 2 ** 53)',
    test,
    only: 'refuses spans',
    harm: 'One request sums up all hours that there ever were.',
  },
  {
    file: 'web/console/pages/activity/figures.ts',
    text: 'const entry = entries.get(at);',
    replacement: 'const entry = entries.values().next().value;',
    test: 'test/browser/charts.test.ts',
    only: 'draw what the service counted',
    harm: 'Hours in which nothing happened show the figures of another one.',
  },
];
