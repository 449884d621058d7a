import { join } from 'node:path';
import { expect } from 'chai';
import { tryPackage } from '../../src/cli/try-package.ts';
import { sampleEvents } from '../../src/cli/sample-events.ts';
import { validateConfig } from '../../src/packages/manifest/manifest.ts';
import { readPackage } from '../../src/packages/read/read.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import type { Action, Sandbox } from '../../src/sandbox/run.ts';
import { findProblems } from '../../src/schemas.ts';
import { directoryOf, manifestOf, requestOf } from '../sandbox/helpers.ts';

const faqPath = join(import.meta.dirname, '../../bots/faq');

describe('bots: faq', () => {
  let sandbox: Sandbox;
  let say: (content: string, settings?: object) => Promise<Action[]>;

  before(async () => {
    const { manifest: plugin, bundle } = await readPackage(faqPath);
    const [manifest] = plugin.parts;
    sandbox = createSandbox({ size: 1, queueLimit: 10, maxRssMb: 256 });
    say = async (content, settings = {}) => {
      const { config, problems } = validateConfig(manifest, settings);
      expect(problems).to.deep.equal([]);
      const { limits, permissions } = manifest;
      const event = { ...sampleEvents.message_created, content };
      const result = await sandbox.run(requestOf(bundle, { event, config, limits, permissions }));
      expect(result.error).to.equal(undefined);
      return result.actions;
    };
  });
  after(() => sandbox.close());

  for (const [question, answer] of [
    ['When are you OPEN?', 'Monday to Friday'],
    ['opening-hours please', 'Monday to Friday'],
    ['How long does shipping take?', 'two to four days'],
    ['I want to send back my shoes', '30 days'],
    ['how much is the red one', 'All prices'],
    ['Can I pay by PayPal?', 'PayPal'],
    ['what do you charge for shipping cost and delivery, how much?', 'two to four days'],
  ] as const) {
    it(`answers "${question}"`, async () => {
      const [reply, label, ...others] = await say(question);
      expect(reply).to.have.property('content').that.contains(answer);
      expect(label).to.deep.equal({ type: 'label', add: ['faq'] });
      expect(others).to.deep.equal([]);
    });
  }

  it('hands over on request, and when it has no answer', async () => {
    const [asked, ...others] = await say('How much? No, I want a real PERSON!');
    expect(asked).to.include({ type: 'handoff', reason: 'The customer asked for a person' });
    expect(asked).to.have.property('message').that.contains('colleague');
    expect(others).to.deep.equal([]);
    for (const text of ['Lorem ipsum', '', '???', 'the shipper reopened it', '🙂'.repeat(1000)]) {
      const [unknown] = await say(text);
      expect(unknown, text).to.include({ type: 'handoff', reason: 'No answer is known' });
    }
  });

  it('follows its settings, in any script', async () => {
    const questions = [{ keywords: ['Öffnungszeiten', '営業時間'], answer: 'Immer' }];
    expect((await say('ÖFFNUNGSZEITEN?', { questions }))[0]).to.include({ content: 'Immer' });
    expect((await say('「営業時間」', { questions }))[0]).to.include({ content: 'Immer' });
    expect((await say('price', { questions, unknown_message: 'Moment' }))[0]).to.include({ message: 'Moment' });
  });
});

describe('plugin check', () => {
  async function check(files: Record<string, string>): Promise<{ ok: boolean; text: string }> {
    const inFolder = Object.entries(files).map(([name, text]) => [`sample/${name}`, text]);
    const { path, remove } = directoryOf(Object.fromEntries(inFolder) as Record<string, string>);
    const { ok, report } = await tryPackage(join(path, 'sample'));
    remove();
    return { ok, text: report.join('\n') };
  }
  const withBot = (bot: string, changes = {}) =>
    check({ 'plugin.json': JSON.stringify(manifestOf(changes)), 'bot.ts': bot });

  it('passes the sample bot', async () => {
    const { ok, report } = await tryPackage(faqPath);
    expect(report.join('\n')).to.contain('handlers: message_created').and.not.contain('warning');
    expect(ok).to.equal(true);
  });

  it('warns when events and handlers do not match', async () => {
    const { ok, text } = await withBot('export default { on: { conversation_opened() {}, message_created() {} } }', {
      events: ['message_created', 'message_updated'],
    });
    expect(ok).to.equal(true);
    expect(text)
      .to.contain('warning: the handler conversation_opened')
      .and.contain('warning: plugin.json lists message_updated');
  });

  it('fails for what cannot be used', async () => {
    for (const [bot, word] of [
      [`import 'fs'; export default {}`, 'part of Node.js'],
      ['export default 5', 'load_failed'],
      ['for (;;); export default { on: {} }', 'timeout'],
      ['export default { on: { message_created() { throw new Error("broken") } } }', 'broken'],
      ['export default { on: { message_created(ctx) { ctx.note("x") } } }', 'forbidden_action'],
      ['export default { on: { message_updated() {} } }', 'warning'],
    ] as const) {
      const { ok, text } = await withBot(bot);
      expect(text).to.contain(word);
      expect(ok, text).to.equal(false);
    }
    expect(await check({ 'plugin.json': '{}' })).to.include({ ok: false });
  });

  it('fails when one handler does, whichever it is', async () => {
    const events = ['message_created', 'message_updated'];
    const [broken, good] = ['{ throw new Error("broken") }', '{}'];
    for (const [first, second] of [
      [broken, good],
      [good, broken],
    ]) {
      const bot = `export default { on: { message_created() ${first}, message_updated() ${second} } }`;
      const { ok, text } = await withBot(bot, { events });
      expect(ok, text).to.equal(false);
    }
  });

  it('tries bots on events as the service sends them', () => {
    for (const name of [
      'message_created',
      'message_updated',
      'conversation_opened',
      'conversation_resolved',
    ] as const) {
      expect(findProblems(`events/bot/${name}`, sampleEvents[name])).to.deep.equal([]);
    }
  });
});
