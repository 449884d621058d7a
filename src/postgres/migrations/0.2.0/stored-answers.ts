/**
 * Stored answers of requests with an idempotency key. `names` has the records that an answer tells of, so that erasing one
 * erases the answer; for the answers of 0.1.0 they are unknown, and the first erasure takes all of them. Bytes are counted by
 * caller.
 */
export const storedAnswers = `
  ALTER TABLE idempotency_keys ADD names text[] NOT NULL DEFAULT '{unknown}',
    ADD stored_bytes integer NOT NULL GENERATED ALWAYS AS (octet_length(body)) STORED;
  CREATE INDEX idempotency_keys_by_name ON idempotency_keys USING gin (names) WITH (fastupdate = off);
  CREATE INDEX idempotency_keys_stored ON idempotency_keys (holder, created_at DESC, stored_bytes) WHERE body <> '';`;
