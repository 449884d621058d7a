/**
 * Sign-ins of people in browsers: access tokens that expire, and that only a cookie may carry. A link lets its holder sign in
 * once, in place of an access token; a ticket opens a stream of events once, since browsers send no headers with an EventSource.
 * A link that shares a webhook is a token that expires, too: it is nobody's, and lasts while its creator is an administrator.
 * Wrong tries are counted by the keyed hash of a person, or of an address that is nobody's.
 */
export const signIns = `
  ALTER TABLE access_tokens ADD expires_at timestamptz, ADD user_agent text, ADD signed_in_by text,
    ADD webhook_id bigint REFERENCES webhooks ON DELETE CASCADE,
    -- A seat of the webhook's account: the administrator who shared it.
    ADD seat_id bigint,
    DROP CONSTRAINT access_tokens_owner,
    ADD CONSTRAINT access_tokens_owner CHECK (num_nonnulls(user_id, agent_bot_id, webhook_id) = 1),
    ADD CONSTRAINT access_tokens_share CHECK (num_nonnulls(webhook_id, seat_id) IN (0, 2)
      AND (webhook_id IS NULL OR expires_at IS NOT NULL)),
    ADD CONSTRAINT access_tokens_sign_in CHECK (expires_at IS NULL OR agent_bot_id IS NULL);
  CREATE INDEX access_tokens_webhook ON access_tokens (webhook_id) WHERE webhook_id IS NOT NULL;
  CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at, id) WHERE expires_at IS NOT NULL;

  CREATE TABLE sign_in_links (
    link_hash bytea NOT NULL,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    by_operator boolean NOT NULL DEFAULT false,
    CONSTRAINT sign_in_links_hash_unique UNIQUE (link_hash)
  );
  CREATE INDEX sign_in_links_by_user ON sign_in_links (user_id);
  CREATE INDEX sign_in_links_by_age ON sign_in_links (expires_at);

  -- Whether the link went to the invited address, and was shown to nobody else.
  ALTER TABLE invitations ADD mailed boolean NOT NULL DEFAULT false;

  CREATE TABLE passwords (
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    hash text NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT passwords_user_unique UNIQUE (user_id)
  );

  CREATE TABLE second_factors (
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    sealed_secret text NOT NULL,
    -- Null until a code has shown that the app has the secret.
    confirmed_at timestamptz,
    -- The time step of the last code that was accepted: none is accepted twice.
    last_step bigint NOT NULL DEFAULT 0,
    recovery_hashes text[] NOT NULL DEFAULT '{}',
    CONSTRAINT second_factors_user_unique UNIQUE (user_id)
  );

  CREATE TABLE wrong_tries (
    key bytea NOT NULL,
    wrong_at timestamptz[] NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT wrong_tries_key_unique UNIQUE (key)
  );
  CREATE INDEX wrong_tries_by_age ON wrong_tries (expires_at);

  CREATE TABLE stream_tickets (
    ticket_hash bytea NOT NULL,
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    token_id bigint NOT NULL REFERENCES access_tokens ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    CONSTRAINT stream_tickets_hash_unique UNIQUE (ticket_hash)
  );
  CREATE INDEX stream_tickets_by_token ON stream_tickets (token_id);
  CREATE INDEX stream_tickets_by_account ON stream_tickets (account_id);
  CREATE INDEX stream_tickets_by_age ON stream_tickets (expires_at);`;
