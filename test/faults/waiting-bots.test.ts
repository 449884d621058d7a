import { expect } from 'chai';
import { BotHouse } from '../runs/house.ts';
import { openShop, type Shop } from '../runs/shop.ts';
import { sandboxPids } from '../sandbox/helpers.ts';
import { messagesOf } from './plugins.ts';

const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

describe('bots that wait for the service', function () {
  this.timeout(180_000);
  let house: BotHouse;
  let shop: Shop;

  before(async () => {
    shop = await openShop();
    const network = { hosts: [shop.host] };
    const storage = { scopes: ['conversation'] };
    const permissions = { conversation: ['reply', 'handoff'], network, storage, schedule: true };
    const asking = (path: string) =>
      `await ctx.storage.incr('runs'); const r = await ctx.fetch('https://${shop.host}/${path}');
       ctx.schedule({ inSeconds: 3600 }, 'later'); ctx.reply('The shop says ' + r.status);`;
    // However long it takes a busy machine to open two hundred connections.
    const limits = { wallMs: 60_000 };
    house = await BotHouse.open(
      {
        held: { on: { message_created: asking('held') }, permissions, limits },
        slow: { on: { message_created: asking('slow') }, permissions, limits },
        quick: { on: { message_created: `ctx.reply('quick')` }, permissions: { conversation: ['reply'] } },
      },
      { config: { botFetchTimeoutMs: 50_000 } },
    );
  });
  after(async () => {
    await house.close();
    shop.close();
  });

  const repliesOf = async (id: number) =>
    (await messagesOf(house.app, id)).filter(
      ({ sender_kind: kind, private: isNote }) => kind === 'agent_bot' && !isNote,
    );

  it('take no slot and no process: two hundred that wait do not delay another bot', async () => {
    const quick = await house.conversation('quick');
    await house.ask(quick);
    const ids: number[] = [];
    for (let batch = 0; batch < 20; batch++) {
      ids.push(...(await Promise.all(Array.from({ length: 10 }, () => house.conversation('held')))));
    }
    // The first success lets the bot have more than one run at a time.
    await askQuick(quick);
    const ended = async () =>
      (await house.app.query('SELECT FROM bot_runs WHERE conversation_id = ANY ($1)', [ids])).length;
    await Promise.all(ids.map((id) => house.say(id)));
    await house.app.eventually(async () => shop.asked.length >= 100);
    for (let i = 0; i < 5; i++) await askQuick(quick);
    // Answered while none of those that wait had ended, it has waited for none of them.
    expect(await ended()).to.equal(0);
    shop.release();
    await house.app.eventually(async () => {
      const [row] = await house.app.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM bot_runs WHERE conversation_id = ANY ($1) AND outcome = 'ok'`,
        [ids],
      );
      return row!.count === 200;
    }, 120_000);
    for (const id of ids.slice(0, 10)) expect(await repliesOf(id)).to.have.length(1);
  });

  async function askQuick(id: number): Promise<void> {
    const before = (await house.runs(id)).length;
    await house.say(id);
    await house.runAfter(id, before);
  }

  it('say nothing after a person was assigned or spoke meanwhile, whenever it happened', async () => {
    const acts = [
      (id: number) =>
        house.app.post(`conversations/${id}/messages`, { content: 'I am here', message_type: 'outgoing' }),
      (id: number) => house.app.post(`conversations/${id}/assignments`, { assignee_id: 1 }),
    ];
    let overtaken = 0;
    for (let batch = 0; batch < 20; batch++) {
      const ids = await Promise.all(Array.from({ length: 10 }, () => house.conversation('slow')));
      await Promise.all(
        ids.map(async (id, at) => {
          await house.say(id);
          await pause(((batch * 10 + at) % 100) * 6);
          const { status } = await acts[at % 2]!(id);
          expect(status).to.be.oneOf([200, 201]);
          const atTakeover = (await repliesOf(id)).length;
          await house.app.eventually(async () => {
            const left = await house.app.query(
              `SELECT FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.conversation_id = $1
                 AND d.endpoint_kind = 'bot' AND d.state = 'pending'`,
              [id],
            );
            return left.length === 0;
          });
          expect((await repliesOf(id)).length).to.equal(atTakeover);
          const kept = await house.app.query(
            `SELECT key AS name FROM bot_storage WHERE conversation_id = $1
             UNION ALL SELECT name FROM bot_schedules WHERE conversation_id = $1`,
            [id],
          );
          expect(kept).to.have.length(atTakeover * 2);
          if (atTakeover === 0) overtaken += 1;
        }),
      );
    }
    expect(overtaken).to.be.above(20);
  });

  it('answer once, or people get the conversation, when their processes are killed', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => house.conversation('slow')));
    await Promise.all(ids.map((id) => house.say(id)));
    for (let kill = 0; kill < 50; kill++) {
      for (const pid of sandboxPids()) process.kill(pid, 'SIGKILL');
      await pause(40);
    }
    await house.app.eventually(async () => {
      const left = await house.app.query(
        `SELECT FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.conversation_id = ANY ($1)
           AND d.endpoint_kind = 'bot' AND d.state = 'pending'`,
        [ids],
      );
      return left.length === 0;
    });
    for (const id of ids) {
      const replies = (await repliesOf(id)).length;
      const { body } = await house.app.get(`conversations/${id}`);
      expect([replies, body.status]).to.be.deep.oneOf([
        [1, 'pending'],
        [0, 'open'],
      ]);
      const kept = await house.app.query(
        `SELECT key AS name FROM bot_storage WHERE conversation_id = $1
         UNION ALL SELECT name FROM bot_schedules WHERE conversation_id = $1`,
        [id],
      );
      expect(kept).to.have.length(replies * 2);
    }
  });
});
