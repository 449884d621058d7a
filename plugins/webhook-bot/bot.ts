import { defineBot, type Context } from 'switchboard/bot';

interface Settings {
  events: string[];
  hear_own: boolean;
}

async function forward(ctx: Context<Settings>): Promise<void> {
  const { events, hear_own } = ctx.config;
  const { message } = ctx;
  if (!events.includes(String(ctx.event['event']))) return;
  // A private note is nothing that anybody said to the customer.
  if (message?.message_type === 'outgoing' && !message.private && !hear_own) return;
  await ctx.forward();
}

/** Forwards its events, as they are, to the server that the account has set. */
export default defineBot<Settings>({
  on: {
    message_created: forward,
    message_updated: forward,
    conversation_opened: forward,
    conversation_resolved: forward,
    webwidget_triggered: forward,
  },
});
