import { defineAutomation, type AutomationContext } from 'switchboard/bot';
import { isIdle, secondsOfNotice, secondsToNotice, type Patience } from './idle.ts';

interface Settings extends Patience {
  message: string;
}

type Ctx = AutomationContext<Settings>;

export default defineAutomation<Settings>({
  on: {
    async message_created(ctx) {
      if (!ctx.message?.private) await watch(ctx);
    },
    conversation_status_changed: watch,
    async schedule(ctx) {
      const { conversation } = await ctx.current();
      if (!isIdle(conversation, ctx.config)) return;
      if (ctx.event['name'] === 'idle') await announce(ctx);
      // A message since the word before has begun the days anew.
      else if (await ctx.storage.get('announced')) await act(ctx);
    },
  },
});

async function watch(ctx: Ctx): Promise<void> {
  await ctx.storage.delete('announced');
  ctx.schedule({ inSeconds: secondsToNotice(ctx.config) }, 'idle');
}

async function announce(ctx: Ctx): Promise<void> {
  const seconds = secondsOfNotice(ctx.config);
  await ctx.storage.set('announced', true);
  const days = seconds / 86_400;
  ctx.note(`Will be resolved in ${days === 1 ? '1 day' : `${days} days`} unless somebody writes`);
  // Its own run: where an agent has the conversation, the word is refused, and the rest of its run with it.
  ctx.schedule({ inSeconds: 60 }, 'word');
  ctx.schedule({ inSeconds: seconds }, 'resolve');
}

async function act(ctx: Ctx): Promise<void> {
  if (ctx.event['name'] === 'word') {
    ctx.reply(ctx.config.message);
    return;
  }
  await ctx.storage.delete('announced');
  ctx.resolve();
}
