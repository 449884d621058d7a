import { defineBot } from 'switchboard/bot';

interface Settings {
  minutes: number;
  question: string;
  thanks: string;
}

const scores = [1, 2, 3, 4, 5];
/** How long an answer counts as one to the question. */
const answerSeconds = 7 * 24 * 3600;

export default defineBot<Settings>({
  on: {
    async conversation_resolved(ctx) {
      // The resolution after the score is no reason to ask again.
      if (await ctx.storage.get('scored')) await ctx.storage.delete('scored');
      else ctx.schedule({ inSeconds: ctx.config.minutes * 60 }, 'ask');
    },

    async schedule(ctx) {
      // Opened again meanwhile: the customer has something else to say.
      if (ctx.conversation.status !== 'resolved') return;
      await ctx.storage.set('asked', true, { ttl: answerSeconds });
      ctx.reply({
        content: ctx.config.question,
        content_type: 'input_select',
        content_attributes: { items: scores.map((score) => ({ title: String(score), value: String(score) })) },
      });
    },

    async message_created(ctx) {
      if (!(await ctx.storage.get('asked'))) return;
      await ctx.storage.delete('asked');
      const score = Number(/^\s*([1-5])\s*$/.exec(ctx.message.content)?.[1]);
      if (!scores.includes(score)) {
        ctx.open();
        return;
      }
      await ctx.storage.set('scored', true, { ttl: answerSeconds });
      const sum = await ctx.storage.installation.incr('sum', score);
      const count = await ctx.storage.installation.incr('count');
      ctx.log.info('scored', { score, average: sum / count });
      ctx.attributes({ csat_score: score });
      ctx.reply(ctx.config.thanks);
      ctx.resolve();
    },
  },
});
