import { defineBot } from 'switchboard/bot';
import { nextOpening, isOpen, type Hours } from './hours.ts';

interface Settings extends Hours {
  message: string;
}

export default defineBot<Settings>({
  on: {
    async message_created(ctx) {
      const { config, now } = ctx;
      const opening = isOpen(config, now) ? null : nextOpening(config, now);
      if (opening === null) {
        ctx.handoff('People are there now');
        return;
      }
      // The customer may go on writing: one answer is enough for each opening.
      const told = await ctx.storage.get<number>('told');
      if (told !== opening.getTime())
        ctx.reply(config.message.replace('{opening}', describe(opening, config.timezone)));
      await ctx.storage.set('told', opening.getTime());
      ctx.snooze(opening);
    },
  },
});

function describe(moment: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long', hour: '2-digit', minute: '2-digit' });
  return format.format(moment);
}
