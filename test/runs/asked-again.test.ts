import { expect } from 'chai';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { BotHouse } from './house.ts';

// Forwards on request, and answers by itself otherwise.
const proxy = `ctx.reply('Heard'); if (ctx.message.content === 'forward') await ctx.forward();
  if (ctx.message.content === 'fail') throw new Error('x');`;

describe('deliveries of a plugin bot with a server, asked for again', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let https: HttpsReceiver;
  let bot: number;
  let isDown = false;

  before(async () => {
    https = await startHttpsReceiver();
    https.receiver.answerWith((_, response) => response.writeHead(isDown ? 500 : 200).end());
    house = await BotHouse.open(
      {
        proxy: { on: { message_created: proxy }, permissions: { conversation: ['reply'], forward: true } },
        lonely: { on: { message_created: `ctx.reply('Hello')` }, permissions: { conversation: ['reply'] } },
      },
      { bodies: { proxy: { outgoing_url: https.receiver.url } } },
    );
    bot = house.botOf('proxy');
  });
  after(async () => {
    await house.close();
    await https.close();
  });

  const lastOf = async (conversation: number, state: string): Promise<{ id: number }> =>
    house.app.eventually(async () => {
      const path = `deliveries?conversation_id=${conversation}&state=${state}`;
      return (await house.app.get(path)).body.payload[0];
    });

  it('are not made again where a run has handled the event, nor recovered: a run is not made twice', async () => {
    const { app } = house;
    for (const [id, content, state] of [
      ['proxy', 'Hello', 'delivered'],
      ['proxy', 'fail', 'exhausted'],
      ['lonely', 'Hello', 'delivered'],
    ] as const) {
      const { conversation } = await house.askAnew(id, content);
      const { id: delivery } = await lastOf(conversation, state);
      const { status, body } = await app.post(`deliveries/${delivery}/resend`);
      expect([status, body.code], content).to.deep.equal([409, 'handled_by_run']);
      expect(body.error).to.contain('/replay');
      expect(await house.runs(conversation)).to.have.lengthOf(1);
    }
    await app.post(`agent_bots/${bot}/release`);
    const recovery = await app.post(`agent_bots/${bot}/recover`, { since: 0 });
    expect([recovery.status, recovery.body.count]).to.deep.equal([202, 0]);
  });

  it('are made again where the event was forwarded, without another run', async () => {
    const { app } = house;
    const { conversation } = await house.askAnew('proxy', 'forward');
    const { id } = await lastOf(conversation, 'delivered');
    const posts = https.receiver.received.length;
    expect((await app.post(`deliveries/${id}/resend`)).status).to.equal(202);
    await https.receiver.waitFor(posts + 1);
    expect(await house.runs(conversation)).to.have.lengthOf(1);
  });

  it('go to people, with a note, when the bot has lost its server since', async () => {
    const { app } = house;
    isDown = true;
    const conversation = await house.conversation('proxy');
    await house.say(conversation, 'forward');
    const { id } = await lastOf(conversation, 'failing');
    await app.query('UPDATE agent_bots SET outgoing_url = NULL WHERE id = $1', [bot]);
    await app.query('UPDATE deliveries SET next_attempt_at = now() WHERE id = $1', [id]);
    await app.query('UPDATE lanes SET due_at = now() WHERE id = (SELECT lane_id FROM deliveries WHERE id = $1)', [id]);
    app.app.engine.poke();
    await app.eventually(async () => (await app.get(`conversations/${conversation}`)).body.status === 'open');
    const delivery = (await app.get(`deliveries/${id}`)).body;
    expect(delivery).to.include({ state: 'cancelled', last_error: 'endpoint_disabled' });
    const { body } = await app.get(`conversations/${conversation}/messages`);
    const [note] = body.payload.filter((message: { private: boolean }) => message.private);
    expect(note.content).to.contain('no server any more');
  });
});
