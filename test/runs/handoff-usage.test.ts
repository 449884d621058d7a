import { expect } from 'chai';
import { addConversation, addInbox, addWebhookBot } from '../support/records.ts';
import { BotHouse } from './house.ts';

describe('the usage of a bot counts the conversations that it gave to people:', function () {
  this.timeout(60_000);
  let house: BotHouse;

  before(async () => {
    const permissions = { conversation: ['reply', 'handoff', 'open', 'resolve'] };
    house = await BotHouse.open({
      opener: { on: { message_created: 'ctx.open();' }, permissions },
      both: { on: { message_created: `ctx.open(); ctx.handoff('enough');` }, permissions },
    });
  });
  after(() => house.close());

  const usage = async (bot: number): Promise<{ runs: number; handoffs: number }[]> => {
    const { body } = await house.app.get(`agent_bots/${bot}/usage`);
    return body.payload.map(({ runs, handoffs }: { runs: number; handoffs: number }) => ({ runs, handoffs }));
  };

  it('in a run by opening it, once for each run', async () => {
    for (const id of ['opener', 'both']) {
      const { conversation, run } = await house.askAnew(id);
      expect(run.outcome, run.error ?? '').to.equal('ok');
      expect((await house.app.get(`conversations/${conversation}`)).body.handoff_reason).to.equal('plugin');
      expect(await usage(house.botOf(id))).to.deep.equal([{ runs: 1, handoffs: 1 }]);
    }
  });

  it('through the API by opening it, once for each session; what people open is not the bot’s', async () => {
    const { app } = house;
    const bot = await addWebhookBot(app, 'Counted');
    const inbox = await addInbox(app, { botId: bot.id });
    const toggle = (id: number, status: string, headers?: Record<string, string>) =>
      app.post(`conversations/${id}/toggle_status`, { status }, headers);
    const [first, second] = [await addConversation(app, inbox), await addConversation(app, inbox)];
    expect((await toggle(first, 'open', bot.headers)).status).to.equal(200);
    expect(await usage(bot.id)).to.deep.equal([{ runs: 0, handoffs: 1 }]);
    await toggle(first, 'open', bot.headers);
    await toggle(first, 'open');
    expect(await usage(bot.id)).to.deep.equal([{ runs: 0, handoffs: 1 }]);
    await toggle(first, 'pending');
    expect((await toggle(first, 'open', bot.headers)).status).to.equal(200);
    await Promise.all([toggle(second, 'open', bot.headers), toggle(second, 'open', bot.headers)]);
    expect(await usage(bot.id)).to.deep.equal([{ runs: 0, handoffs: 3 }]);
  });
});
