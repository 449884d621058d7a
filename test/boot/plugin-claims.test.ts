import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { migrate } from '../../src/postgres/migrate.ts';
import { messagesOf, openConversation, pluginRootOf, serveInboxes } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

const replying = (text: string): string => `ctx.reply('${text}')`;

describe('two packages with one id, from start to start', () => {
  let databaseUrl: string;
  let root: { path: string; remove: () => void };
  let inbox: number | undefined;

  before(async () => {
    databaseUrl = await createDatabase(migrate);
    root = pluginRootOf({ greeter: replying('the bot of this company') });
  });
  after(async () => {
    root.remove();
    await dropDatabase(databaseUrl);
  });

  /** Starts a service, and answers what a customer is told by the bot, and which packages were left out and why. */
  async function start(): Promise<{ told: string | undefined; broken: Record<string, string> }> {
    const app = await TestApp.start({ databaseUrl, pluginRoot: root.path });
    try {
      inbox ??= (await serveInboxes(app, ['greeter'])).get('greeter');
      const conversation = await openConversation(app, inbox);
      await app.post(`conversations/${conversation}/messages`, { content: 'Hello', message_type: 'incoming' });
      const answer = await app.eventually(async () =>
        (await messagesOf(app, conversation)).find(({ sender_kind }) => sender_kind !== 'contact'),
      );
      const broken = app.app.leftOut.map(({ directory, problems }) => [directory, problems.join('\n')]);
      return { told: answer.content, broken: Object.fromEntries(broken) as Record<string, string> };
    } finally {
      await app.app.stop();
    }
  }

  function write(source: 'plugins' | 'bots', text: string): void {
    const { path, remove } = pluginRootOf({ greeter: replying(text) });
    cpSync(join(path, 'bots'), join(root.path, source), { recursive: true });
    remove();
  }

  it('the first keeps its id when another comes, which is refused by a warning that names both', async () => {
    expect(await start()).to.deep.equal({ told: 'the bot of this company', broken: {} });
    write('plugins', 'a newcomer');
    const { told, broken } = await start();
    expect(told).to.equal('the bot of this company');
    expect(broken).to.have.all.keys('plugins/greeter');
    expect(broken['plugins/greeter']).to.contain('bots/greeter and plugins/greeter claim the same id `greeter`');
  });

  it('a change of its code stays a change of its code', async () => {
    write('bots', 'the same, improved');
    expect((await start()).told).to.equal('the same, improved');
  });

  it('the id passes on when the first is gone for a start, and stays where it is when that comes back', async () => {
    rmSync(join(root.path, 'bots/greeter'), { recursive: true });
    expect(await start()).to.deep.equal({ told: 'a newcomer', broken: {} });
    write('bots', 'back again');
    const { told, broken } = await start();
    expect(told).to.equal('a newcomer');
    expect(broken).to.have.all.keys('bots/greeter');
  });
});
