import type { Mutant } from './mutant.ts';

export const migrations: readonly Mutant[] = [
  {
    file: 'src/postgres/migrations/20261122-message-writes.ts',
    text: 'ON contacts (account_id, activity_order);',
    replacement: 'ON contacts (account_id, activity_order, last_activity_at);',
    test: 'test/postgres/plans.test.ts',
    only: 'changes no index of contacts',
    harm: 'Each message writes all indexes of its contact anew.',
  },
  {
    file: 'src/postgres/migrations/20261122-people.ts',
    text: 'CASE WHEN g.id IS NULL THEN now() END',
    replacement: 'NULL::timestamptz',
    test: 'test/postgres/upgrade.test.ts',
    harm: 'Who left an account before the upgrade cannot be invited there again.',
  },
  {
    file: 'src/postgres/migrations/20261122-silence.ts',
    text: 'SET bot_silence_of = coalesce(c.agent_bot_id, i.agent_bot_id)',
    replacement: 'SET bot_silence_of = coalesce(i.agent_bot_id, c.agent_bot_id)',
    test: 'test/postgres/upgrade-silence.test.ts',
    harm: 'After the upgrade a bot speaks where it had given the conversation away.',
  },
  {
    file: 'src/postgres/migrations/20261122-claims.ts',
    text: `
      UPDATE deliveries d SET failures = (
        SELECT count(*) FROM attempts a WHERE a.account_id = d.account_id AND a.delivery_id = d.id AND a.outcome = 'failed')
      WHERE state = 'pending' AND attempt > 0;`,
    replacement: '',
    test: 'test/postgres/upgrade-deliveries.test.ts',
    harm: 'After the upgrade, deliveries that were nearly given up begin their schedule anew.',
  },
  {
    file: 'src/postgres/migrations/20261122-event-feed.ts',
    text: `
      INSERT INTO event_feed_heads (account_id, position)
        SELECT account_id, max(position) FROM event_feed GROUP BY account_id;`,
    replacement: '',
    test: 'test/events/feed.test.ts',
    only: 'release 0.1.0',
    harm: 'After the upgrade, no new event gets into the feed.',
  },
  {
    file: 'src/postgres/migrations/20261122-batches.ts',
    text: "const kind = 'account_id, assignee_id, status, inbox_id, team_id, agent_bot_id';",
    replacement: "const kind = 'account_id, assignee_id, status, inbox_id, agent_bot_id, team_id';",
    test: 'test/domain/upkeep/conversation-counts.test.ts',
    harm: 'The counts of a team are wrong as soon as a conversation is given to it.',
  },
  {
    file: 'src/postgres/migrations/20261122-conversation-counts.ts',
    text: 'for (const statement of [tables, triggers, fill])',
    replacement: 'for (const statement of [tables, triggers])',
    test: 'test/domain/upkeep/conversation-counts.test.ts',
    only: 'are those of what was there',
    harm: 'After the upgrade, lists count new conversations alone.',
  },
];
