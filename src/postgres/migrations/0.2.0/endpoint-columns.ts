/**
 * Columns that webhooks and bots share: the circuit and health of the endpoint, its pauses and when administrators were last told of
 * one, the format of its bodies, and the
 * signing secrets before the present one with their ends (`older_secrets`: id, sealed secret, createdAt, endsAt).
 */
export const endpointColumns = {
  health: `ADD is_proven boolean NOT NULL DEFAULT false,
    ADD consecutive_failures integer NOT NULL DEFAULT 0,
    ADD unanswered_attempts integer NOT NULL DEFAULT 0,
    ADD failing_since timestamptz,
    ADD circuit_trips integer NOT NULL DEFAULT 0,
    ADD circuit_probe_at timestamptz`,
  secrets: `ADD secret_id bigint NOT NULL DEFAULT nextval('signing_secret_ids'),
    ADD secret_created_at timestamptz NOT NULL DEFAULT now(),
    ADD older_secrets jsonb NOT NULL DEFAULT '[]'`,
  pauses: 'ADD paused_at timestamptz, ADD pause_told_at timestamptz, ADD resumed_at timestamptz',
  format: (table: string): string =>
    `ADD format text NOT NULL DEFAULT 'default' CONSTRAINT ${table}_format CHECK (format IN ('default', 'chatwoot'))`,
};
