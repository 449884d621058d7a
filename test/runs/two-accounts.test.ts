import { expect } from 'chai';
import { openConversation, messagesOf } from '../faults/plugins.ts';
import { BotHouse } from './house.ts';
import { openShop, type Shop } from './shop.ts';

describe('two accounts with one system bot', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let shop: Shop;
  const inboxes: number[] = [];

  before(async () => {
    shop = await openShop();
    const permissions = {
      conversation: ['reply'],
      storage: { scopes: ['conversation', 'contact', 'installation'] },
      network: { hosts: [shop.host] },
      schedule: true,
    };
    const body = `globalThis.seen = (globalThis.seen ?? 0) + 1;
      const { installation, contact } = ctx.storage;
      const counted = [await installation.incr('visits'), await contact.incr('visits'), await ctx.storage.incr('visits')];
      const before = Date.now(); const r = await ctx.fetch('https://${shop.host}/slow');
      ctx.schedule({ inSeconds: 3600 }, 'same');
      ctx.reply(JSON.stringify([...counted, globalThis.seen, Date.now() - before, r.text, await installation.get('owner')]));
      await installation.set('owner', ctx.account.id);`;
    house = await BotHouse.open({ shared: { on: { message_created: body }, permissions } });
    const { app } = house;
    await app.query('UPDATE agent_bots SET account_id = NULL WHERE id = $1', [house.botOf('shared')]);
    await app.query(`INSERT INTO accounts (id, name) VALUES (2, 'Other')`);
    await app.query(
      `INSERT INTO seats (account_id, id, person_id, name, email) SELECT 2, 9002, id, name, email FROM users LIMIT 1`,
    );
    await app.query(`INSERT INTO agents (account_id, user_id, role) VALUES (2, 9002, 'administrator')`);
    inboxes.push(house.inboxOf('shared'));
    const [other] = await app.query<{ id: number }>(
      `INSERT INTO inboxes (account_id, name, channel_type, identifier, agent_bot_id)
       VALUES (2, 'other', 'Channel::Api', 'other', $1) RETURNING id`,
      [house.botOf('shared')],
    );
    inboxes.push(other!.id);
  });
  after(async () => {
    await house.close();
    shop.close();
  });

  it('share no state, no storage and no schedule, whatever they do at once', async () => {
    const { app } = house;
    const places = await Promise.all(
      [1, 2, 1, 2].map(async (account) => ({
        account,
        id: await openConversation(app, inboxes[account - 1], account),
      })),
    );
    for (let round = 1; round <= 2; round++) {
      await Promise.all(
        places.map(async ({ account, id }) => {
          const path = `/api/v1/accounts/${account}/conversations/${id}/messages`;
          const { status } = await app.post(path, { content: 'Hello', message_type: 'incoming' });
          expect(status).to.be.oneOf([200, 201]);
          await house.runAfter(id, round - 1);
        }),
      );
    }
    for (const { account, id } of places) {
      const replies = (await messagesOf(app, id)).filter(({ sender_kind: kind }) => kind === 'agent_bot');
      const [first, second] = replies.map(({ content }) => JSON.parse(content) as unknown[]);
      expect(first!.slice(1, 6)).to.deep.equal([1, 1, 1, 0, 'slow']);
      expect(second!.slice(1, 6)).to.deep.equal([2, 2, 1, 0, 'slow']);
      expect(second![6]).to.equal(account);
      expect(first![6]).to.be.oneOf([account, null]);
    }
    const stored = await app.query(
      `SELECT account_id, value::text::int AS visits FROM bot_storage WHERE key = 'visits' AND conversation_id IS NULL AND contact_id IS NULL ORDER BY account_id`,
    );
    expect(stored).to.deep.equal([
      { account_id: 1, visits: 4 },
      { account_id: 2, visits: 4 },
    ]);
    const crossed = await app.query(
      `SELECT FROM bot_schedules s JOIN conversations c ON c.id = s.conversation_id WHERE c.account_id <> s.account_id`,
    );
    expect(crossed).to.deep.equal([]);
    expect(await app.query('SELECT FROM bot_schedules')).to.have.length(4);
  });
});
