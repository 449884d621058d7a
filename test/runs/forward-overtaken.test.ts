import { expect } from 'chai';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { hold, untilWaiting } from '../support/lock.ts';
import { BotHouse } from './house.ts';

const forwards = {
  on: {
    message_created: `await ctx.forward(); await ctx.storage.get('held'); ctx.reply('Asked');`,
  },
  permissions: { conversation: ['reply'], forward: true, storage: { scopes: ['conversation'] } },
};
const quiet = { on: { message_created: '' } };

describe('a run that forwards', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let https: HttpsReceiver;

  before(async () => {
    https = await startHttpsReceiver();
    const bodies = { forwards: { outgoing_url: https.receiver.url } };
    house = await BotHouse.open({ forwards, quiet }, { bodies });
  });
  after(async () => {
    await house.close();
    await https.close();
  });

  const resolve = (id: number) => house.app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
  const choose = (id: number) =>
    house.app.post(`conversations/${id}/agent_bot`, { agent_bot_id: house.botOf('quiet') });
  const stateOf = async (id: number) => {
    const [row] = await house.app.query<{ state: string; error: string | null }>(
      `SELECT d.state, d.last_error AS error FROM deliveries d JOIN events e ON e.id = d.event_id
       WHERE e.conversation_id = $1 AND e.name = 'message_created' ORDER BY d.id`,
      [id],
    );
    return row;
  };

  for (const [what, overtake] of [
    ['resolves the conversation', resolve],
    ['chooses another bot', choose],
  ] as const)
    it(`does not tell the server when somebody ${what} meanwhile`, async () => {
      const id = await house.conversation('forwards');
      const release = await hold(house.app.databaseUrl, 'LOCK TABLE bot_storage IN ACCESS EXCLUSIVE MODE');
      await house.say(id);
      await untilWaiting(house.app, 1);
      expect((await overtake(id)).status).to.equal(200);
      await release();
      expect((await house.runAfter(id, 0)).outcome).to.equal('superseded');
      await house.app.eventually(async () => (await stateOf(id))?.state === 'delivered');
      const told = https.receiver.received.filter(({ body }) => body['event'] === 'message_created');
      expect(told).to.deep.equal([]);
    });

  it('tells the server when nobody does', async () => {
    await house.ask(await house.conversation('forwards'));
    await house.app.eventually(() =>
      Promise.resolve(https.receiver.received.some(({ body }) => body['event'] === 'message_created')),
    );
  });
});
