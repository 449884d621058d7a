import { endpointColumns } from './endpoint-columns.ts';
import { webhookFilters } from './webhook-filters.ts';

/**
 * Webhooks, and their subscriptions at each moment, so that the ledger can judge an event by the subscriptions of its commit. An
 * account's versions are numbered in the order of their commits (the number's row is locked until then), and each event keeps
 * the number that its commit saw, from the snapshot in which its subscribers were found.
 */
export const webhooks = `
  ${webhookFilters}
  CREATE SEQUENCE signing_secret_ids;
  ALTER TABLE webhooks
    ADD filter jsonb,
    ADD headers jsonb NOT NULL DEFAULT '[]',
    ADD auth jsonb,
    ADD max_per_second integer CONSTRAINT webhooks_max_per_second CHECK (max_per_second BETWEEN 1 AND 1000),
    ${endpointColumns.health},
    ${endpointColumns.secrets},
    ${endpointColumns.pauses},
    ADD failing_told_at timestamptz,
    ADD disabled_by jsonb,
    ${endpointColumns.format('webhooks')};
  UPDATE webhooks SET secret_created_at = created_at,
    older_secrets = CASE WHEN previous_secret_expires_at > now() THEN jsonb_build_array(jsonb_build_object(
      'id', nextval('signing_secret_ids'), 'secret', previous_secret, 'createdAt', created_at, 'endsAt', previous_secret_expires_at))
      ELSE '[]' END;
  ALTER TABLE webhooks DROP previous_secret, DROP previous_secret_expires_at;
  CREATE INDEX webhooks_paused ON webhooks (id) WHERE paused_at IS NOT NULL;
  CREATE INDEX webhooks_failing ON webhooks (failing_since) WHERE failing_since IS NOT NULL;

  CREATE TABLE webhook_epochs (
    account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    epoch bigint NOT NULL
  );
  CREATE TABLE webhook_versions (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    webhook_id bigint NOT NULL,
    epoch bigint NOT NULL,
    active boolean NOT NULL,
    subscriptions text[] NOT NULL,
    inbox_id bigint,
    filter jsonb,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (account_id, webhook_id, epoch)
  );
  CREATE INDEX webhook_versions_by_age ON webhook_versions (account_id, created_at);
  INSERT INTO webhook_epochs (account_id, epoch) SELECT DISTINCT account_id, 1 FROM webhooks;
  INSERT INTO webhook_versions (account_id, webhook_id, epoch, active, subscriptions, inbox_id)
    SELECT account_id, id, 1, active, subscriptions, inbox_id FROM webhooks;

  -- Notices about a webhook: since when it fails, as long as nobody was told that it recovered; and how many deliveries were
  -- reported as given up since \`window_at\`, and how many were not.
  CREATE TABLE webhook_notices (
    account_id bigint NOT NULL REFERENCES accounts ON DELETE CASCADE,
    webhook_id bigint NOT NULL,
    failing_since timestamptz,
    window_at timestamptz NOT NULL DEFAULT now(),
    told integer NOT NULL DEFAULT 0,
    omitted bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, webhook_id)
  );
  -- The mail to administrators about such notices, once a day at most: \`since\` is the first that was not mailed.
  CREATE TABLE webhook_digests (
    account_id bigint PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    since timestamptz,
    mailed_at timestamptz
  );
  CREATE INDEX webhook_digests_due ON webhook_digests (account_id) WHERE since IS NOT NULL;

  CREATE FUNCTION keep_webhook_version() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    w webhooks := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  BEGIN
    INSERT INTO webhook_epochs AS e (account_id, epoch) SELECT id, 1 FROM accounts WHERE id = w.account_id
      ON CONFLICT (account_id) DO UPDATE SET epoch = e.epoch + 1;
    INSERT INTO webhook_versions (account_id, webhook_id, epoch, active, subscriptions, inbox_id, filter)
      SELECT e.account_id, w.id, e.epoch, w.active AND TG_OP <> 'DELETE', w.subscriptions, w.inbox_id, w.filter
      FROM webhook_epochs e JOIN accounts a ON a.id = e.account_id WHERE e.account_id = w.account_id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER webhooks_version AFTER INSERT OR DELETE ON webhooks FOR EACH ROW EXECUTE FUNCTION keep_webhook_version();
  CREATE TRIGGER webhooks_changed_version AFTER UPDATE ON webhooks FOR EACH ROW
    WHEN ((OLD.active, OLD.subscriptions, OLD.inbox_id, OLD.filter) IS DISTINCT FROM (NEW.active, NEW.subscriptions, NEW.inbox_id, NEW.filter))
    EXECUTE FUNCTION keep_webhook_version();

  -- The token bucket of a webhook with a rate: it is empty for a second before \`full_at\`, when it is full again. Claims lock
  -- this row instead of the webhook's, which a request may hold for long.
  CREATE TABLE webhook_rates (
    account_id bigint NOT NULL,
    webhook_id bigint NOT NULL,
    full_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, webhook_id),
    CONSTRAINT webhook_rates_webhook FOREIGN KEY (account_id, webhook_id) REFERENCES webhooks (account_id, id) ON DELETE CASCADE
  ) WITH (fillfactor = 50);
  CREATE FUNCTION keep_webhook_rate() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO webhook_rates (account_id, webhook_id) VALUES (NEW.account_id, NEW.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
  CREATE TRIGGER webhooks_rate AFTER INSERT OR UPDATE OF max_per_second ON webhooks FOR EACH ROW
    WHEN (NEW.max_per_second IS NOT NULL) EXECUTE FUNCTION keep_webhook_rate();`;
