import { expect } from 'chai';
import { sendFiles } from '../support/files.ts';
import { BotHouse } from './house.ts';
import { openShop, type Shop } from './shop.ts';

const fileBytes = 9_900_000;

describe('files in forms of several runs', function () {
  this.timeout(120_000);
  let house: BotHouse;
  let shop: Shop;

  before(async () => {
    shop = await openShop();
    // Two such forms are more than an account may have in memory.
    const post = `const file = { file: ctx.message.attachments[0].id };
      await ctx.fetch('https://${shop.host}/held', { method: 'POST', form: { front: file, back: file, copy: file } });
      ctx.reply('Sent');`;
    const permissions = { conversation: ['reply'], network: { hosts: [shop.host], methods: ['POST'] } };
    house = await BotHouse.open(
      { poster: { on: { message_created: post }, permissions } },
      { config: { botFetchTimeoutMs: 20_000 } },
    );
  });
  after(async () => {
    await house.close();
    shop.close();
  });

  it('wait for each other beyond the bytes of their account, and are all sent', async () => {
    const conversations = [await house.conversation('poster'), await house.conversation('poster')];
    for (const conversation of conversations) {
      const file = { name: 'scan.bin', bytes: Buffer.alloc(fileBytes, String(conversation)) };
      const path = `conversations/${conversation}/messages`;
      const { status } = await sendFiles(house.app, path, { message_type: 'incoming' }, { files: [file] });
      expect(status).to.be.within(200, 201);
    }
    await house.app.eventually(() => Promise.resolve(shop.asked.length === 1));
    // The other run has had as much time as this one.
    await new Promise((resolve) => void setTimeout(resolve, 1_000));
    expect(shop.asked).to.have.length(1);
    shop.release();
    for (const conversation of conversations) {
      const run = await house.runAfter(conversation, 0);
      expect([run.outcome, run.actions.length]).to.deep.equal(['ok', 1]);
    }
    expect(shop.asked).to.have.length(2);
    expect(shop.asked.every(({ body }) => body.length > 3 * fileBytes)).to.equal(true);
    const sent = (await house.app.eventNames()).filter((name) => name === 'message_created');
    expect(sent).to.have.length(4);
  });
});
