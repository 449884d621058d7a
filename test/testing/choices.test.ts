import { expect } from 'chai';
import { simulate } from 'switchboard/testing';
import { makeBot, removeBots } from './helpers.ts';

describe('the test kit', function () {
  this.timeout(60_000);
  after(removeBots);

  it('shows choices and files in the transcript, and takes a choice', async () => {
    const permissions = { conversation: ['reply'], network: { hosts: ['files.shop.example'] } };
    const sim = await simulate(
      makeBot(
        `message_created(ctx) {
          const [chosen] = ctx.message.content_attributes.submitted_values ?? [];
          if (chosen) return ctx.reply('Value ' + chosen.value, { attachments: [{ url: 'https://files.shop.example/a/17.pdf' }] });
          ctx.reply('Which?', { input_select: { items: [{ title: 'Basic', value: 'b' }, { title: 'Pro', value: 'p' }] } });
        },`,
        { permissions },
      ),
    );
    await sim.customer('Hello');
    await sim.chooses('Pro');
    expect(sim.replies()).to.deep.equal(['Value p']);
    const told = sim.transcript().replaceAll(/^\d.{20}/gm, '');
    expect(told).to.include('bot: Which?\n      1. Basic\n      2. Pro\n').and.to.include('customer: Pro\n');
    expect(told).to.include('bot: Value p [17.pdf]');
    const refused = await sim.chooses('Gold').catch((error: Error) => error.message);
    expect(refused).to.include('Basic, Pro');
  });
});
