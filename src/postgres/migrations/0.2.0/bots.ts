import { endpointColumns } from './endpoint-columns.ts';

/**
 * Bots: the secrets before the present one, which sign too while the server learns it; how attempts on their servers end; a quarantine
 * for bots whose runs fail again and again (`failed_account_id` is where a system bot failed last; without an end it waits for
 * a release by hand); sealed secrets by name; why their plugin cannot run them; and a limit of tokens a day. `health_error` is
 * why the bot cannot answer as it is meant to, null when it can. Automations and channels are rows, too: `inbox_ids` is where they act, null
 * for all inboxes, and `active` whether they are on.
 */
export const bots = `
  ALTER TABLE agent_bots
    ${endpointColumns.secrets},
    ${endpointColumns.health},
    ADD disabled_reason text,
    ADD failed_runs integer NOT NULL DEFAULT 0,
    ADD failed_account_id bigint,
    ADD quarantines integer NOT NULL DEFAULT 0,
    ADD quarantined_at timestamptz,
    ADD quarantined_until timestamptz,
    ADD quarantine_reason text,
    ADD secrets jsonb NOT NULL DEFAULT '{}',
    ADD config_fits boolean NOT NULL DEFAULT true,
    ADD plugin_obstacle text CHECK (plugin_obstacle IN ('plugin_missing', 'plugin_disabled')),
    ADD token_last_used_at timestamptz,
    ADD tokens_per_day bigint,
    ADD health_error text,
    ADD health_since timestamptz,
    ${endpointColumns.pauses},
    ${endpointColumns.format('agent_bots')},
    ADD inbox_ids bigint[],
    ADD active boolean NOT NULL DEFAULT true,
    DROP CONSTRAINT agent_bots_kind_check,
    DROP CONSTRAINT agent_bots_kind,
    -- Plugin bots may have a server too, to which their plugin forwards events.
    ADD CONSTRAINT agent_bots_kind CHECK (
      (outgoing_url IS NULL OR secret IS NOT NULL)
      AND ((kind = 'webhook' AND plugin_id IS NULL AND (outgoing_url IS NOT NULL OR disabled_reason IS NOT NULL))
        OR (kind = 'plugin' AND plugin_id IS NOT NULL)
        OR (kind IN ('automation', 'channel') AND plugin_id IS NOT NULL AND account_id IS NOT NULL AND outgoing_url IS NULL)));
  CREATE INDEX agent_bots_automations ON agent_bots (account_id) WHERE kind = 'automation' AND active;
  CREATE INDEX agent_bots_paused ON agent_bots (id) WHERE paused_at IS NOT NULL;
  CREATE INDEX agent_bots_plugin ON agent_bots (plugin_id) WHERE plugin_id IS NOT NULL;`;
