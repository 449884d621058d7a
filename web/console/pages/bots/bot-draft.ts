import type { Body } from '../../../shared/call.ts';
import type { AccountPlugin, Bot } from './bot-list.ts';
import { botEvents } from './bot-words.tsx';

/** The settings of a bot as a form has them. */
export interface BotDraft {
  name: string;
  description: string;
  outgoingUrl: string;
  /** Format of the payloads sent to its server. */
  format: Bot['format'];
  events: readonly string[];
  hearOwn: boolean;
  config: Readonly<Record<string, unknown>>;
  /** Secrets that were entered, by name; null for one that is to be forgotten. */
  secrets: Readonly<Record<string, string | null>>;
  /** As it was entered; empty for any number. */
  tokensPerDay: string;
}

type Changes = NonNullable<Body<'PATCH agent_bots/:id'>>;

const empty: BotDraft = {
  name: '',
  description: '',
  outgoingUrl: '',
  format: 'default',
  events: botEvents.map(([event]) => event),
  hearOwn: true,
  config: {},
  secrets: {},
  tokensPerDay: '',
};

/** The draft of a bot that is not there yet, or of one that is. */
export function draftOf(bot: Bot | null): BotDraft {
  if (!bot) return empty;
  return {
    name: bot.name,
    description: bot.description ?? '',
    outgoingUrl: bot.outgoing_url ?? '',
    format: bot.format,
    events: bot.events,
    hearOwn: bot.hear_own,
    config: bot.config,
    secrets: {},
    tokensPerDay: bot.tokens_per_day === null ? '' : String(bot.tokens_per_day),
  };
}

/** Request body of a draft. `plugin` is null for a bot on a server of the account. */
export function bodyOf(draft: BotDraft, plugin: AccountPlugin | null): Changes & { name: string } {
  const { name, outgoingUrl, format } = draft;
  const common = { name, description: draft.description === '' ? null : draft.description };
  if (!plugin) {
    const events = [...draft.events] as NonNullable<Changes['events']>;
    return { ...common, outgoing_url: outgoingUrl, format, events, hear_own: draft.hearOwn };
  }
  return {
    ...common,
    config: { ...draft.config },
    ...(Object.keys(draft.secrets).length > 0 ? { secrets: { ...draft.secrets } } : {}),
    ...(plugin.forwards && outgoingUrl !== '' ? { outgoing_url: outgoingUrl, format } : {}),
    ...(plugin.asks_models ? { tokens_per_day: draft.tokensPerDay === '' ? null : Number(draft.tokensPerDay) } : {}),
  };
}

/** Fields of a draft that the browser must not store: secrets, and settings of plugins that declare some of them secret. */
export function secretFields(plugins: readonly (AccountPlugin | null)[]): (keyof BotDraft)[] {
  const hasSecrets = plugins.some((plugin) => JSON.stringify(plugin?.config_schema ?? {}).includes('"x-secret":true'));
  return hasSecrets ? ['secrets', 'config'] : ['secrets'];
}

/** The plugins that forms offer by name: bots of the other two kinds have names of their own. */
export function isOffered({ id, kind }: AccountPlugin): boolean {
  return kind === 'bot' && id !== aiPlugin && id !== 'webhook-bot';
}

/** The plugin that bots of the kind `ai` run. */
export const aiPlugin = 'ai-bot';
