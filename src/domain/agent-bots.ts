import type { EntityManager } from '@mikro-orm/postgresql';
import { AgentBot } from '../entities/agent-bot.ts';

/** What a plugin's manifest says about the events its bots are told of. */
export interface Hearing {
  events: readonly string[];
  hearsOwn: boolean;
  hearsNotes: boolean;
}

export interface NewPluginBot {
  accountId: number;
  name: string;
  description: string | null;
  pluginId: string;
  config: Record<string, unknown>;
  hearing: Hearing;
}

/** Creates a bot that runs inside the service. */
export async function createPluginBot(em: EntityManager, input: NewPluginBot, now: Date): Promise<AgentBot> {
  const { hearing, ...rest } = input;
  const bot = em.create(AgentBot, {
    ...rest,
    kind: 'plugin',
    events: [...hearing.events],
    hearsOwn: hearing.hearsOwn,
    hearsNotes: hearing.hearsNotes,
    createdAt: now,
    updatedAt: now,
  });
  await em.flush();
  return bot;
}

/** Brings the bots of a plugin in line with its present manifest. */
export async function updateHearing(em: EntityManager, pluginId: string, hearing: Hearing): Promise<void> {
  const bots = await em.find(AgentBot, { pluginId });
  for (const bot of bots) Object.assign(bot, { ...hearing, events: [...hearing.events] });
  await em.flush();
}
