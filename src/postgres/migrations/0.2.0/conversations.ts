// The bot that serves a conversation of 0.1.0.
const servingBot = 'coalesce(c.agent_bot_id, i.agent_bot_id)';

/**
 * Conversations tell apart the silence of one bot, which the bot itself has caused, and the silence that people have caused,
 * which binds every bot; and they keep why they were handed off, where that can still be known. Their indexes hold what reads
 * need and no more, since each message changes when its conversation was last active.
 */
export const conversations = `
  ALTER TABLE conversations DROP CONSTRAINT conversations_bot_silence_check,
    ADD bot_silence_of bigint,
    ADD human_silence text CHECK (human_silence IN ('human_replied', 'human_opened')),
    ADD handoff_reason text CONSTRAINT conversations_handoff_reason CHECK (handoff_reason IN (
      'keyword', 'max_exchanges', 'requested_by_model', 'plugin', 'model_failed', 'no_answer', 'budget',
      'bot_unreachable', 'loop')),
    ADD closed_by text CONSTRAINT conversations_closed_by CHECK (closed_by IN ('user', 'agent_bot', 'automation', 'contact', 'system')),
    ADD session_began_at timestamptz,
    ADD bot_changes integer NOT NULL DEFAULT 0,
    ADD bot_changed_at timestamptz,
    ADD seen_through bigint;
  -- When a person marked the messages of 0.1.0 as read is not known: those that are counted are the newest.
  UPDATE conversations c SET seen_through = m.id FROM conversations o CROSS JOIN LATERAL (
    SELECT id FROM messages WHERE account_id = o.account_id AND conversation_id = o.id AND message_type = 'incoming'
      AND NOT private ORDER BY id DESC OFFSET o.unread_count LIMIT 1) m
  WHERE c.account_id = o.account_id AND c.id = o.id;
  UPDATE conversations SET human_silence = bot_silence, bot_silence = NULL
  WHERE bot_silence IN ('human_replied', 'human_opened');
  UPDATE conversations c SET bot_silence_of = ${servingBot},
    bot_silence = CASE WHEN ${servingBot} IS NOT NULL THEN c.bot_silence END,
    handoff_reason = CASE WHEN ${servingBot} IS NOT NULL THEN
      CASE c.bot_silence WHEN 'handed_off' THEN 'plugin' WHEN 'loop_suspected' THEN 'loop' ELSE 'bot_unreachable' END END
  FROM inboxes i WHERE i.account_id = c.account_id AND i.id = c.inbox_id AND c.bot_silence IS NOT NULL;
  ALTER TABLE conversations
    ADD CONSTRAINT conversations_bot_silence CHECK (bot_silence IN ('handed_off', 'loop_suspected', 'bot_failed')),
    ADD CONSTRAINT conversations_bot_silence_of CHECK ((bot_silence IS NULL) = (bot_silence_of IS NULL));

  -- The orders of the list stand in narrow indexes, by status: the list of all statuses merges four stretches of one. An
  -- inbox's conversations have an index of their own in the order of the list.
  DROP INDEX conversations_by_activity, conversations_by_creation, conversations_by_update, conversations_by_status,
    conversations_by_status_and_creation, conversations_by_status_and_update, conversations_by_inbox, conversations_by_team,
    conversations_by_assignee, conversations_due_snoozes, conversations_due_first_responses, conversations_due_resolutions;
  CREATE INDEX conversations_by_activity ON conversations (account_id, status, last_activity_at, id);
  CREATE INDEX conversations_by_creation ON conversations (account_id, status, created_at, id);
  CREATE INDEX conversations_by_update ON conversations (account_id, status, updated_at, id);
  CREATE INDEX conversations_by_inbox ON conversations (account_id, inbox_id, status, last_activity_at, id);
  CREATE INDEX conversations_by_team ON conversations (account_id, team_id, status) WHERE team_id IS NOT NULL;
  CREATE INDEX conversations_by_assignee ON conversations (account_id, assignee_id, status);
  -- Many rows may be due at the same moment: without the id, each page would sort all of them anew.
  CREATE INDEX conversations_due_snoozes ON conversations (snoozed_until, id) WHERE status = 'snoozed';
  CREATE INDEX conversations_due_first_responses ON conversations (first_response_due_at, id)
    WHERE first_response_due_at IS NOT NULL;
  CREATE INDEX conversations_due_resolutions ON conversations (resolution_due_at, id)
    WHERE resolution_due_at IS NOT NULL;
  -- No read looks up an id without its account.
  ALTER TABLE conversations DROP CONSTRAINT conversations_pkey, REPLICA IDENTITY USING INDEX conversations_tenant;
  ALTER TABLE messages DROP CONSTRAINT messages_pkey, REPLICA IDENTITY USING INDEX messages_tenant,
    DROP CONSTRAINT messages_sender_kind_check,
    ADD CONSTRAINT messages_sender_kind CHECK (sender_kind IN ('contact', 'user', 'agent_bot', 'automation', 'system'));

  -- Conversations that are still to say that a label they carry has another title, and the title they said last.
  CREATE TABLE label_renames (
    account_id bigint NOT NULL,
    label_id bigint NOT NULL,
    conversation_id bigint NOT NULL,
    previous_title text NOT NULL,
    PRIMARY KEY (account_id, label_id, conversation_id),
    CONSTRAINT label_renames_carrier FOREIGN KEY (account_id, conversation_id, label_id)
      REFERENCES conversation_labels (account_id, conversation_id, label_id) ON DELETE CASCADE
  );`;
