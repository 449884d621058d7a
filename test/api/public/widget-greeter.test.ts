import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { Widget } from '../../support/widget.ts';

const manifest = {
  id: 'greeter',
  name: 'Greeter',
  version: '1.0.0',
  apiVersion: '1',
  main: 'bot.ts',
  events: ['webwidget_triggered'],
  permissions: { conversation: ['reply'], contact: ['name'] },
};
const code = `import { defineBot } from 'switchboard/bot';
export default defineBot({
  on: {
    webwidget_triggered(ctx) {
      if (ctx.event.conversation_begun) ctx.reply('Welcome, ' + ctx.contact.name + ', to ' + ctx.conversation.id);
    },
  },
});`;

describe('a bot that speaks first', () => {
  let app: TestApp;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-widget-'));
    const bot = join(folder, 'bots', 'greeter');
    mkdirSync(bot, { recursive: true });
    mkdirSync(join(folder, 'plugins'));
    writeFileSync(join(bot, 'plugin.json'), JSON.stringify(manifest));
    writeFileSync(join(bot, 'bot.ts'), code);
    app = await TestApp.start({ pluginRoot: folder });
  });

  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  it('greets a visitor before the first word', async () => {
    const bot = await app.post('agent_bots', { name: 'Greeter', kind: 'plugin', plugin_id: 'greeter' });
    expect(bot.status).to.equal(201);
    const widget = await Widget.create(app, {}, bot.body.id);
    const { headers, body } = await widget.enter({ name: 'Vera' });
    const [greeting] = await app.eventually(async () => {
      const messages = await widget.messages(headers);
      return messages.length > 0 && messages;
    });
    expect(greeting).to.deep.include({
      content: `Welcome, Vera, to ${body.conversation.id}`,
      message_type: 'outgoing',
      sender: { name: 'Greeter', type: 'AgentBot', avatar_url: null },
    });
    await widget.open({}, headers);
    await app.eventually(async () => {
      const runs = await app.query('SELECT FROM bot_runs WHERE outcome = $1', ['ok']);
      return runs.length === 2;
    });
    expect(await widget.messages(headers)).to.have.lengthOf(1);
    expect(await app.eventNames()).to.deep.equal([
      'contact_created',
      'conversation_created',
      'webwidget_triggered',
      'message_created',
      'webwidget_triggered',
    ]);
  });
});
