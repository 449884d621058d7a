/**
 * SQL of the moment since when nothing is delivered to a row `bot` of agent_bots; null while something is. A channel that cannot run,
 * or rests in quarantine, is paused: what is to be sent and received waits in its lanes, and does not age.
 */
export const pausedSince = (bot: string): string => `CASE WHEN ${bot}.paused_at IS NULL AND ${bot}.kind = 'channel'
  AND (${bot}.plugin_obstacle IS NOT NULL OR NOT ${bot}.config_fits OR coalesce(
    ${bot}.quarantined_at IS NOT NULL AND (${bot}.quarantined_until IS NULL OR ${bot}.quarantined_until > now()), false))
  THEN now() ELSE ${bot}.paused_at END`;
