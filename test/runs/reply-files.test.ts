import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { sendFiles } from '../support/files.ts';
import { startFileServer, type FileServer } from '../support/file-server.ts';
import { BotHouse, type RunRow } from './house.ts';

// The bot does what the message says.
const told = `await (new Function('ctx', 'return (async () => {' + ctx.message.content + '})()'))(ctx);`;
const maxBytes = 100_000;

describe('files, choices and cards of bots', function () {
  this.timeout(400_000);
  let house: BotHouse;
  let server: FileServer;
  let host: string;

  before(async () => {
    server = await startFileServer();
    ({ host } = server);
    const bot = {
      on: { message_created: told },
      permissions: { conversation: ['reply', 'note', 'resolve'], network: { hosts: [host] } },
    };
    const poster = {
      ...bot,
      permissions: { conversation: ['reply'], network: { hosts: [host], methods: ['POST'] } },
    };
    house = await BotHouse.open(
      { sender: bot, other: bot, poster, bare: { ...bot, permissions: { conversation: ['reply'] } } },
      { config: { attachmentBytes: maxBytes, attachmentFormBytes: maxBytes * 2, botFetchTimeoutMs: 3_000 } },
    );
  });
  after(async () => {
    await house.close();
    server.close();
  });
  beforeEach(async () => {
    server.asked.length = 0;
    for (const id of ['sender', 'other', 'poster', 'bare'])
      await house.app.post(`agent_bots/${house.botOf(id)}/release`);
  });

  const answer = (work: FileServer['answer']) => void (server.answer = work);
  const send = (file: string, more = '') => `ctx.reply('Here', { attachments: [${file}]${more} })`;
  const at = (path: string) => `{ url: 'https://${host}${path}' }`;
  const lastOf = async (conversation: number) => {
    const { payload } = (await house.app.get(`conversations/${conversation}/messages`)).body;
    return payload.findLast(({ sender }: { sender: { type: string } | null }) => sender?.type === 'AgentBot');
  };
  const loose = async () => (await house.app.query('SELECT FROM attachments WHERE message_id IS NULL')).length;
  /** Attempts of a run that may be repeated, until the last. */
  async function ended(conversation: number, attempts: number): Promise<RunRow[]> {
    await house.runAfter(conversation, attempts - 1);
    return house.runs(conversation);
  }

  it('send a file of a listed host, under its name or another, and the customer gets it', async () => {
    answer((response) => response.end('Invoice 17'));
    const files = `${at('/invoices/R%C3%A9sum%C3%A9.txt?key=1')}, { url: 'https://${host}/17', name: 'invoice.txt' }`;
    const { conversation, run } = await house.askAnew('sender', send(files));
    expect([run.outcome, run.error]).to.deep.equal(['ok', null]);
    const message = await lastOf(conversation);
    const seen = message.attachments.map((file: Record<string, unknown>) => [file['file_name'], file['content_type']]);
    expect([message.content, ...seen]).to.deep.equal([
      'Here',
      ['Résumé.txt', 'text/plain'],
      ['invoice.txt', 'text/plain'],
    ]);
    expect(await (await fetch(message.attachments[0].data_url)).text()).to.equal('Invoice 17');
    const event = (await house.app.events()).findLast(({ name }) => name === 'message_created');
    expect(event?.account_payload?.['attachments']).to.have.lengthOf(2);
    expect(run.actions[0]).to.deep.include({
      attachments: [
        { url: `https://${host}/invoices/R%C3%A9sum%C3%A9.txt?key=1` },
        { url: `https://${host}/17`, name: 'invoice.txt' },
      ],
    });
    const alone = await house.askAnew('sender', `ctx.reply({ attachments: [${at('/a.txt')}] })`);
    expect((await lastOf(alone.conversation)).content).to.equal('');
    expect(await loose()).to.equal(0);
  });

  it('send no file of a host that is not listed, by another scheme, or too many: nothing is asked', async () => {
    answer((response) => response.end('x'));
    const refused: [string, string, string][] = [
      ['sender', send(`{ url: 'https://other.example/a.txt' }`), 'forbidden_action'],
      ['sender', send(`{ url: 'https://x.${host}/a.txt' }`), 'forbidden_action'],
      ['bare', send(at('/a.txt')), 'forbidden_action'],
      ['poster', send(at('/a.txt')), 'forbidden_action'],
      ['sender', send(`{ url: 'http://${host}/a.txt' }`), 'invalid_actions'],
      ['sender', send(`{ url: 'javascript:alert(1)' }`), 'invalid_actions'],
      ['sender', send(`{ url: 'file:///etc/passwd' }`), 'invalid_actions'],
      ['sender', send(`{ url: 'https://user:secret@${host}/a.txt' }`), 'invalid_actions'],
      ['sender', send(`{ url: 17 }`), 'invalid_actions'],
      ['sender', send(`{ file: 'all' }`), 'invalid_actions'],
      ['sender', send('{}'), 'invalid_actions'],
      ['sender', send(`{ url: 'https://${host}/a.txt', file: 1 }`), 'invalid_actions'],
      ['sender', `ctx.reply({ attachments: [] })`, 'invalid_actions'],
      ['sender', `ctx.reply('x', { attachments: Array(11).fill(${at('/a')}) })`, 'too_many_actions'],
      [
        'sender',
        `for (let i = 0; i < 2; i++) ctx.reply('x', { attachments: Array(6).fill(${at('/a')}) })`,
        'too_many_actions',
      ],
      ['sender', `ctx.reply('x', { attachments: Array(1e4).fill(${at('/a')}) })`, 'output_too_large'],
    ];
    for (const [bot, code, outcome] of refused) {
      await house.app.post(`agent_bots/${house.botOf(bot)}/release`);
      const { run } = await house.askAnew(bot, code);
      expect([code.slice(0, 90), run.outcome]).to.deep.equal([code.slice(0, 90), outcome]);
    }
    expect(server.asked).to.deep.equal([]);
  });

  it('end with a clear error where a file cannot be sent at all, with nothing left behind', async () => {
    const failures: [string, RegExp, (response: ServerResponse) => unknown][] = [
      ['/gone.txt', /answered 404/, (response) => response.writeHead(404).end()],
      [
        '/to',
        /302, and redirects are not followed/,
        (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      ],
      [
        '/meta',
        /307, and redirects/,
        (response) => response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end(),
      ],
      [
        '/large',
        /100000 bytes/,
        (response) => response.writeHead(200, { 'content-length': 100_000_000 }).write(Buffer.alloc(maxBytes * 3)),
      ],
      ['/more', /100000 bytes/, (response) => response.end(Buffer.alloc(maxBytes + 1, 'x'))],
      ['/empty', /is empty/, (response) => response.end()],
      ['/photo.png', /not what its name says/, (response) => response.end('<script>alert(1)</script>')],
      ['/zip', /compressed/, (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')],
    ];
    for (const [path, error, work] of failures) {
      await house.app.post(`agent_bots/${house.botOf('sender')}/release`);
      answer(work);
      const { conversation, run } = await house.askAnew('sender', `ctx.reply('First'); ${send(at(path))}`);
      expect([path, run.outcome]).to.deep.equal([path, 'attachment_failed']);
      expect(run.error)
        .to.match(error)
        .and.to.match(/^Action 2, file 1: /);
      expect(await lastOf(conversation), path).to.equal(undefined);
      expect((await house.app.get(`conversations/${conversation}`)).body.handoff_reason).to.equal('bot_unreachable');
    }
    // The first file is stored, the third is too much for the run.
    answer((response) => response.end(Buffer.alloc(maxBytes, 'x')));
    const { run } = await house.askAnew('sender', send([1, 2, 3].map((n) => at(`/${n}.txt`)).join()));
    expect(run.error).to.match(/Action 1, file 3: .*200000 bytes together/);
    expect(await loose()).to.equal(0);
  });

  it('are tried again where the host does not answer now, and sent when it does', async () => {
    let tries = 0;
    answer((response) => {
      tries += 1;
      if (tries < 3) response.writeHead(503).end();
      else response.end('At last');
    });
    const conversation = await house.conversation('sender');
    await house.say(conversation, send(at('/a.txt')));
    const runs = await ended(conversation, 3);
    expect(runs.map(({ outcome }) => outcome)).to.deep.equal([
      'attachment_unavailable',
      'attachment_unavailable',
      'ok',
    ]);
    expect(runs[0]?.error).to.match(/Action 1, file 1: The host answered 503/);
    expect((await lastOf(conversation)).attachments).to.have.lengthOf(1);
    answer((response) => response.destroy());
    const lost = await house.conversation('sender');
    await house.say(lost, send(at('/a.txt')));
    expect((await ended(lost, 3)).map(({ outcome }) => outcome)).to.deep.equal(Array(3).fill('attachment_unavailable'));
    await house.app.eventually(
      async () => (await house.app.get(`conversations/${lost}`)).body.handoff_reason === 'bot_unreachable',
    );
    expect(await loose()).to.equal(0);
  });

  it('send a stored file that the customer has or the bot has sent, and no other', async () => {
    answer((response) => response.end('Invoice 17'));
    const { app } = house;
    const upload = async (conversation: number, fields: Record<string, string>): Promise<number> => {
      const files = [{ name: 'plan.txt', bytes: Buffer.from('Secret') }];
      const words = { content: 'File', message_type: 'outgoing', ...fields };
      const { status, body } = await sendFiles(app, `conversations/${conversation}/messages`, words, { files });
      expect(status, JSON.stringify(body)).to.equal(201);
      return body.attachments[0].id;
    };
    const { conversation } = await house.askAnew('sender', send(at('/a.txt')));
    const own = (await lastOf(conversation)).attachments[0].id;
    const elsewhere = await house.askAnew('sender', `ctx.reply('Again', { attachments: [{ file: ${own} }] })`);
    const [copy] = (await lastOf(elsewhere.conversation)).attachments;
    expect([elsewhere.run.outcome, copy.file_name]).to.deep.equal(['ok', 'a.txt']);
    expect(copy.id).not.to.equal(own);
    expect(await (await fetch(copy.data_url)).text()).to.equal('Invoice 17');
    const theirs = await house.conversation('other');
    const open = await upload(theirs, { message_type: 'incoming', content: 'return' });
    await house.runAfter(theirs, 0);
    const note = await upload(theirs, { private: 'true' });
    const here = await house.ask(theirs, send(`{ file: ${open} }`));
    expect([here.outcome, here.error]).to.deep.equal(['ok', null]);
    for (const id of [note, own, open + 1000]) {
      await app.post(`agent_bots/${house.botOf('other')}/release`);
      const mine = await house.conversation('other');
      const run = await house.ask(mine, send(`{ file: ${id} }`));
      expect([run.outcome, run.error]).to.deep.equal([
        'attachment_failed',
        `Action 1, file 1: ${id} is not a file of a public message of this conversation, or one that the bot has sent`,
      ]);
    }
    // A file of the conversation, in a note.
    const noted = await house.conversation('other');
    const inside = await upload(noted, { private: 'true' });
    expect((await house.ask(noted, send(`{ file: ${inside} }`))).outcome).to.equal('attachment_failed');
  });

  it('send choices and cards, and hear which was chosen', async () => {
    const choice = `ctx.reply('Which plan?', { input_select: { items: [{ title: 'Basic', value: 'basic' }] } })`;
    const { conversation } = await house.askAnew('sender', choice);
    expect(await lastOf(conversation)).to.deep.include({
      content: 'Which plan?',
      content_type: 'input_select',
      content_attributes: { items: [{ title: 'Basic', value: 'basic' }] },
    });
    const action = `{ type: 'link', text: 'See', uri: 'https://shop.example/lamp' }`;
    const cards = `ctx.reply({ content: 'Lamps', cards: { items: [{ title: 'Lamp', actions: [${action}] }] } })`;
    const shown = await house.askAnew('sender', cards);
    expect(await lastOf(shown.conversation)).to.deep.include({ content_type: 'cards', content: 'Lamps' });
    const hostile = [
      `ctx.reply('x', { input_select: { items: Array(1e4).fill({ title: 'a', value: 'a' }) } })`,
      `ctx.reply('x', { input_select: { items: [] } })`,
      `ctx.reply('x', { input_select: { items: [{ title: 'a\\u0000', value: 'a' }] } })`,
      `ctx.reply('x', { cards: { items: [{ title: 'a', actions: [{ type: 'link', text: 'a', uri: 'javascript:alert(1)' }] }] } })`,
      `ctx.reply('x', { cards: { items: [{ title: 'a', media_url: 'data:text/html,x' }] } })`,
      `ctx.reply('x', { cards: {} })`,
    ];
    for (const code of hostile) {
      await house.app.post(`agent_bots/${house.botOf('sender')}/release`);
      const { run } = await house.askAnew('sender', code);
      expect([code, run.outcome]).to.deep.equal([code, 'invalid_actions']);
    }
    const both = await house.askAnew('sender', `ctx.reply('x', { cards: {}, input_select: {} })`);
    expect(both.run.outcome).to.equal('threw');
  });
});
