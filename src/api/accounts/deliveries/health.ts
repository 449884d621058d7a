import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import { unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';

type Health = Shape<'resources/agent-bot'>['health'];

/**
 * Why a bot cannot answer as it is meant to, and since when; the gravest reason first. `healthError` is what its runs show, or
 * its record; `checkError` is what the last check of a channel has found.
 */
export function presentHealth(bot: AgentBot, healthError = bot.healthError ?? null): Health {
  const { healthSince, quarantinedAt, quarantineReason, failingSince } = bot;
  if (bot.disabledReason) return failing(whyDisabled(bot), failingSince);
  if (bot.pluginObstacle) return failing(obstacles[bot.pluginObstacle], null);
  if (!bot.configFits) return failing('Invalid settings for the running plugin version', null);
  if (quarantinedAt) return failing(`It failed several times running: ${quarantineReason ?? ''}`, quarantinedAt);
  const error = [bot.checkError, healthError].find(Boolean);
  if (error) return failing(error, bot.healthError ? healthSince : null);
  if (failingSince) return failing('Its server does not accept its events', failingSince);
  return { state: 'ok', last_error: null, since: unixSecondsOrNull(healthSince ?? null) };
}

function whyDisabled({ kind, outgoingUrl, disabledReason }: AgentBot): string {
  if (kind === 'webhook' && !outgoingUrl) return 'It has no server: agents get its conversations';
  return `The service stopped calling its server: ${disabledReason}`;
}

const obstacles: Readonly<Record<NonNullable<AgentBot['pluginObstacle']>, string>> = {
  plugin_missing: 'Its plugin is not installed',
  plugin_disabled: 'Its plugin is disabled',
};

function failing(error: string, since: Date | null | undefined): Health {
  return { state: 'failing', last_error: error, since: unixSecondsOrNull(since ?? null) };
}
