import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import { invalid } from '../../../errors.ts';
import type { OutsideServices } from '../../../http/route/call.ts';
import { unixSeconds, unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { isAiBot } from '../../../domain/bots/ai-settings.ts';
import type { UnmetNeeds } from '../../../domain/bots/unmet-needs.ts';
import { presentAiFields } from './ai-bots.ts';
import { presentHealth } from '../deliveries/health.ts';
import { presentCircuit } from '../deliveries/circuit.ts';

/** The description of the two operations that release a bot. */
export const releaseDescription =
  'Ends a quarantine: the bot is called again, and what failed before counts no more. After 5 failed runs without a good one a bot inside the service is not called for 5 minutes, then for 30 minutes, then for 4 hours, then until it is released.';

/** Facts about a bot that its own row does not say. */
export interface BotFindings {
  /** Why it cannot answer as it is meant to; by default what its last run showed. */
  healthError?: string | null;
  /** Needs that its account has not met; none by default. */
  unmet?: UnmetNeeds | undefined;
}

/** A bot in REST answers to its owner: its account, or the platform for a system bot. */
export function presentOwnBot(bot: AgentBot, findings: BotFindings): Shape<'resources/agent-bot'> {
  return {
    id: bot.id,
    account_id: bot.accountId ?? null,
    name: bot.name,
    description: bot.description ?? null,
    kind: isAiBot(bot) ? 'ai' : bot.kind === 'webhook' ? 'webhook' : 'plugin',
    avatar_url: bot.avatarUrl ?? null,
    ...presentServer(bot),
    plugin_id: bot.pluginId ?? null,
    config: bot.config,
    events: bot.events,
    hear_own: bot.hearsOwn,
    disabled_reason: disabledReasonOf(bot),
    paused: Boolean(bot.pausedAt),
    paused_at: unixSecondsOrNull(bot.pausedAt ?? null),
    system: (bot.accountId ?? null) === null,
    quarantine: presentQuarantine(bot),
    ...presentFindings(bot, findings),
    tokens_per_day: bot.tokensPerDay ?? null,
    ...presentAiFields(bot),
    token_last_used_at: unixSecondsOrNull(bot.tokenLastUsedAt ?? null),
    created_at: unixSeconds(bot.createdAt),
    updated_at: unixSeconds(bot.updatedAt),
  };
}

function presentFindings(
  bot: AgentBot,
  { healthError = bot.healthError ?? null, unmet: { secrets, hosts } = { secrets: [], hosts: [] } }: BotFindings,
): Pick<Shape<'resources/agent-bot'>, 'secret_names' | 'missing_secrets' | 'unapproved_hosts' | 'health'> {
  const lacks = [
    ...(secrets.length === 0 ? [] : [`Missing secrets: ${secrets.join(', ')}`]),
    ...(hosts.length === 0 ? [] : [`Hosts of tools not approved: ${hosts.join(', ')}`]),
  ];
  return {
    secret_names: Object.keys(bot.secrets).sort(),
    missing_secrets: [...secrets],
    unapproved_hosts: [...hosts],
    health: presentHealth(bot, healthError ?? (lacks.length === 0 ? null : lacks.join('. '))),
  };
}

function presentServer(bot: AgentBot) {
  const { outgoingUrl = null } = bot;
  return { outgoing_url: outgoingUrl, format: bot.format, circuit: outgoingUrl === null ? null : presentCircuit(bot) };
}

/** A bot in REST answers to an account, which does not see the URL, the config and the secrets of system bots. */
export function presentAgentBot(bot: AgentBot, findings: BotFindings): Shape<'resources/agent-bot'> {
  const record = presentOwnBot(bot, findings);
  if (!record.system) return record;
  const unseen = { token_last_used_at: null, tokens_per_day: null };
  const hidden = {
    outgoing_url: null,
    config: {},
    secret_names: [],
    missing_secrets: [],
    unapproved_hosts: [],
    ...unseen,
  };
  return { ...record, ...hidden, ...presentAiFields(null), health: { ...record.health, last_error: null } };
}

/** Checks the URL of a bot's server. Errors: 422 for a URL that may not be called. */
export async function checkOutgoingUrl({ outbound }: OutsideServices, url: string | null | undefined): Promise<void> {
  if (url === undefined || url === null) return;
  const problem = await outbound.checkUrl(url, { httpsOnly: true });
  if (problem) throw invalid('/outgoing_url', problem.rule, problem.message);
}

function disabledReasonOf({ disabledReason, pluginObstacle, configFits }: AgentBot): string | null {
  return disabledReason ?? pluginObstacle ?? (configFits ? null : 'config_invalid');
}

function presentQuarantine({ quarantinedAt, quarantinedUntil, quarantineReason }: AgentBot) {
  if (!quarantinedAt) return null;
  const until = unixSecondsOrNull(quarantinedUntil ?? null);
  return { reason: quarantineReason ?? '', since: unixSeconds(quarantinedAt), until };
}
