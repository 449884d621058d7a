import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { BotHouse } from './house.ts';

type Body = Record<string, unknown>;
type Call = (path: string, body: Body) => Promise<number>;
/** The server of a bot: it calls the service for an event of a conversation. */
type Server = (event: Body, conversation: number, call: Call) => Promise<unknown>;

const most = 30;
const note = { content: 'Noted', message_type: 'outgoing', private: true };

describe('a bot that reacts to its own notes and changes', function () {
  this.timeout(120_000);
  let app: TestApp;
  let https: HttpsReceiver;
  let now = Date.now();
  let isDue = true;

  before(async () => {
    app = await TestApp.start({ clock: { now: () => new Date(now) } });
    https = await startHttpsReceiver();
  });

  after(async () => {
    await app.stop();
    await https.close();
  });

  interface Made {
    inbox: number;
    headers: { api_access_token: string };
    refusals: string[];
    calls: number;
  }

  /** A webhook bot of an inbox, whose server does its work after it has answered, or before. */
  async function serve(server: Server, { before: isBefore = false } = {}): Promise<Made> {
    const { body: bot } = await app.post('agent_bots', { name: 'Robbi', outgoing_url: https.receiver.url });
    const inbox = (await app.post('inboxes', { name: 'Inbox' })).body.id;
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot.id });
    const made: Made = { inbox, headers: { api_access_token: bot.access_token }, refusals: [], calls: 0 };
    const call: Call = async (path, body) => {
      made.calls += 1;
      const answer = await app.post(path, body, made.headers);
      if (answer.status >= 400) made.refusals.push(answer.body.code);
      return answer.status;
    };
    https.receiver.answerWith(({ body }, response) => {
      const { id } = (body['conversation'] ?? body) as { id: number };
      const work = (): Promise<unknown> => (isDue ? server(body, id, call) : Promise.resolve());
      if (!isBefore) response.end();
      void work().finally(() => response.end());
    });
    return made;
  }

  async function ask(inbox: number, content = 'Hello'): Promise<number> {
    const contact = (await app.post('contacts', { name: 'Carla' })).body.id;
    const { id } = (await app.post('conversations', { inbox_id: inbox, contact_id: contact })).body;
    await app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });
    return id;
  }

  const standing = async (id: number) => {
    const [{ body: conversation }, { body: served }, { body: messages }] = await Promise.all([
      app.get(`conversations/${id}`),
      app.get(`conversations/${id}/agent_bot`),
      app.get(`conversations/${id}/messages?limit=100`),
    ]);
    const told = messages.payload.filter(({ content }: Body) => String(content).startsWith('The bot'));
    return { status: conversation.status, reason: served.reason, why: conversation.handoff_reason, notes: told.length };
  };
  const stopped = { status: 'open', reason: 'loop_suspected', why: 'loop', notes: 1 };

  const ended = (id: number) =>
    app.eventually(async () => {
      const rows = await app.query(
        `SELECT FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.conversation_id = $1 AND d.state = 'pending'`,
        [id],
      );
      return rows.length === 0 && (await standing(id)).reason !== null;
    });

  it('with notes is stopped, and the agents get that conversation and no other', async () => {
    const bot = await serve(async ({ event, content }, id, call) => {
      if (event === 'message_created' && content !== 'Quiet') await call(`conversations/${id}/messages`, note);
    });
    const quiet = await ask(bot.inbox, 'Quiet');
    const id = await ask(bot.inbox);
    await ended(id);
    expect(await standing(id)).to.deep.equal(stopped);
    expect(bot.refusals).to.include('loop_suspected');
    expect(bot.calls).to.be.within(most + 1, most + 3);
    const said = await app.query<{ name: string; count: number }>(
      `SELECT name, count(*) AS count FROM events WHERE conversation_id = $1 GROUP BY name ORDER BY name`,
      [id],
    );
    expect(said).to.deep.equal([
      { name: 'conversation_created', count: 1 },
      { name: 'conversation_status_changed', count: 1 },
      { name: 'message_created', count: 1 + most + 1 },
    ]);
    expect(await standing(quiet)).to.include({ status: 'pending', reason: null, notes: 0 });
    expect((await app.post(`conversations/${quiet}/messages`, note, bot.headers)).status).to.equal(201);
    // An agent gives it back: the count begins anew.
    isDue = false;
    await app.post(`conversations/${id}/toggle_status`, { status: 'pending' });
    expect((await app.post(`conversations/${id}/messages`, note, bot.headers)).status).to.equal(201);
    isDue = true;
  });

  it('with a change of status is stopped, in whatever status that is', async () => {
    for (const extra of [0, 1]) {
      const bot = await serve(async ({ event }, id, call) => {
        const status = event === 'conversation_resolved' ? 'pending' : 'resolved';
        await call(`conversations/${id}/toggle_status`, { status });
      });
      isDue = false;
      const id = await ask(bot.inbox);
      for (let label = 0; label < extra; label += 1)
        await app.post(`conversations/${id}/custom_attributes`, { custom_attributes: { label } }, bot.headers);
      isDue = true;
      await app.post(`conversations/${id}/messages`, { content: 'Hello?', message_type: 'incoming' });
      await app.post(`conversations/${id}/custom_attributes`, { custom_attributes: { extra } }, bot.headers);
      await ended(id);
      expect(await standing(id), `${extra} before`).to.deep.equal(stopped);
      expect(bot.calls).to.be.within(most - 2, most + 8);
    }
  });

  it('counts labels, attributes, priority and assignments; a customer who writes, and a pause, begin the count anew', async () => {
    const bot = await serve(() => Promise.resolve());
    const team = (await app.post('teams', { name: 'Support' })).body.id;
    const { title } = (await app.post('labels', { title: 'loud' })).body;
    const id = await ask(bot.inbox);
    let turn = 0;
    const act = async (): Promise<unknown> => {
      turn += 1;
      const on = turn % 10 < 5;
      const acts: [string, Body][] = [
        ['labels', { labels: on ? [title] : [] }],
        ['custom_attributes', { custom_attributes: { turn } }],
        ['toggle_priority', { priority: on ? 'high' : 'low' }],
        ['assignments', { team_id: on ? team : null }],
        ['messages', note],
      ];
      const [path, body] = acts[turn % acts.length]!;
      const answer = await app.post(`conversations/${id}/${path}`, body, bot.headers);
      return answer.body.code ?? answer.status;
    };
    const acts = async (count: number): Promise<unknown[]> => {
      const all: unknown[] = [];
      for (let done = 0; done < count; done += 1) all.push(await act());
      return all;
    };
    expect(await acts(most)).to.not.include('loop_suspected');
    // A label that is there already changes nothing.
    await app.post(`conversations/${id}/messages`, { content: 'And?', message_type: 'incoming' });
    expect(await acts(most)).to.not.include('loop_suspected');
    now += 60_000;
    expect(await acts(most)).to.not.include('loop_suspected');
    now += 59_000;
    expect(await acts(1)).to.deep.equal(['loop_suspected']);
    expect(await standing(id)).to.deep.equal(stopped);
  });

  it('is not stopped for a few changes with each of many answers', async () => {
    const bot = await serve(
      async ({ message_type: type, content }, id, call) => {
        if (type !== 'incoming') return;
        await call(`conversations/${id}/custom_attributes`, { custom_attributes: { last: content } });
        await call(`conversations/${id}/messages`, note);
        await call(`conversations/${id}/messages`, note);
        await call(`conversations/${id}/messages`, {
          content: `You said ${String(content)}`,
          message_type: 'outgoing',
        });
      },
      { before: true },
    );
    const id = await ask(bot.inbox, 'Question 0');
    for (let asked = 1; asked < 9; asked += 1) {
      await app.post(`conversations/${id}/messages`, { content: `Question ${asked}`, message_type: 'incoming' });
    }
    await app.eventually(() => Promise.resolve(bot.calls === 36));
    expect(bot.refusals).to.deep.equal([]);
    expect(await standing(id)).to.include({ status: 'pending', reason: null });
  });

  it('acts at a depth that follows that of what its server was sent', async () => {
    const bot = await serve(
      async ({ event }, id, call) => {
        if (event === 'message_created') await call(`conversations/${id}/messages`, note);
      },
      { before: true },
    );
    const id = await ask(bot.inbox);
    await ended(id);
    const rows = await app.query<{ depth: number }>(
      `SELECT depth FROM events WHERE conversation_id = $1 AND name = 'message_created' ORDER BY sequence LIMIT 8`,
      [id],
    );
    expect(rows.map(({ depth }) => depth)).to.deep.equal([0, 1, 2, 3, 4, 5, 5, 5]);
  });
});

describe('a plugin that calls the service with its own token', function () {
  this.timeout(120_000);

  it('is stopped as well when it reacts to itself, and its runs do not begin the depth anew', async () => {
    const https = await startHttpsReceiver();
    const host = new URL(https.receiver.url).host;
    const permissions = {
      conversation: ['note'],
      receive_own: true,
      notes_read: true,
      network: { hosts: [host], methods: ['POST'] },
      secrets: [{ name: 'TOKEN', hosts: [host] }],
    };
    const top = `import { secret } from 'switchboard/bot';`;
    const call = `await ctx.fetch('${https.receiver.url}', { method: 'POST', headers: { 'x-token': secret('TOKEN') },
      body: JSON.stringify({ conversation: ctx.conversation.id }) });`;
    const bots = { looper: { on: { message_created: call }, top, permissions } };
    const house = await BotHouse.open(bots, { bodies: { looper: { secrets: { TOKEN: 'not known yet' } } } });
    const { app } = house;
    try {
      const { body } = await app.post(`agent_bots/${house.botOf('looper')}/reset_access_token`);
      await app.patch(`agent_bots/${house.botOf('looper')}`, { secrets: { TOKEN: body.access_token } });
      // What stands before the service, at its public address.
      https.receiver.answerWith(({ body: { conversation }, headers }, response) => {
        const by = { api_access_token: String(headers['x-token']) };
        void app.post(`conversations/${String(conversation)}/messages`, note, by).finally(() => response.end('{}'));
      });
      const id = await house.conversation('looper');
      await house.say(id);
      const explain = async () => (await app.get(`conversations/${id}/agent_bot`)).body.reason;
      await app.eventually(async () => (await explain()) !== null);
      await app.eventually(
        async () => (await app.query(`SELECT FROM deliveries WHERE state = 'pending'`)).length === 0,
      );
      expect(await explain()).to.equal('loop_suspected');
      const [depths] = await app.query<{ notes: number; deepest: number }>(
        `SELECT count(*) AS notes, max(depth) AS deepest FROM events WHERE conversation_id = $1
         AND name = 'message_created' AND depth > 0`,
        [id],
      );
      expect(depths).to.deep.equal({ notes: most, deepest: 5 });
    } finally {
      await house.close();
      await https.close();
    }
  });
});
