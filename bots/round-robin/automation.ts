import { defineAutomation, type AutomationContext } from 'switchboard/bot';
import { chooseAgent, presentAgents, type WorkingAgent } from './choose.ts';

interface Settings {
  agents: readonly WorkingAgent[];
  timezone: string;
  most: number;
}

type Ctx = AutomationContext<Settings>;

const againSeconds = 15 * 60;

export default defineAutomation<Settings>({
  on: {
    conversation_created: distribute,
    conversation_updated: distribute,
    conversation_status_changed: distribute,
    schedule: distribute,
  },
});

async function distribute(ctx: Ctx): Promise<void> {
  if (ctx.config.agents.length === 0) return;
  const { conversation, hours } = await ctx.current();
  if (conversation === null) return;
  const { assignee } = conversation['meta'] as { assignee: { id: number } | null };
  const { status } = conversation;
  await count(ctx, status === 'open' || status === 'pending' ? (assignee?.id ?? null) : null);
  // Pending ones are with their bots.
  if (assignee !== null || status !== 'open') return;
  const chosen = hours === 'outside' ? null : await choose(ctx);
  if (chosen === null) {
    ctx.schedule({ inSeconds: againSeconds }, 'look');
    return;
  }
  ctx.assign({ assignee: chosen });
  await count(ctx, chosen);
}

async function choose(ctx: Ctx): Promise<number | null> {
  const { agents, timezone, most } = ctx.config;
  const present = [];
  for (const { agent_id: id } of presentAgents(agents, ctx.now, timezone))
    present.push({ id, load: (await ctx.storage.installation.get<number>(`load ${id}`)) ?? 0 });
  const turn = await ctx.storage.installation.incr('turn');
  return chooseAgent(present, { most, turn });
}

// Each conversation counts for one agent at a time. Changes by increments: runs for other conversations go on meanwhile.
async function count(ctx: Ctx, agentId: number | null): Promise<void> {
  const before = await ctx.storage.get<number>('counted');
  if (before === agentId) return;
  if (before !== null) await ctx.storage.installation.incr(`load ${before}`, -1);
  if (agentId === null) {
    await ctx.storage.delete('counted');
    return;
  }
  await ctx.storage.installation.incr(`load ${agentId}`);
  await ctx.storage.set('counted', agentId);
}
