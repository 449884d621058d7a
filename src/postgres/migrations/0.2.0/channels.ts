/**
 * Channels: an inbox may belong to a plugin that connects it with another system (`channel_id`, a row of agent_bots). Messages are
 * known there by external ids, each once in an inbox; one that is sent waits (`pending`) until the other system has it. `awaited` are
 * files of a customer's message that are still to be fetched (`[{at, name}]`) for the request of a hook `awaited_by`.
 * `check_error` is why requests of the other system do not arrive, as the last check of the channel (`checked_at`) has found.
 * `channel_key` is a hash of the setting or secret that no two channels of a plugin share, such as a bot's token.
 */
export const channels = `
  ALTER TABLE agent_bots ADD channel_key bytea, ADD check_error text, ADD checked_at timestamptz;
  CREATE INDEX agent_bots_channel_checks ON agent_bots (checked_at NULLS FIRST) WHERE kind = 'channel';
  CREATE UNIQUE INDEX agent_bots_channel_key ON agent_bots (plugin_id, channel_key) WHERE channel_key IS NOT NULL;
  ALTER TABLE inboxes
    ADD channel_id bigint REFERENCES agent_bots,
    ADD plugin_id text;
  CREATE UNIQUE INDEX inboxes_channel ON inboxes (channel_id) WHERE channel_id IS NOT NULL;
  CREATE FUNCTION refuse_foreign_channel() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM agent_bots WHERE id = NEW.channel_id AND account_id = NEW.account_id AND kind = 'channel') THEN
      RAISE foreign_key_violation USING MESSAGE = 'channel of another account';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER inboxes_channel_tenant BEFORE INSERT OR UPDATE OF channel_id ON inboxes
    FOR EACH ROW WHEN (NEW.channel_id IS NOT NULL) EXECUTE FUNCTION refuse_foreign_channel();
  ALTER TABLE messages
    ADD external_error text,
    DROP CONSTRAINT messages_status_check,
    ADD CONSTRAINT messages_status CHECK (status IN ('pending', 'sent', 'delivered', 'read', 'failed'));
  CREATE TABLE channel_messages (
    account_id bigint NOT NULL,
    inbox_id bigint NOT NULL,
    external_id text NOT NULL,
    message_id bigint NOT NULL,
    awaited jsonb,
    awaited_by bigint,
    PRIMARY KEY (account_id, inbox_id, external_id),
    CONSTRAINT channel_messages_inbox FOREIGN KEY (account_id, inbox_id)
      REFERENCES inboxes (account_id, id) ON DELETE CASCADE,
    CONSTRAINT channel_messages_message FOREIGN KEY (account_id, message_id)
      REFERENCES messages (account_id, id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
  );
  CREATE INDEX channel_messages_by_message ON channel_messages (account_id, message_id);
  CREATE INDEX channel_messages_awaiting ON channel_messages (account_id, awaited_by) WHERE awaited IS NOT NULL;`;
