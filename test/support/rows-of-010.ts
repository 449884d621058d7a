/**
 * Rows in every table that release 0.1.0 fills, in as many states as its rules allow: four accounts, 60 users, 200 conversations
 * with messages, events, deliveries and runs. Statements for a database that has the first schema alone.
 */
export const rowsOf010 = `
  INSERT INTO accounts (name, created_at) SELECT 'Account ' || n, now() - n * interval '1 day' FROM generate_series(1, 4) n;
  INSERT INTO users (name, email, avatar_url, confirmed, platform_admin)
    SELECT 'User ' || n, 'U' || n || '@example.com', CASE WHEN n % 3 = 0 THEN 'https://example.com/' || n END, n % 4 <> 0, n = 1
    FROM generate_series(1, 60) n;
  INSERT INTO agents (account_id, user_id, role, availability)
    SELECT a, u, CASE WHEN u % 5 = 1 THEN 'administrator' ELSE 'agent' END, (ARRAY['online', 'busy', 'offline'])[1 + u % 3]
    FROM generate_series(1, 3) a, generate_series(1, 40) u WHERE (u + a) % 3 <> 0;
  INSERT INTO invitations (account_id, user_id, token_hash, expires_at, closed_at)
    SELECT a, u, decode(md5(a || '-' || u), 'hex'), now() + interval '1 day',
      CASE WHEN u % 3 = 0 THEN now() - interval '1 hour' END
    FROM generate_series(1, 3) a, generate_series(1, 60) u WHERE u % 4 < 2 AND (a + u) % 2 = 0;
  INSERT INTO teams (account_id, name, allow_auto_assign)
    SELECT a, 'Team ' || t, t = 2 FROM generate_series(1, 4) a, generate_series(1, 3) t;
  INSERT INTO team_members SELECT t.account_id, t.id, g.user_id FROM teams t JOIN agents g USING (account_id);
  INSERT INTO agent_bots (account_id, name, kind, outgoing_url, secret, plugin_id, config, events)
    SELECT CASE WHEN n % 5 > 0 THEN 1 + n % 3 END, 'Bot ' || n, CASE n % 2 WHEN 0 THEN 'plugin' ELSE 'webhook' END,
      CASE WHEN n % 2 = 1 THEN 'https://bot' || n || '.example.com/' END, CASE WHEN n % 2 = 1 THEN 'sealed' END,
      CASE WHEN n % 2 = 0 THEN 'faq' END, '{"b": 1, "a": [1, 2]}', '{message_created,conversation_opened}'
    FROM generate_series(1, 14) n;
  INSERT INTO access_tokens (user_id, agent_bot_id, token_hash, last_four)
    SELECT CASE WHEN n <= 20 THEN n * 2 END, CASE WHEN n > 20 THEN n - 20 END, decode(md5('t' || n), 'hex'), 'last'
    FROM generate_series(1, 34) n;
  INSERT INTO inboxes (account_id, name, channel_type, identifier, agent_bot_id, working_hours)
    SELECT a, 'Inbox ' || n, CASE n % 2 WHEN 0 THEN 'Channel::Api' ELSE 'Channel::WebWidget' END, a || '-' || n,
      (SELECT min(id) FROM agent_bots b WHERE (b.account_id = a OR b.account_id IS NULL) AND n % 2 = 0), '[{"day": 1}]'
    FROM generate_series(1, 4) a, generate_series(1, 4) n;
  INSERT INTO inbox_members SELECT i.account_id, i.id, g.user_id, now() FROM inboxes i JOIN agents g USING (account_id);
  INSERT INTO sla_policies (account_id, name, first_response_seconds) SELECT a, 'SLA', 60 FROM generate_series(1, 4) a;
  INSERT INTO contacts (account_id, name, email, phone_number, identifier, custom_attributes, last_activity_at)
    SELECT 1 + n % 4, 'Contact ' || n, 'c' || n || '@example.com', CASE WHEN n % 3 = 0 THEN '+49' || n END,
      CASE WHEN n % 5 = 0 THEN 'id-' || n END, '{"plan": "pro"}', CASE WHEN n % 4 > 0 THEN now() - n * interval '97 s' END
    FROM generate_series(1, 90) n;
  INSERT INTO contact_notes (account_id, contact_id, user_id, content)
    SELECT account_id, id, CASE WHEN id % 3 > 0 THEN 1 + id % 60 END, 'Note' FROM contacts;
  INSERT INTO conversations (account_id, inbox_id, contact_id, status, assignee_id, team_id, agent_bot_id, bot_silence, source_id,
      snoozed_until, sla_policy_id, first_response_due_at)
    SELECT c.account_id, (SELECT id FROM inboxes i WHERE i.account_id = c.account_id ORDER BY id OFFSET n % 4 LIMIT 1), c.id,
      (ARRAY['open', 'resolved', 'pending', 'snoozed'])[1 + n % 4],
      CASE WHEN n % 5 = 0 THEN (SELECT min(user_id) FROM agents g WHERE g.account_id = c.account_id) END,
      CASE WHEN n % 7 = 0 THEN (SELECT min(id) FROM teams t WHERE t.account_id = c.account_id) END,
      CASE WHEN n % 6 = 0 THEN (SELECT max(id) FROM agent_bots b WHERE b.account_id = c.account_id) END,
      (ARRAY['handed_off', 'human_replied', 'human_opened', 'loop_suspected', 'bot_failed'])[n % 11],
      (ARRAY['', 'shared-' || n % 30, 'source-' || n])[n % 4], CASE WHEN n % 4 = 3 THEN now() + n * interval '1 min' END,
      CASE WHEN n % 9 = 0 THEN (SELECT id FROM sla_policies s WHERE s.account_id = c.account_id) END, now()
    FROM generate_series(1, 200) n JOIN contacts c ON c.id = 1 + n * 7 % 90;
  INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, sender_id)
    SELECT c.account_id, c.id, CASE n % 2 WHEN 0 THEN 'incoming' ELSE 'outgoing' END, 'Message ' || n,
      (ARRAY['contact', 'user', 'agent_bot', 'system'])[n], (ARRAY[c.contact_id, 1 + c.id % 75, 1])[n]
    FROM conversations c, generate_series(1, 4) n;
  INSERT INTO contact_tokens (account_id, inbox_id, contact_id, token_hash)
    SELECT c.account_id, i.id, c.id, decode(md5(i.id || 'x' || c.id), 'hex') FROM contacts c JOIN inboxes i USING (account_id);
  INSERT INTO labels (account_id, title) SELECT a, 'label-' || l FROM generate_series(1, 4) a, generate_series(1, 5) l;
  INSERT INTO conversation_labels SELECT c.account_id, c.id, l.id FROM conversations c JOIN labels l USING (account_id);
  INSERT INTO webhooks (account_id, inbox_id, url, subscriptions, active, disabled_reason, secret, previous_secret,
      previous_secret_expires_at)
    SELECT a, CASE w WHEN 1 THEN (SELECT min(id) FROM inboxes i WHERE i.account_id = a) END, 'https://hook.example.com',
      '{message_created,contact_updated}', w <> 2, CASE w WHEN 2 THEN 'gone' END, 'sealed', CASE WHEN w > 1 THEN 'before' END,
      now() + CASE w WHEN 2 THEN interval '-1 hour' WHEN 3 THEN interval '1 day' END
    FROM generate_series(1, 3) a, generate_series(1, 3) w;
  INSERT INTO events (account_id, name, conversation_id, contact_id, inbox_id, sequence, account_payload, bot_payload, bot_id)
    SELECT account_id, 'message_created', id, contact_id, inbox_id, n, '{"b": 1, "a": 2}', '{"x":  1}', agent_bot_id
    FROM conversations, generate_series(1, 2) n;
  INSERT INTO events (account_id, name, account_payload)
    SELECT a, 'contact_deleted', '{}' FROM generate_series(1, 3) a, generate_series(1, 5);
  INSERT INTO events (account_id, name, contact_id) SELECT account_id, 'contact_updated', id FROM contacts;
  INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
    SELECT account_id, kind, 1 + id % 3, 'conversation', id, CASE WHEN id % 2 = 0 THEN now() END
    FROM conversations, unnest('{webhook,bot}'::text[]) AS kind;
  INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, attempt, lease_token, finished_at)
    SELECT e.account_id, e.id, l.id, l.endpoint_kind, l.endpoint_id,
      (ARRAY['pending', 'delivered', 'exhausted', 'cancelled'])[1 + e.id % 4], e.id % 6, md5(e.id::text)::uuid, now()
    FROM events e JOIN lanes l ON l.account_id = e.account_id AND l.subject_id = e.conversation_id;
  INSERT INTO attempts (account_id, delivery_id, number, outcome, status, response_body)
    SELECT d.account_id, d.id, n, (ARRAY['failed', 'unknown', 'delivered', 'failed'])[1 + (d.id + n) % 4], 500, 'body'
    FROM deliveries d, LATERAL generate_series(1, d.attempt) n;
  INSERT INTO bot_runs (account_id, agent_bot_id, conversation_id, event_id, attempt, plugin_id, plugin_version, bundle_hash,
      config, seed, clock, outcome, actions, logs, wall_ms)
    SELECT account_id, bot_id, conversation_id, id, 1, 'faq', '1.0.0', 'hash', '{"z": 1, "a": 2}', id, now(), 'ok',
      '[{"type": "reply", "content": "Hi"}]', '[]', 3
    FROM events WHERE bot_id IS NOT NULL;
  INSERT INTO idempotency_keys (holder, key, token_id, fingerprint, status, body)
    SELECT 'token-' || id, 'k', id, 'x', 201, '{}' FROM access_tokens;
  INSERT INTO idempotency_keys (holder, key, account_id, contact_id, fingerprint, status, body)
    SELECT 'contact-' || id, 'k', account_id, id, 'x', 200, '{}' FROM contacts;
  INSERT INTO agenda_jobs (name, next_run_at, type) SELECT 'job-' || n, now(), 'single' FROM generate_series(1, 5) n;`;
