import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulate } from 'switchboard/testing';
import { makeBot, removeBots } from './helpers.ts';

const echo = 'message_created(ctx) { ctx.reply(`You said ${ctx.message.content}`); },';

async function failureOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It did not fail');
}

describe('the test kit', function () {
  this.timeout(60_000);
  after(removeBots);

  it('plays a conversation: the bot replies, labels, writes notes and hands over, and is silent from then on', async () => {
    const sim = await simulate(
      makeBot(`message_created(ctx) {
        if (ctx.message.content === 'human') return ctx.handoff({ reason: 'asked', note: 'Wants a person', message: 'Just a moment.' });
        ctx.label.add('seen');
        ctx.note('A note');
        ctx.reply('One');
        ctx.reply({ content: 'Two', content_type: 'input_email' });
      },`),
    );
    expect(sim.conversation).to.deep.include({ status: 'pending', silence: null });
    await sim.customer('Hello');
    sim.expectReply('One');
    sim.expectReply(/^Tw/);
    expect(sim.replies()).to.deep.equal(['One', 'Two']);
    expect(sim.notes()).to.deep.equal(['A note']);
    expect(sim.conversation).to.deep.include({ status: 'pending', labels: ['seen'] });
    await sim.customer('human');
    expect(sim.replies()).to.deep.equal(['Just a moment.']);
    expect(sim.conversation).to.deep.include({ status: 'open', silence: 'handed_off' });
    expect(sim.notes()).to.deep.equal(['A note', 'Wants a person']);
    await sim.customer('Hello?');
    sim.expectSilence();
    expect(sim.runs().map(({ event, outcome }) => `${event} ${outcome}`)).to.deep.equal([
      'message_created ok',
      'message_created ok',
    ]);
  });

  it('gives the conversation to people with one note, as the service does', async () => {
    const permissions = { conversation: ['note', 'open'] };
    const own = await simulate(
      makeBot('message_created(ctx) { ctx.note("Wants a refund"); ctx.open(); },', { permissions }),
    );
    await own.customer('Money back!');
    expect(own.notes()).to.deep.equal(['Wants a refund']);
    expect(own.conversation).to.deep.include({ status: 'open', silence: 'handed_off' });
    const bare = await simulate(makeBot('message_created(ctx) { ctx.open(); },', { permissions }));
    await bare.customer('Money back!');
    expect(bare.notes()).to.deep.equal(['Handed off by Sample\n\nLast question: Money back!']);
  });

  it('is silent once a person has taken over or answered, and speaks again when the conversation is given back', async () => {
    const sim = await simulate(makeBot(echo));
    await sim.human.takesOver();
    await sim.customer('Hello');
    sim.expectSilence();
    expect(sim.conversation.silence).to.equal('human_assigned');
    await sim.human.givesBack();
    await sim.customer('Again');
    sim.expectReply('You said Again');
    await sim.human.says('I am here');
    await sim.customer('Good');
    sim.expectSilence();
    expect(sim.conversation).to.deep.include({ status: 'open', silence: 'human_replied' });
    await sim.human.resolves();
    await sim.customer('Back again');
    sim.expectReply('You said Back again');
  });

  it('says to the bot what happens to its conversation', async () => {
    const events = ['conversation_resolved', 'conversation_opened', 'message_created', 'webwidget_triggered'];
    const handlers = events.map(
      (name) => `${name}(ctx) { ctx.log.info(ctx.event.event, { begun: ctx.event.conversation_begun }); },`,
    );
    const sim = await simulate(makeBot(handlers.join('\n'), { events }));
    await sim.opensWidget();
    await sim.human.resolves();
    await sim.customer('Hello');
    expect(sim.runs().flatMap(({ logs }) => logs.map(({ message }) => message.split(' ')[0]))).to.deep.equal([
      'webwidget_triggered',
      'conversation_resolved',
      'conversation_opened',
      'message_created',
    ]);
  });

  it('lets nothing happen of a batch with an action that is not permitted, and people get the conversation', async () => {
    const forbidden = makeBot('message_created(ctx) { ctx.reply("Hi"); ctx.label.add("x"); },', {
      permissions: { conversation: ['reply'] },
    });
    const sim = await simulate(forbidden);
    await sim.customer('Hello');
    sim.expectSilence();
    expect(sim.conversation).to.deep.include({ status: 'open', silence: 'bot_failed', labels: [] });
    expect(sim.notes()).to.deep.equal(['The bot Sample could not answer (forbidden_action). Please take over.']);
    expect(sim.runs()[0]).to.deep.include({ outcome: 'forbidden_action' });
    expect(sim.runs()[0]?.error).to.include('"label"');
  });

  it('shows how a run failed', async () => {
    const sim = await simulate(makeBot('message_created() { throw new Error("no idea"); },'));
    await sim.customer('Hello');
    expect(sim.transcript()).to.include('message_created: threw: Error: no idea');
    expect(await failureOf(() => sim.expectReply('Hi')))
      .to.include('it said nothing')
      .and.include('no idea');
  });

  it('stops a bot that writes more than ten messages in a minute', async () => {
    const five = makeBot('message_created(ctx) { for (let n = 0; n < 5; n += 1) ctx.reply("n" + n); },');
    const sim = await simulate(five);
    await sim.customer('one');
    await sim.customer('two');
    await sim.customer('three');
    sim.expectSilence();
    expect(sim.conversation.silence).to.equal('loop_suspected');
    const patient = await simulate(five);
    await patient.customer('one');
    await patient.customer('two');
    await patient.advance(61);
    await patient.customer('three');
    patient.expectReply('n4');
  });

  it('undoes the whole batch when a rule of the service refuses one action', async () => {
    const six = 'message_created(ctx) { ctx.label.add("kept"); for (let n = 0; n < 5; n += 1) ctx.reply("n" + n); },';
    const sim = await simulate(makeBot(six));
    await sim.customer('one');
    await sim.customer('two');
    const said = sim
      .transcript()
      .split('\n')
      .filter((line) => line.includes('bot: ')).length;
    await sim.customer('three');
    expect(
      sim
        .transcript()
        .split('\n')
        .filter((line) => line.includes('bot: ')),
    ).to.have.length(said);
  });

  it('runs on a clock of its own that moves by advance only, and from a seed', async () => {
    const bot = makeBot('message_created(ctx) { ctx.reply(`${ctx.now.toISOString()} ${Math.random()}`); },');
    const first = await simulate(bot, { now: '2026-03-01T08:00:00Z', seed: 5 });
    const second = await simulate(bot, { now: new Date('2026-03-01T08:00:00Z'), seed: 5 });
    for (const sim of [first, second]) {
      await sim.customer('one');
      await sim.advance(90);
      await sim.customer('two');
    }
    expect(first.replies()[0]).to.match(/^2026-03-01T08:01:30\.000Z 0\./);
    expect(first.transcript()).to.equal(second.transcript());
    const other = await simulate(bot, { now: '2026-03-01T08:00:00Z', seed: 6 });
    await other.customer('one');
    expect(first.transcript()).to.not.include(other.replies()[0]);
  });

  it('shows the bot of the customer what its permissions name, and its settings with their defaults', async () => {
    const bot = makeBot('message_created(ctx) { ctx.reply(JSON.stringify([ctx.contact, ctx.config])); },', {
      permissions: { conversation: ['reply'], contact: ['name', 'custom_attributes'] },
      config: { type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'integer' } } },
      events: ['message_created'],
    });
    const contact = { name: 'Kim', email: 'kim@example.com', custom_attributes: { plan: 'pro' } };
    const sim = await simulate(bot, { contact, config: { b: 2 } });
    await sim.customer('Hello');
    expect(sim.replies()[0]).to.include('"name":"Kim"').and.include('{"b":2,"a":"x"}').and.not.include('kim@');
    const problem = await failureOf(() => simulate(bot, { config: { b: 'two' } }));
    expect(problem).to.include('`b`');
  });

  it('fails with the transcript when a reply or silence was expected in vain', async () => {
    const sim = await simulate(makeBot(echo));
    await sim.customer('Hello');
    const missing = await failureOf(() => sim.expectReply(/goodbye/));
    expect(missing).to.include('/goodbye/').and.include('"You said Hello"').and.include('customer: Hello');
    expect(await failureOf(() => sim.expectReply('You said'))).to.include('"You said"');
    expect(await failureOf(() => sim.expectSilence())).to.include('was to be silent');
    await sim.advance(1);
    sim.expectSilence();
  });

  it('reads the package again when a file of it has changed', async () => {
    const bot = makeBot('message_created(ctx) { ctx.reply("one"); },');
    const first = await simulate(bot);
    const code =
      'import { defineBot } from "switchboard/bot"; export default defineBot({ on: { message_created(ctx) { ctx.reply("second"); } } });';
    writeFileSync(join(bot, 'bot.ts'), code);
    const second = await simulate(bot);
    await first.customer('Hello');
    await second.customer('Hello');
    first.expectReply('one');
    second.expectReply('second');
  });

  it('refuses a package that cannot be used, with every problem', async () => {
    const problem = await failureOf(async () => simulate(makeBot(echo, { version: 'one', events: ['no_such_event'] })));
    expect(problem).to.include('`version`').and.include('`events[0]`');
  });

  it('calls the bot as it asked, with its data, the latest of a name only, and not after a takeover', async () => {
    const bot = makeBot(
      `message_created(ctx) { ctx.schedule({ inSeconds: 120 }, 'ask', ctx.message.content); },
       schedule(ctx) { ctx.reply(ctx.event.name + ' ' + ctx.event.data + ' ' + ctx.now.toISOString()); },`,
      { events: ['message_created', 'schedule'], permissions: { conversation: ['reply'], schedule: true } },
    );
    const sim = await simulate(bot, { now: '2026-01-05T10:00:00Z' });
    await sim.customer('one');
    await sim.advance(60);
    await sim.customer('two');
    await sim.advance(119);
    sim.expectSilence();
    await sim.advance(1000);
    expect(sim.replies()).to.deep.equal(['ask two 2026-01-05T10:03:00.000Z']);
    await sim.customer('three');
    await sim.human.takesOver();
    await sim.advance(1000);
    sim.expectSilence();
  });

  describe('the doors of ctx', () => {
    const network = { hosts: ['api.shop.example'], methods: ['GET', 'POST'] };
    const permissions = {
      conversation: ['reply'],
      history: 3,
      storage: { scopes: ['conversation', 'installation'], maxBytes: 1024 },
      network,
      secrets: [{ name: 'SHOP_KEY', hosts: ['api.shop.example'] }],
      llm: true,
      kb: true,
    };
    const withDoors = (code: string, changes = {}) =>
      makeBot(
        `async message_created(ctx: any) { ${code} },`,
        { permissions: { ...permissions, ...changes } },
        "import { secret } from 'switchboard/bot';",
      );
    const url = 'https://api.shop.example/orders/17';

    it('answers requests as scripted, with the secrets that the host would get and the bot never sees', async () => {
      const bot = withDoors(`
        const answer = await ctx.fetch('${url}', { method: 'POST', headers: { authorization: secret('SHOP_KEY', 'Bearer ') }, body: { a: 1 } });
        ctx.reply([answer.status, answer.headers['x-kind'], answer.json().state, answer.json().echo].join(' '));`);
      const sim = await simulate(bot, {
        secrets: { SHOP_KEY: 'sesame-42' },
        fetch: [
          { url: /orders\/17$/, method: 'GET', reply: { status: 500 } },
          {
            url,
            reply: (request) => ({
              status: 201,
              headers: { 'X-Kind': 'json' },
              body: { state: 'sent', echo: request.headers['authorization'] },
            }),
          },
        ],
      });
      await sim.customer('Hello');
      sim.expectReply('201 json sent Bearer [secret SHOP_KEY]');
      expect(sim.requests()).to.deep.equal([
        {
          url,
          method: 'POST',
          headers: { authorization: 'Bearer sesame-42', 'content-type': 'application/json' },
          body: '{"a":1}',
        },
      ]);
      expect(sim.transcript()).to.not.include('sesame');
    });

    it('fails the test at a request without an answer, and prints it', async () => {
      const sim = await simulate(
        withDoors(`try { await ctx.fetch('${url}'); } catch (error: any) { ctx.reply(error.code); }`),
      );
      const failure = await failureOf(() => sim.customer('Hello'));
      expect(failure).to.include(`GET ${url}`).and.include('no answer');
      sim.expectReply('unscripted');
    });

    it('fails requests and questions with the code of what the script throws, and with connect without one', async () => {
      const bot = withDoors(`
        const codes = [];
        for (const call of [() => ctx.fetch('${url}'), () => ctx.llm.chat({ messages: [{ role: 'user', content: 'x' }] })])
          await call().catch((error: any) => codes.push(error.code + ': ' + error.message));
        ctx.reply(codes.join(', '));`);
      for (const [error, said] of [
        [Object.assign(new Error('late'), { code: 'timeout' }), 'timeout: late'],
        [Object.assign(new Error('1 MB'), { code: 'too_large' }), 'too_large: 1 MB'],
        [new Error('refused'), 'connect: refused'],
      ] as const) {
        const fail = () => {
          throw error;
        };
        const sim = await simulate(bot, { fetch: [{ url, reply: fail }], llm: fail });
        await sim.customer('Hello');
        sim.expectReply(`${said}, ${said}`);
      }
    });

    it('refuses what the manifest does not list, as the service does', async () => {
      const code = "try { await ctx.fetch('https://other.example/'); } catch (error: any) { ctx.reply(error.code); }";
      const listed = await simulate(withDoors(code), { fetch: [{ url: /.*/, reply: {} }] });
      await listed.customer('Hello');
      listed.expectReply('network_denied');
      expect(listed.requests()).to.deep.equal([]);
      const unasked = await simulate(withDoors(code, { network: undefined, secrets: [] }));
      await unasked.customer('Hello');
      unasked.expectSilence();
      expect(unasked.runs()[0]).to.deep.include({ outcome: 'forbidden_action' });
    });

    it('drops what the customer would see when a person takes over while a host is asked', async () => {
      const bot = withDoors(`await ctx.fetch('${url}'); ctx.reply('sent');`);
      const sim = await simulate(bot, {
        fetch: [{ url, reply: async () => (await sim.human.takesOver(), { status: 200 }) }],
      });
      await sim.customer('Hello');
      sim.expectSilence();
      expect(sim.runs()[0]).to.include({ outcome: 'superseded' });
    });

    it('remembers what is stored, with its time and its bounds, and only what a run that was applied has stored', async () => {
      const bot = withDoors(`
        const { content } = ctx.message;
        if (content === 'fail') { await ctx.storage.set('n', 99); throw new Error('no'); }
        if (content === 'much') { await ctx.storage.set('much', 'x'.repeat(2000)); }
        const n = await ctx.storage.incr('n');
        await ctx.storage.installation.set('last', content, { ttl: 60 });
        ctx.reply(n + ' ' + (await ctx.storage.get('n')) + ' ' + (await ctx.storage.installation.get('last')));`);
      const sim = await simulate(bot);
      await sim.customer('a');
      sim.expectReply('1 1 a');
      await sim.customer('b');
      sim.expectReply('2 2 b');
      const failing = await simulate(bot);
      await failing.customer('a');
      await failing.customer('fail');
      await failing.human.givesBack();
      await failing.customer('b');
      failing.expectReply('2 2 b');
      await failing.customer('much');
      failing.expectSilence();
      expect(failing.runs().at(-1)?.error).to.match(/1024|bytes/);
    });

    it('lets values expire', async () => {
      const bot = withDoors(`
        const before = await ctx.storage.get('seen');
        await ctx.storage.set('seen', true, { ttl: 60 });
        ctx.reply(String(before));`);
      const sim = await simulate(bot);
      await sim.customer('a');
      await sim.advance(59);
      await sim.customer('b');
      sim.expectReply('true');
      await sim.advance(61);
      await sim.customer('c');
      sim.expectReply('null');
    });

    it('has a model and a knowledge base by script, and the history', async () => {
      const bot = withDoors(`
        const [hit] = await ctx.kb.search(ctx.message.content);
        const { content } = await ctx.llm.chat({ messages: [{ role: 'user', content: ctx.message.content }] });
        ctx.reply([hit?.title, content, ctx.history.length].join('|'));`);
      const sim = await simulate(bot, {
        llm: ['First', { content: 'Second' }],
        kb: [
          { title: 'Shipping', text: 'We ship within two days.' },
          { title: 'Opening hours', text: 'We are open on weekdays.' },
        ],
      });
      await sim.customer('When are you open?');
      sim.expectReply('Opening hours|First|1');
      await sim.customer('zzz');
      sim.expectReply('|Second|3');
      expect(await failureOf(() => sim.customer('third'))).to.include('ctx.llm.chat');
    });
  });
});
