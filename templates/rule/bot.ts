import { defineBot } from 'switchboard/bot';

/** The settings, as `config` in plugin.json declares them. */
interface Settings {
  greeting: string;
}

export default defineBot<Settings>({
  on: {
    message_created(ctx) {
      const text = ctx.message.content.toLowerCase();
      if (/\b(?:hi|hello|hey)\b/.test(text)) {
        ctx.reply(`${ctx.config.greeting}, ${ctx.contact.name ?? 'there'}! How can I help?`);
        ctx.label.add('greeted');
        return;
      }
      ctx.handoff({ reason: 'no rule for this message', message: 'A colleague will be with you shortly.' });
    },
  },
});
