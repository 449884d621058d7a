import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { pluginArchive, upload } from '../support/archives.ts';
import { stopClean } from './ledger.ts';
import { messagesOf, openConversation, serveInboxes } from './plugins.ts';

const replying = (text: string) => `export default { on: { message_created(ctx) { ctx.reply('${text}') } } };`;
// So long that nothing is found by looking.
const never = { pluginPollMs: 600_000 };

describe('a plugin that another process installed', function () {
  this.timeout(60_000);
  let web: TestApp;
  let engine: TestApp;

  before(async () => {
    web = await TestApp.start({ engine: false });
    engine = await TestApp.start({ databaseUrl: web.databaseUrl, config: never });
  });
  after(async () => {
    await engine.app.stop();
    await stopClean(web);
  });

  /** Whether the engine knows that this version runs, without looking: `list` would. */
  function runs(name: string): Promise<boolean> {
    return Promise.resolve(engine.app.plugins.known.includes(name));
  }

  async function ask(inbox: number | undefined): Promise<string> {
    const conversation = await openConversation(web, inbox);
    await web.post(`conversations/${conversation}/messages`, { content: 'Hello?', message_type: 'incoming' });
    const answer = await web.eventually(async () =>
      (await messagesOf(web, conversation)).find(({ sender_kind }) => sender_kind !== 'contact'),
    );
    return answer.content;
  }

  it('is used soon, each version and after each switch, without a restart', async () => {
    await upload(web, pluginArchive({ id: 'far' }, replying('one')));
    const inbox = (await serveInboxes(web, ['far'])).get('far');
    expect(await ask(inbox)).to.equal('one');
    await upload(web, pluginArchive({ id: 'far', version: '2.0.0' }, replying('two')));
    await web.eventually(() => runs('far@2.0.0'));
    expect(await ask(inbox)).to.equal('two');
    await web.patch('/platform/api/v1/plugins/far', { version: '1.0.0' });
    await web.eventually(() => runs('far@1.0.0'));
    expect(await ask(inbox)).to.equal('one');
    await web.post('/platform/api/v1/plugins/far/disable');
    await web.eventually(async () => !(await engine.app.plugins.list()).some((name) => name.startsWith('far@')));
  });

  it('is found by looking when the call is lost', async () => {
    const [{ revision } = { revision: 0 }] = await web.query<{ revision: number }>(
      'SELECT revision FROM plugin_registry',
    );
    await web.query('UPDATE plugins SET enabled = true');
    await web.query('UPDATE plugin_registry SET revision = revision + 1');
    expect(revision).to.be.above(0);
    // A plugin that this process does not know is looked for before a run of it fails.
    expect((await engine.app.plugins.find('far', 'bot'))?.manifest.version).to.equal('1.0.0');
  });
});
