import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { naughtyTexts, poisonTexts } from '../support/naughty.ts';
import { stopClean } from './ledger.ts';
import { openConversation, pluginRootOf, serveInboxes } from './plugins.ts';

// Every text that is known to be poison, and one in forty of the others.
const texts = [...poisonTexts, ...naughtyTexts.filter((_, index) => index % 40 === 0)];
// Fewer failures of one bot at once than put it in quarantine; each is followed by a success.
const perBot = 4;
const bots = ['poison-a', 'poison-b', 'poison-c'];

/** What the bot does with a text: `${word} ${number of the text}` asks for it. */
const deeds: Readonly<Record<string, string>> = {
  log: `ctx.log.info(text); ctx.log.warn('with fields', { [text]: text }); ctx.reply('Logged')`,
  throw: `throw text`,
  fail: `const error = new Error(text); error.name = text; error.stack = text; throw error`,
  describe: `throw { message: text, stack: '', toString: () => text }`,
  reply: `ctx.reply(text)`,
  attributes: `ctx.reply({ content: 'A form', content_attributes: { [text]: [text] } })`,
  note: `ctx.note(text)`,
  handoff: `ctx.handoff({ reason: text, note: text })`,
  label: `ctx.label.add(text)`,
};

const handler = `
  const texts = ${JSON.stringify(texts.map((text) => text.slice(0, 12)))};
  const lengths = ${JSON.stringify(texts.map(({ length }) => length))};
  const [word, at] = ctx.event.content.split(' ');
  const text = texts[at].repeat(Math.ceil(lengths[at] / (texts[at].length || 1))).slice(0, lengths[at]);
  ${Object.entries(deeds)
    .map(([word, deed]) => `if (word === '${word}') { ${deed}; return; }`)
    .join('\n  ')}
  ctx.reply('Well');`;

interface Ending {
  state: string;
  attempt: number;
  outcome: string | null;
  status: string;
  bot_silence: string | null;
  notes: number;
}

describe('a plugin that logs, throws or says what cannot be stored', function () {
  this.timeout(60_000);
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let inboxes: Map<string, number>;

  before(async () => {
    const handlers = Object.fromEntries(bots.map((bot) => [bot, handler]));
    root = pluginRootOf(handlers, {}, ['reply', 'note', 'handoff', 'label']);
    app = await TestApp.start({ pluginRoot: root.path });
    inboxes = await serveInboxes(app, bots);
  });

  after(async () => {
    await stopClean(app);
    root.remove();
  });

  async function ask(conversationId: number, content: string): Promise<void> {
    const { status } = await app.post(`conversations/${conversationId}/messages`, {
      content,
      message_type: 'incoming',
    });
    expect(status).to.equal(201);
  }

  /** How the delivery of the conversation's latest event ended, and how the conversation stands then. */
  function endingOf(conversationId: number): Promise<Ending> {
    return app.eventually(async () => {
      const [ending] = await app.query<Ending>(
        `SELECT d.state, d.attempt, r.outcome, c.status, c.bot_silence,
           (SELECT count(*) FROM messages m WHERE m.conversation_id = c.id AND m.private) AS notes
         FROM conversations c JOIN events e ON e.conversation_id = c.id
         JOIN deliveries d ON d.event_id = e.id AND d.endpoint_kind = 'bot'
         LEFT JOIN bot_runs r ON r.event_id = e.id
         WHERE c.id = $1 ORDER BY d.id DESC LIMIT 1`,
        [conversationId],
      );
      return ending?.state === 'pending' ? false : ending;
    });
  }

  async function check(word: string, at: number): Promise<void> {
    const conversationId = await openConversation(app, inboxes.get(bots[at % bots.length]!));
    await ask(conversationId, `${word} ${at}`);
    const ending = await endingOf(conversationId);
    const told = `${word} ${JSON.stringify(texts[at]!.slice(0, 20))}: ${JSON.stringify(ending)}`;
    expect(ending.attempt, told).to.equal(1);
    expect(ending.outcome, told).to.be.a('string');
    if (ending.outcome === 'ok') {
      expect(ending.state, told).to.equal('delivered');
    } else {
      expect(ending, told).to.include({ state: 'exhausted', status: 'open', bot_silence: 'bot_failed', notes: 1 });
    }
    await app.post(`conversations/${conversationId}/toggle_status`, { status: 'pending' });
    if (ending.outcome === 'ok' && word === 'handoff') return;
    await ask(conversationId, 'still 0');
    expect(await endingOf(conversationId), `after ${told}`).to.include({ state: 'delivered', outcome: 'ok' });
  }

  for (const word of Object.keys(deeds)) {
    it(`${word}: each run ends and is recorded, people are called, the next event is handled`, async () => {
      const waiting = texts.map((_, at) => at);
      while (waiting.length > 0) {
        await Promise.all(waiting.splice(0, perBot * bots.length).map((at) => check(word, at)));
      }
      const outcomes = await app.query<{ outcome: string; count: number }>(
        'SELECT outcome, count(*) AS count FROM bot_runs GROUP BY outcome ORDER BY outcome',
      );
      expect(outcomes.map(({ outcome }) => outcome)).to.include('ok');
    });
  }
});
