import { expect } from 'chai';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp } from '../support/app.ts';
import { pluginArchive, upload } from '../support/archives.ts';
import { PluginCommands } from '../support/plugin-commands.ts';
import { shown, startAtTerminal, terminal, type Shown } from '../support/terminal.ts';

describe('commands at a terminal', function () {
  this.timeout(60_000);
  let app: TestApp;
  let commands: PluginCommands;

  before(async function () {
    if (!existsSync(terminal)) {
      process.stderr.write(`  Skipped without ${terminal}\n`);
      this.skip();
    }
    app = await TestApp.start({ engine: false });
    commands = await PluginCommands.beside(app);
  });

  after(async () => {
    commands?.close();
    await app?.stop();
  });

  const start = (command: string): Shown =>
    startAtTerminal(`${process.execPath} bin/switchboard.js ${command}`, { DATA_DIR: commands.folder });

  /** What the command has shown when it ends, and its exit code. */
  async function ended(program: Shown): Promise<{ code: number | null; output: string }> {
    if (program.child.exitCode === null) await new Promise((done) => program.child.once('close', done));
    return { code: program.child.exitCode, output: program.output() };
  }

  async function approve(answer: string): Promise<{ code: number | null; output: string }> {
    const program = start('plugin approve asks');
    await shown(program, /Approve asks 2\.0\.0\? \(y\/N\) /);
    program.child.stdin?.write(`${answer}\n`);
    return ended(program);
  }

  const plugin = async (): Promise<{ version: string; pending: { version: string } | null }> =>
    (await app.get('/platform/api/v1/plugins/asks')).body;

  it('show what a version would do more, and approve it only by a yes', async () => {
    await upload(app, pluginArchive({ id: 'asks', version: '1.0.0' }));
    await upload(
      app,
      pluginArchive({ id: 'asks', version: '2.0.0', permissions: { conversation: ['reply', 'note'] } }),
    );
    for (const answer of ['', 'n', 'yep']) {
      const { code, output } = await approve(answer);
      expect(code, answer).to.equal(1);
      expect(output).to.contain('(conversation.note)').and.to.contain('asks 2.0.0 still waits.');
      expect((await plugin()).pending?.version).to.equal('2.0.0');
    }
    const { code, output } = await approve('y');
    expect(code, output).to.equal(0);
    expect(output).to.contain('asks 2.0.0 is approved and runs.');
    expect(await plugin()).to.include({ version: '2.0.0', pending: null });
  });

  it('draw the progress of an import, and take it away at its end', async () => {
    const folder = join(commands.folder, 'articles');
    mkdirSync(folder);
    for (let number = 0; number < 250; number += 1)
      writeFileSync(join(folder, `${number}.md`), `# Guide ${number}\n\nText.`);
    const { code, output } = await ended(start(`articles import ${folder}`));
    expect(code, output).to.equal(0);
    expect(output).to.contain('[------------------------------] 0 of 250 files');
    const [bar, ...after] = output.split('\u001b[K').slice(-2);
    expect(bar).to.match(/\[#+-+\] \d+ of 250 files$/);
    expect(after.join('')).to.match(/^250 /);
    expect((await app.get('articles')).body.meta.count).to.equal(250);
  });
});
