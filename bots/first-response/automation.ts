import { defineAutomation, secret, type AutomationContext } from 'switchboard/bot';
import { reminderFor } from './reminder.ts';

interface Settings {
  minutes: number;
  server: string;
  console_url?: string;
}

type Ctx = AutomationContext<Settings>;

/** Stands for the path in the URL: only the service knows it. */
const path = String(secret('WEBHOOK_PATH'));
const [againSeconds, tries] = [300, 3];

export default defineAutomation<Settings>({
  on: {
    async message_created(ctx) {
      const { message } = ctx;
      if (!message || message.private) return;
      if (message.sender?.type === 'User') await ctx.storage.set('state', 'answered');
      else if (message.message_type === 'incoming' && (await ctx.storage.get('state')) === null) {
        await ctx.storage.set('state', 'waiting');
        ctx.schedule({ inSeconds: ctx.config.minutes * 60 }, 'remind', 1);
      }
    },

    async conversation_status_changed(ctx) {
      // The next session has a first answer of its own.
      if (ctx.conversation?.status === 'resolved') await ctx.storage.delete('state');
    },

    async schedule(ctx) {
      if ((await ctx.storage.get('state')) !== 'waiting') return;
      const problem = await post(ctx);
      if (problem === null) return;
      ctx.log.warn('The reminder was not posted', { problem });
      const tried = Number(ctx.event['data']);
      if (tried < tries) ctx.schedule({ inSeconds: againSeconds }, 'remind', tried + 1);
    },
  },
});

/** Posts the reminder. Returns the problem; null for none. */
async function post(ctx: Ctx): Promise<string | null> {
  const { conversation } = await ctx.current();
  if (conversation === null) return null;
  const { server, minutes, console_url: console } = ctx.config;
  try {
    const url = `${server.replace(/\/$/, '')}/${path}`;
    const text = reminderFor(conversation, { minutes, console });
    const { status } = await ctx.fetch(url, { method: 'POST', body: { text } });
    return status >= 200 && status < 300 ? null : `status ${status}`;
  } catch (error) {
    return String(error);
  }
}
