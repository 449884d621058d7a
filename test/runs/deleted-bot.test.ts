import { expect } from 'chai';
import { pino } from 'pino';
import { messagesOf } from '../faults/plugins.ts';
import { BotHouse } from './house.ts';
import { openShop, type Shop } from './shop.ts';

const errorLevel = 50;

describe('a bot that is deleted while its run waits', function () {
  this.timeout(60_000);
  const lines: { level: number }[] = [];
  let shop: Shop;
  let house: BotHouse;

  before(async () => {
    shop = await openShop();
    const waits = `const { text } = await ctx.fetch('https://${shop.host}/held');`;
    const permissions = { conversation: ['reply'], network: { hosts: [shop.host] } };
    const on = (end: string) => ({ on: { message_created: `${waits} ${end}` }, permissions });
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
    house = await BotHouse.open({ replies: on('ctx.reply(text);'), throws: on('throw new Error(text);') }, { log });
  });
  after(async () => {
    await house.close();
    shop.close();
  });

  it('says nothing, ends its delivery as cancelled and is no error of the service', async () => {
    const bots = ['replies', 'throws'];
    const conversations: number[] = [];
    for (const bot of bots) conversations.push(await house.conversation(bot));
    for (const conversation of conversations) await house.say(conversation);
    await house.app.eventually(async () => shop.asked.length === bots.length);
    for (const bot of bots) {
      expect((await house.app.delete(`agent_bots/${house.botOf(bot)}`)).status).to.equal(200);
    }
    shop.release();
    for (const conversation of conversations) {
      const ended = await house.app.eventually(async () => {
        const deliveries = await house.app.query<{ state: string; last_error: { class: string } }>(
          `SELECT d.state, d.last_error FROM deliveries d JOIN events e ON e.id = d.event_id
           WHERE d.endpoint_kind = 'bot' AND e.name = 'message_created' AND e.conversation_id = $1`,
          [conversation],
        );
        return deliveries.every(({ state }) => state !== 'pending') && deliveries;
      });
      expect(ended.map(({ state }) => state)).to.deep.equal(['cancelled']);
      expect(await messagesOf(house.app, conversation)).to.have.length(1);
      expect(await house.runs(conversation)).to.deep.equal([]);
    }
    expect(lines.filter(({ level }) => level >= errorLevel)).to.deep.equal([]);
  });
});
