// The delivery to the paused webhook.
const waitingLane = `SELECT lane_id FROM deliveries WHERE state = 'pending'`;

const countAssigned = (sign: string): string => `
  INSERT INTO conversation_count_changes (account_id, assignee_id, status, inbox_id, total, assigned)
  SELECT account_id, assignee_id, status, inbox_id, ${sign}7, ${sign}7 FROM conversations WHERE assignee_id IS NOT NULL LIMIT 1`;

// An event goes with its place, its deliveries and their attempts.
const keptTables: readonly [string, string][] = [
  ['events', 'id IN (SELECT id FROM gone)'],
  ['event_feed', 'event_id IN (SELECT id FROM gone)'],
  ['deliveries', 'event_id IN (SELECT id FROM gone)'],
  ['attempts', 'delivery_id IN (SELECT id FROM deliveries WHERE event_id IN (SELECT id FROM gone))'],
];

function without(event: string): [spoil: string, mend: string] {
  const keep = keptTables.map(([table, rows]) => `CREATE TABLE kept_${table} AS SELECT * FROM ${table} WHERE ${rows}`);
  const restore = keptTables.map(
    ([table]) => `INSERT INTO ${table} SELECT * FROM kept_${table}; DROP TABLE kept_${table}`,
  );
  return [
    [`CREATE TABLE gone AS ${event}`, ...keep, 'DELETE FROM events WHERE id IN (SELECT id FROM gone)'].join(';'),
    [...restore, 'DROP TABLE gone'].join(';'),
  ];
}

// Its own inverse.
const swapPlaces = `
  CREATE TABLE two AS SELECT f.event_id, f.position FROM event_feed f JOIN events e ON e.id = f.event_id
    WHERE e.conversation_id IS NOT NULL ORDER BY f.position LIMIT 2;
  UPDATE event_feed SET position = -position WHERE event_id IN (SELECT event_id FROM two);
  UPDATE event_feed f SET position = (SELECT position FROM two t WHERE t.event_id <> f.event_id) WHERE position < 0;
  DROP TABLE two`;

/** Damages that somebody, or a defect, might do to the rows: how, how each is mended, and which invariants find it. */
export const damages: [string, string, string, string[]][] = [
  [
    'a delivery that is lost',
    `CREATE TABLE kept AS SELECT * FROM deliveries WHERE id = (SELECT max(id) FROM deliveries WHERE endpoint_kind = 'webhook');
     CREATE TABLE kept_attempts AS SELECT * FROM attempts WHERE delivery_id IN (SELECT id FROM kept);
     DELETE FROM deliveries WHERE id IN (SELECT id FROM kept)`,
    `INSERT INTO deliveries SELECT * FROM kept; INSERT INTO attempts SELECT * FROM kept_attempts; DROP TABLE kept, kept_attempts`,
    ['L1'],
  ],
  [
    'a delivery to who was not subscribed',
    `UPDATE events SET webhook_epoch = -1 WHERE id = (SELECT max(event_id) FROM deliveries WHERE endpoint_kind = 'webhook')`,
    `UPDATE events SET webhook_epoch = (SELECT max(epoch) FROM webhook_epochs WHERE account_id = 1) WHERE webhook_epoch = -1`,
    ['L1'],
  ],
  [
    'an event that was written without its deliveries',
    `INSERT INTO events (account_id, name, account_payload) VALUES (1, 'contact_created', '{}')`,
    `DELETE FROM events WHERE account_id = 1 AND name = 'contact_created' AND account_payload::text = '{}'`,
    ['L1'],
  ],
  [
    'a delivery that nobody will make',
    `UPDATE deliveries SET state = 'pending', finished_at = NULL WHERE id = (SELECT max(id) FROM deliveries)`,
    `UPDATE deliveries SET state = 'delivered', finished_at = now() WHERE id = (SELECT max(id) FROM deliveries)`,
    ['L2', 'L3'],
  ],
  [
    'a success without an answer',
    `UPDATE attempts SET outcome = 'failed' WHERE id = (SELECT max(id) FROM attempts)`,
    `UPDATE attempts SET outcome = 'delivered' WHERE id = (SELECT max(id) FROM attempts)`,
    ['L3'],
  ],
  [
    'a delivery that was answered twice',
    `INSERT INTO attempts (account_id, delivery_id, number, outcome) SELECT 1, id, attempt + 1, 'delivered'
     FROM deliveries ORDER BY id DESC LIMIT 1;
     UPDATE deliveries SET attempt = attempt + 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    `DELETE FROM attempts WHERE id = (SELECT max(id) FROM attempts);
     UPDATE deliveries SET attempt = attempt - 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    ['L3'],
  ],
  [
    'a delivery that has ended and is still leased',
    `UPDATE deliveries SET lease_token = gen_random_uuid(), attempt = attempt + 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    `UPDATE deliveries SET lease_token = NULL, attempt = attempt - 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    ['L2'],
  ],
  [
    'an event that is missing at the end of its conversation',
    `UPDATE conversations SET event_sequence = event_sequence + 1 WHERE id = (SELECT max(id) FROM conversations)`,
    `UPDATE conversations SET event_sequence = event_sequence - 1 WHERE id = (SELECT max(id) FROM conversations)`,
    ['L4'],
  ],
  [
    'an event that is missing in the middle of its conversation',
    `UPDATE events SET sequence = sequence + 1000 WHERE id = (
       SELECT max(id) FROM events WHERE conversation_id IS NOT NULL AND name = 'message_created')`,
    `UPDATE events SET sequence = sequence - 1000 WHERE sequence > 1000`,
    ['L4', 'L10'],
  ],
  [
    'a delivery before an earlier one of its lane',
    `UPDATE deliveries SET finished_at = finished_at + interval '1 hour' WHERE id = (
       SELECT min(d.id) FROM deliveries d JOIN lanes l ON l.id = d.lane_id WHERE l.subject_kind = 'conversation' AND d.failures = 0
         AND d.state = 'delivered')`,
    `UPDATE deliveries SET finished_at = finished_at - interval '1 hour' WHERE finished_at > now() + interval '30 minutes'`,
    ['L4'],
  ],
  [
    'an attempt that nobody wrote down',
    `UPDATE deliveries SET attempt = attempt + 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    `UPDATE deliveries SET attempt = attempt - 1 WHERE id = (SELECT max(id) FROM deliveries)`,
    ['L5'],
  ],
  [
    'a snooze that ended twice',
    `UPDATE events SET account_payload = jsonb_set(account_payload::jsonb, '{changed_attributes,status,previous}', '"snoozed"')::json
     WHERE id = (SELECT max(id) FROM events WHERE name = 'conversation_status_changed')`,
    `UPDATE events SET account_payload = jsonb_set(account_payload::jsonb, '{changed_attributes,status,previous}', '"resolved"')::json
     WHERE id = (SELECT max(id) FROM events WHERE name = 'conversation_status_changed')`,
    ['L7'],
  ],
  [
    'an attempt that is missing',
    'UPDATE attempts SET number = number + 7 WHERE id = (SELECT max(id) FROM attempts)',
    'UPDATE attempts SET number = number - 7 WHERE id = (SELECT max(id) FROM attempts)',
    ['L5'],
  ],
  [
    'a count that is wrong',
    `INSERT INTO conversation_count_changes (account_id, status, inbox_id, total, assigned) SELECT 1, 'open', min(id), 1, 0 FROM inboxes`,
    `INSERT INTO conversation_count_changes (account_id, status, inbox_id, total, assigned) SELECT 1, 'open', min(id), -1, 0 FROM inboxes`,
    ['L6'],
  ],
  [
    'a status that changed and nobody was told',
    `UPDATE conversations SET status = 'resolved' WHERE id = (SELECT max(id) FROM conversations)`,
    `UPDATE conversations SET status = 'open' WHERE id = (SELECT max(id) FROM conversations)`,
    ['L7'],
  ],
  [
    'a bot that acted twice on an event',
    `INSERT INTO bot_runs (account_id, conversation_id, agent_bot_id, event_id, attempt, plugin_id, plugin_version, bundle_hash,
       config, seed, clock, outcome, actions, logs, wall_ms)
     SELECT e.account_id, e.conversation_id, b.id, e.id, n, 'x', '1', '', '{}', 1, now(), 'ok', '[]', '[]', 1
     FROM (SELECT * FROM events WHERE conversation_id IS NOT NULL ORDER BY id LIMIT 1) e, generate_series(1, 2) n,
       (SELECT * FROM agent_bots WHERE account_id = 1 ORDER BY id LIMIT 1) b`,
    `DELETE FROM bot_runs WHERE plugin_id = 'x'`,
    ['L8'],
  ],
  [
    'an event that names a bot of another account',
    `INSERT INTO accounts (id, name) VALUES (77, 'Other');
     INSERT INTO agent_bots (id, account_id, name, kind, outgoing_url, secret, events)
       VALUES (777, 77, 'Foreign', 'webhook', 'https://bot.example.com/', 'sealed', '{}');
     UPDATE events SET bot_id = 777 WHERE id = (SELECT min(id) FROM events)`,
    `UPDATE events SET bot_id = NULL WHERE bot_id = 777; DELETE FROM accounts WHERE id = 77`,
    ['L9'],
  ],
  [
    'deliveries to a webhook of another account',
    `INSERT INTO accounts (id, name) VALUES (78, 'Other'); UPDATE webhooks SET account_id = 78`,
    `UPDATE webhooks SET account_id = 1; DELETE FROM accounts WHERE id = 78`,
    ['L9'],
  ],
  [
    'a delivery that was moved to another webhook',
    `UPDATE deliveries SET endpoint_id = (SELECT min(id) FROM webhooks) WHERE id = (SELECT min(id) FROM deliveries WHERE state = 'delivered')`,
    `UPDATE deliveries d SET endpoint_id = l.endpoint_id FROM lanes l WHERE l.id = d.lane_id`,
    ['L1', 'L9'],
  ],
  [
    'a delivery that was delivered and has no end',
    `UPDATE deliveries SET finished_at = NULL WHERE id = (SELECT min(id) FROM deliveries WHERE state = 'delivered')`,
    `UPDATE deliveries SET finished_at = created_at WHERE state = 'delivered' AND finished_at IS NULL`,
    ['L2'],
  ],
  [
    'a success whose attempt is gone',
    `CREATE TABLE kept AS SELECT * FROM attempts WHERE id = (SELECT max(id) FROM attempts WHERE outcome = 'delivered');
     DELETE FROM attempts WHERE id IN (SELECT id FROM kept)`,
    `INSERT INTO attempts SELECT * FROM kept; DROP TABLE kept`,
    ['L3', 'L5'],
  ],
  [
    'a delivery whose lane is asleep',
    `UPDATE lanes SET due_at = NULL WHERE id = (${waitingLane})`,
    `UPDATE lanes SET due_at = now() WHERE id = (${waitingLane})`,
    ['L2'],
  ],
  [
    'a delivery whose lane is due in ten years',
    `UPDATE lanes SET due_at = now() + interval '10 years' WHERE id = (${waitingLane})`,
    `UPDATE lanes SET due_at = now() WHERE id = (${waitingLane})`,
    ['L2'],
  ],
  [
    'a delivery whose next attempt is in ten years',
    `UPDATE lanes SET due_at = now() + interval '10 years' WHERE id = (${waitingLane});
     UPDATE deliveries SET next_attempt_at = now() + interval '10 years' WHERE state = 'pending'`,
    `UPDATE lanes SET due_at = now() WHERE id = (${waitingLane});
     UPDATE deliveries SET next_attempt_at = now() WHERE state = 'pending'`,
    ['L2'],
  ],
  [
    'a lease that ends in ten years',
    `UPDATE lanes SET due_at = now() + interval '10 years', lease_token = gen_random_uuid() WHERE id = (${waitingLane})`,
    `UPDATE lanes SET due_at = now(), lease_token = NULL WHERE id = (${waitingLane})`,
    ['L2'],
  ],
  ["a count of an assignee's conversations that is wrong", countAssigned('+'), countAssigned('-'), ['L6']],
  [
    'an unread count that is wrong',
    `UPDATE conversations SET unread_count = unread_count + 77 WHERE id = (SELECT max(id) FROM conversations)`,
    `UPDATE conversations SET unread_count = unread_count - 77 WHERE unread_count >= 77`,
    ['L6'],
  ],
  [
    'an unread count that forgets messages',
    `UPDATE conversations SET unread_count = unread_count - 1 WHERE id = (SELECT max(id) FROM conversations)`,
    `UPDATE conversations SET unread_count = unread_count + 1 WHERE id = (SELECT max(id) FROM conversations)`,
    ['L6'],
  ],
  [
    'an event that was deleted from the middle of its conversation',
    ...without(`
    SELECT id FROM events WHERE name = 'message_created' ORDER BY id LIMIT 1`),
    ['L4', 'L10', 'L11'],
  ],
  [
    'the newest event of a conversation that was deleted',
    ...without(`
    SELECT id FROM events WHERE conversation_id IS NOT NULL ORDER BY id DESC LIMIT 1`),
    ['L4', 'L10'],
  ],
  [
    'an event of a contact that was deleted with its deliveries',
    ...without(`
    SELECT id FROM events WHERE name = 'contact_created' ORDER BY id DESC LIMIT 1`),
    ['L10'],
  ],
  [
    'an event that is gone from the feed',
    `CREATE TABLE kept AS SELECT * FROM event_feed WHERE event_id = (SELECT max(id) FROM events WHERE name = 'contact_created');
     DELETE FROM event_feed WHERE event_id IN (SELECT event_id FROM kept)`,
    `INSERT INTO event_feed SELECT * FROM kept; DROP TABLE kept`,
    ['L10'],
  ],
  [
    'an event that nobody places in the feed',
    `INSERT INTO events (account_id, name, account_payload, webhook_epoch, created_at)
     VALUES (1, 'contact_updated', '{"planted": true}', 0, now() - interval '2 minutes')`,
    `DELETE FROM events WHERE account_payload::text = '{"planted": true}'`,
    ['L10'],
  ],
  ['two events of a conversation that changed their places in the feed', swapPlaces, swapPlaces, ['L10']],
  [
    'a position that was erased while its conversation is there',
    `CREATE TABLE kept AS SELECT * FROM event_feed WHERE event_id = (SELECT max(id) FROM events WHERE name = 'contact_created');
     INSERT INTO erased_positions SELECT account_id, position, 'contact', (SELECT max(id) FROM contacts) FROM kept;
     DELETE FROM event_feed WHERE event_id IN (SELECT event_id FROM kept)`,
    `DELETE FROM erased_positions; INSERT INTO event_feed SELECT * FROM kept; DROP TABLE kept`,
    ['L10'],
  ],
  [
    'a delivery that was cancelled and nobody had asked',
    `UPDATE deliveries SET state = 'cancelled', finished_at = now(), superseded = true WHERE state = 'pending'`,
    `UPDATE deliveries SET state = 'pending', finished_at = NULL, superseded = false WHERE superseded`,
    ['L12'],
  ],
  [
    'a message without an event',
    `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind)
     SELECT 1, max(id), 'outgoing', 'planted', 'system' FROM conversations`,
    `DELETE FROM messages WHERE content = 'planted'`,
    ['L11'],
  ],
  [
    'an entry of the audit log that is gone',
    `INSERT INTO audit_chains (account_id, position, hash) VALUES (1, 1, 'planted')
     ON CONFLICT (account_id) DO UPDATE SET position = audit_chains.position + 1000000`,
    `DELETE FROM audit_chains WHERE hash = 'planted';
     UPDATE audit_chains SET position = position - 1000000 WHERE position > 1000000`,
    ['L13'],
  ],
];
