import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { messagesOf, roundsFor, think } from '../faults/plugins.ts';
import { BotHouse, type TestBot } from './house.ts';
import { openShop, type Shop } from './shop.ts';

const errorLevel = 50;

describe('a bot that is deleted while it runs', function () {
  this.timeout(120_000);
  const lines: { level: number }[] = [];
  let shop: Shop;
  let house: BotHouse;

  before(async () => {
    shop = await openShop();
    const fetched = (path: string) => `const { text } = await ctx.fetch('https://${shop.host}${path}');`;
    const permissions = { conversation: ['reply'], network: { hosts: [shop.host] } };
    const waiting = (end: string): TestBot => ({
      on: { message_created: `${fetched('/held')} ${end}` },
      permissions,
    });
    // The shop hears of it before it computes.
    const computing = (end: string): TestBot => ({
      on: { message_created: `${fetched('/begins')} ${think.toString()} think(${roundsFor(500)}); ${end}` },
      permissions,
      limits: { sliceMs: 700 },
    });
    const ends = { replies: 'ctx.reply(text);', throws: 'throw new Error(text);' };
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
    house = await BotHouse.open(
      {
        'waits-replies': waiting(ends.replies),
        'waits-throws': waiting(ends.throws),
        'computes-replies': computing(ends.replies),
        'computes-throws': computing(ends.throws),
      },
      { log },
    );
  });
  after(async () => {
    await house.close();
    shop.close();
  });

  async function expectCancelled(conversation: number): Promise<void> {
    const ended = await house.app.eventually(async () => {
      const deliveries = await house.app.query<{ state: string }>(
        `SELECT d.state FROM deliveries d JOIN events e ON e.id = d.event_id
         WHERE d.endpoint_kind = 'bot' AND e.name = 'message_created' AND e.conversation_id = $1`,
        [conversation],
      );
      return deliveries.every(({ state }) => state !== 'pending') && deliveries;
    });
    expect(ended.map(({ state }) => state)).to.deep.equal(['cancelled']);
    expect(await messagesOf(house.app, conversation)).to.have.length(1);
    expect(await house.runs(conversation)).to.deep.equal([]);
  }

  const expectNoErrors = () => expect(lines.filter(({ level }) => level >= errorLevel)).to.deep.equal([]);

  it('and waits: says nothing, ends its delivery as cancelled and is no error of the service', async () => {
    const bots = ['waits-replies', 'waits-throws'];
    const conversations: number[] = [];
    for (const bot of bots) conversations.push(await house.conversation(bot));
    for (const conversation of conversations) await house.say(conversation);
    await house.app.eventually(async () => shop.asked.length === bots.length);
    for (const bot of bots) {
      expect((await house.app.delete(`agent_bots/${house.botOf(bot)}`)).status).to.equal(200);
    }
    shop.release();
    for (const conversation of conversations) await expectCancelled(conversation);
    expectNoErrors();
  });

  for (const bot of ['computes-replies', 'computes-throws']) {
    it(`and ${bot.replace('-', ', then ')}: says nothing, ends its delivery as cancelled and is no error of the service`, async () => {
      const conversation = await house.conversation(bot);
      const before = shop.asked.length;
      await house.say(conversation);
      while (shop.asked.length === before) await sleep(5);
      await sleep(50);
      expect((await house.app.delete(`agent_bots/${house.botOf(bot)}`)).status).to.equal(200);
      await expectCancelled(conversation);
      // The run ends after its delivery, and only then could it fail.
      await sleep(1_500);
      expect(await messagesOf(house.app, conversation)).to.have.length(1);
      expect(await house.runs(conversation)).to.deep.equal([]);
      expectNoErrors();
    });
  }
});
