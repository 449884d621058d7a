/**
 * Events, and the feed: each account's events in the order in which a reader may follow them, by a position that is given after
 * the commit. Ids are taken before it, so a reader of ids would pass an event that commits later. Events of 0.1.0 are placed by
 * their ids. An event keeps the `facts` that webhooks filter by, the webhooks that their filters `left_out`, the
 * automations that heard it, and the channel that it is for.
 */
export const events = `
  -- An event falls with its conversation or contact; one that refers to neither, such as that of their deletion, falls with its
  -- account. A reference of all events to the account would lock the account's row for each message.
  ALTER TABLE events DROP CONSTRAINT events_account_id_fkey,
    ADD is_test boolean NOT NULL DEFAULT false,
    ADD lone_account_id bigint,
    ADD webhook_epoch bigint,
    ADD chatwoot_payload json,
    ADD facts json,
    ADD left_out bigint[],
    ADD automation_ids bigint[],
    ADD channel_id bigint;
  UPDATE events SET lone_account_id = account_id WHERE conversation_id IS NULL AND contact_id IS NULL;
  ALTER TABLE events ADD CONSTRAINT events_lone FOREIGN KEY (lone_account_id) REFERENCES accounts ON DELETE CASCADE;
  CREATE INDEX events_lone_index ON events (lone_account_id) WHERE lone_account_id IS NOT NULL;

  CREATE TABLE event_feed (
    account_id bigint NOT NULL,
    position bigint NOT NULL,
    event_id bigint NOT NULL,
    PRIMARY KEY (account_id, position),
    CONSTRAINT event_feed_event_unique UNIQUE (account_id, event_id),
    CONSTRAINT event_feed_event FOREIGN KEY (account_id, event_id) REFERENCES events (account_id, id) ON DELETE CASCADE
  );
  -- Positions up to \`dropped\` were deleted for their age: a reader who comes too late is told so.
  CREATE TABLE event_feed_heads (
    account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    position bigint NOT NULL,
    dropped bigint NOT NULL DEFAULT 0
  );
  -- No reference to the event: it would be checked, and the event locked, for each event of each commit.
  CREATE TABLE unplaced_events (
    event_id bigint NOT NULL,
    account_id bigint NOT NULL,
    PRIMARY KEY (account_id, event_id)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
  -- Positions of events that were erased with their conversation or contact: the ledger finds that no other one is missing.
  CREATE TABLE erased_positions (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    position bigint NOT NULL,
    subject_kind text NOT NULL CHECK (subject_kind IN ('conversation', 'contact')),
    subject_id bigint NOT NULL,
    PRIMARY KEY (account_id, position)
  );
  INSERT INTO event_feed (account_id, position, event_id)
    SELECT account_id, row_number() OVER (PARTITION BY account_id ORDER BY id), id FROM events;
  INSERT INTO event_feed_heads (account_id, position)
    SELECT account_id, max(position) FROM event_feed GROUP BY account_id;

  -- A statement calls it when it finds that its transaction may not go on: the statements sent with it do not run.
  CREATE FUNCTION refuse_presumption() RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION USING ERRCODE = 'AMISS', MESSAGE = 'what the transaction presumed is not so';
  END $$;`;
