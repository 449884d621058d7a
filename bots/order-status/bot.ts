import { defineBot, secret, type FetchAnswer, type MessageContext } from 'switchboard/bot';

interface Settings {
  prefix: string;
  tries: number;
}

type Ctx = MessageContext<Settings>;

export default defineBot<Settings>({
  on: {
    async message_created(ctx) {
      const text = ctx.message.content;
      if (/\b(?:human|agent|person)\b/i.test(text)) {
        ctx.handoff({ reason: 'The customer asked for a person', message: 'I am getting a colleague for you.' });
        return;
      }
      const number = findNumber(text, ctx.config.prefix);
      if (number === null) await askForNumber(ctx);
      else await tellState(ctx, number);
    },
  },
  onError(ctx, error) {
    ctx.log.error('the order bot failed', { error: String(error) });
  },
});

function findNumber(text: string, prefix: string): string | null {
  const start = text.toUpperCase().indexOf(prefix.toUpperCase());
  const digits = start === -1 ? undefined : /^\d{1,12}/.exec(text.slice(start + prefix.length))?.[0];
  return digits === undefined ? null : `${prefix}${digits}`;
}

async function askForNumber(ctx: Ctx): Promise<void> {
  const asked = await ctx.storage.incr('asked');
  if (asked <= ctx.config.tries) {
    ctx.reply(`Which order is it about? Its number looks like ${ctx.config.prefix}1042.`);
    return;
  }
  ctx.handoff({ reason: `No order number after ${ctx.config.tries} questions`, message: 'A colleague will help you.' });
}

async function tellState(ctx: Ctx, number: string): Promise<void> {
  const answer = await lookUp(ctx, number);
  if (answer?.status === 404) {
    ctx.reply(`I do not know an order ${number}. Please check the number.`);
    return;
  }
  const state = answer?.status === 200 ? stateIn(answer) : null;
  if (state === null) {
    ctx.handoff({ reason: `The shop did not tell the state of ${number}`, message: 'A colleague will look into it.' });
    return;
  }
  await ctx.storage.delete('asked');
  ctx.label.add('order-status');
  ctx.reply(`Order ${number} is ${state}.`);
}

/** The shop's answer; null when there was none. */
async function lookUp(ctx: Ctx, number: string): Promise<FetchAnswer | null> {
  try {
    return await ctx.fetch(`https://api.shop.example/orders/${encodeURIComponent(number)}`, {
      headers: { authorization: secret('SHOP_KEY', 'Bearer ') },
    });
  } catch (error) {
    ctx.log.warn('the shop does not answer', { error: String(error) });
    return null;
  }
}

/** `state` in the answer; null when it is no such answer. */
function stateIn(answer: FetchAnswer): string | null {
  try {
    const { state } = answer.json() as { state?: unknown };
    return typeof state === 'string' && state !== '' ? state.slice(0, 100) : null;
  } catch {
    return null;
  }
}
