import { defineBot, secret } from 'switchboard/bot';

export default defineBot({
  on: {
    async message_created(ctx) {
      const number = /\b\d{1,9}\b/.exec(ctx.message.content)?.[0];
      if (number === undefined) {
        ctx.reply('Which ticket is it about? Please send its number.');
        return;
      }
      try {
        const answer = await ctx.fetch(`https://api.example.com/tickets/${number}`, {
          headers: { authorization: secret('API_KEY', 'Bearer ') },
        });
        if (answer.status === 404) {
          ctx.reply(`I do not know a ticket ${number}.`);
          return;
        }
        const { state } = answer.json() as { state: string };
        ctx.reply(`Ticket ${number} is ${state}.`);
      } catch (error) {
        ctx.log.warn('no answer that could be used', { error: String(error) });
        ctx.handoff({ reason: 'the API did not answer', message: 'A colleague will look into it.' });
      }
    },
  },
});
