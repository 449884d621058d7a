import { expect } from 'chai';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../support/command.ts';
import { makeBot, removeBots } from '../testing/helpers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Checked {
  ok: boolean;
  errors: string[];
  warnings: string[];
  infos: string[];
}

/** The report of `plugin check --json`, by level. */
async function check(directory: string): Promise<Checked> {
  const env = { PATH: process.env['PATH'] ?? '' };
  const { output } = await runCommand(['plugin', 'check', directory, '--json'], { env, cwd: root });
  const { ok, report } = JSON.parse(output) as { ok: boolean; report: { level: string; message: string }[] };
  const of = (wanted: string) => report.filter(({ level }) => level === wanted).map(({ message }) => message);
  return { ok, errors: of('error'), warnings: of('warning'), infos: of('info') };
}

/** Returns the uses without a permission that the errors name, each once, sorted. */
function usedIn(errors: readonly string[]): string[] {
  return errors.flatMap((error) => /: `(.*?)` is used/.exec(error)?.[1] ?? []).toSorted();
}

const nothing = { permissions: { conversation: [] } };

describe('the code that plugin check reads', function () {
  this.timeout(120_000);
  after(removeBots);

  it('is told apart from patterns, divisions, texts and comments', async () => {
    const code = `async message_created(ctx) {
  let i = ctx.message.id;
  const n = i++ / 2; await ctx.storage.incr('n'); const m = 3 / 4;
  if (n) /\\/\\*/.test(ctx.message.content); ctx.handoff('x');
  if (m) /it's/.test(ctx.message.content); ctx.reply('Hi');
  const text = \`\${'ctx.open()'} \${ctx.history.length}\`; // ctx.resolve()
  ctx.log.info(text);
},`;
    const { errors } = await check(makeBot(code, nothing));
    expect(usedIn(errors)).to.deep.equal(['ctx.handoff', 'ctx.history', 'ctx.reply', 'ctx.storage.incr']);
  });

  it('is that of each part, which has permissions of its own', async () => {
    const folder = makeBot(`message_created(ctx) { ctx.reply('Hi'); },`, nothing);
    const file = join(folder, 'plugin.json');
    const {
      main,
      events,
      permissions: _,
      ...named
    } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const part = { main, events, permissions: { conversation: ['reply'] } };
    const silent = { ...part, kind: 'automation', permissions: { conversation: ['note'] } };
    const write = (other: object) =>
      writeFileSync(
        file,
        JSON.stringify({
          ...named,
          parts: [
            { ...part, kind: 'bot' },
            { ...silent, ...other },
          ],
        }),
      );
    write({});
    const shared = await check(folder);
    expect(usedIn(shared.errors), 'the bot may do it, and its part has the file').to.deep.equal([]);
    expect(shared.warnings.join()).to.contain('in the part automation: `ctx.reply` is used');
    copyFileSync(join(folder, String(main)), join(folder, `own-${String(main)}`));
    write({ main: `own-${String(main)}` });
    const { ok, errors, warnings, infos } = await check(folder);
    expect([ok, usedIn(errors)]).to.deep.equal([false, ['ctx.reply']]);
    expect(errors.join()).to.contain('in the part automation: `ctx.reply` is used');
    expect(warnings.join()).to.contain('in the part automation: ');
    expect(infos).to.include.members(['the part bot:', 'the part automation:']);
  });

  it('is followed through spreads, other names, parameters and the files of the package', async () => {
    const code = `async message_created(context) {
  const words = [...context.history.map(({ content }) => content)];
  const self = context;
  self.note(words.join());
  const { storage, contact: customer, ...others } = context;
  await storage.contact.set('n', 1);
  others.resolve();
  greet(customer, self);
  tag(context);
},
schedule: later,`;
    const head = `import type { Contact, MessageContext as Heard, ScheduleContext } from 'switchboard/bot';
import { mark as tag } from './tags.ts';
type Saved = Heard<{ tone: string }>;
function greet({ name }: Contact, { reply }: Pick<Saved, 'reply'>) { reply(\`Hi \${name}\`); }
async function later(at: ScheduleContext) { await at.kb.search('x'); }
export const loud = (saved: Saved) => saved.priority('high');`;
    const bot = makeBot(code, { events: ['message_created', 'schedule'], permissions: { schedule: true } }, head);
    const tags = `import type { MessageContext } from 'switchboard/bot';
export function mark(it: Pick<MessageContext, 'label'>) { it.label.add('seen'); }`;
    writeFileSync(join(bot, 'tags.ts'), tags);
    const { errors, warnings } = await check(bot);
    expect(usedIn(errors)).to.deep.equal(
      [
        'at.kb',
        'context.history',
        'ctx.reply',
        'ctx.contact.name',
        'it.label',
        'others.resolve',
        'saved.priority',
        'self.note',
        'storage.contact',
      ].toSorted(),
    );
    expect(errors.filter((error) => error.includes('it.label'))[0]).to.match(/^tags\.ts:2:/);
    expect(warnings.filter((warning) => warning.includes('members are not seen'))).to.deep.equal([]);
  });

  it('is followed into runTools, which needs a model and nothing else', async () => {
    const code = `async message_created(ctx) {
  const tools = { note: { parameters: {}, run: ({ text }: { text?: unknown }) => ctx.note(String(text)) } };
  const { content } = await useTools(ctx, { messages: [{ role: 'user', content: ctx.message.content }], tools });
  ctx.reply(content);
},`;
    const head = `import { runTools as useTools } from 'switchboard/bot';`;
    const { errors, warnings } = await check(makeBot(code, nothing, head));
    expect(usedIn(errors)).to.deep.equal(['ctx.note', 'ctx.reply', 'runTools']);
    expect(warnings.filter((warning) => warning.includes('members are not seen'))).to.deep.equal([]);
    const granted = { permissions: { conversation: ['note', 'reply'], llm: true } };
    expect(
      (await check(makeBot(code, granted, head))).errors.filter((error) => !error.includes('sample')),
    ).to.deep.equal([]);
  });

  it('may use the globals of the sandbox, by their types, and no others', async () => {
    const code = `message_created(ctx) {
  const url = new URL('/a?b=c', 'https://api.one.example');
  const bytes: Uint8Array = new TextEncoder().encode(url.searchParams.get('b') ?? '');
  const copy: { list: number[] } = structuredClone({ list: [1] });
  const query: string = String(new URLSearchParams({ a: atob(btoa('x')) }));
  ctx.reply([new TextDecoder().decode(bytes), copy.list.length, query, crypto.randomUUID()].join());
},`;
    const permissions = { conversation: ['reply'] };
    const { ok, errors, warnings } = await check(makeBot(code, { permissions }));
    expect([errors, warnings, ok]).to.deep.equal([[], [], true]);
    const wrong = `message_created(ctx) { ctx.reply(String(new URL(5)) + typeof performance); crypto.subtle; },`;
    const { errors: told } = await check(makeBot(wrong, { permissions }));
    expect(told.map((error) => /TS\d+|performance/.exec(error)?.[0])).to.have.lengthOf(3);
  });

  it('is not taken for a use of ctx where it is a date, or an object of its own', async () => {
    const code = `message_created(ctx) {
  const at = new Date(ctx.now.getTime() + 90_000);
  ctx.schedule(at, 'ask');
  const format = new Intl.DateTimeFormat('en');
  format.formatToParts(at);
  const partsOf = (at: Date) => format.formatToParts(at);
  partsOf(ctx.now);
  const form = { contact: { email: 'x' }, secret: (name: string) => name, fetch: (path: string) => path };
  ctx.reply(form.contact.email + form.secret('KEY') + form.fetch('https://one.example'));
},`;
    const permissions = { conversation: ['reply'], schedule: true };
    const { ok, errors, warnings } = await check(makeBot(code, { permissions }));
    expect([errors, warnings, ok]).to.deep.equal([[], [], true]);
  });

  it('shows addresses, methods and names that are constants', async () => {
    const code = `async message_created(ctx) {
  const options = { method, headers: { key: sealed(key) } };
  await ctx.fetch(\`\${base}/orders/\${ctx.message.id}\`, options);
  await ctx.fetch('https://three.example' + ctx.message.content);
  ctx[verb]('x');
},`;
    const head = `import { secret as sealed } from 'switchboard/bot';
const base = 'https://two.example';
const method = 'PUT';
const key = 'KEY';
const verb = 'note';`;
    const permissions = { network: { hosts: ['one.example'] } };
    const { errors, warnings } = await check(makeBot(code, { permissions }, head));
    expect(usedIn(errors)).to.deep.equal(['ctx.note', 'fetch from two.example', 'fetch with PUT', "secret('KEY')"]);
    expect(warnings.filter((warning) => warning.includes('computed'))).to.have.length(1);
  });

  it('leads to the line of the permission that it does not use, not to the same word elsewhere', async () => {
    const permissions = { conversation: ['reply', 'note'], contact: ['name'] };
    const bot = makeBot("message_created(ctx) { ctx.reply('Hi'); },", { permissions });
    const path = join(bot, 'plugin.json');
    writeFileSync(path, JSON.stringify(JSON.parse(readFileSync(path, 'utf8')), null, 2));
    const lines = readFileSync(path, 'utf8').split('\n');
    const line = lines.findIndex((text) => text.includes('"contact"')) + 2;
    expect((await check(bot)).warnings.join('\n')).to.include(
      `plugin.json:${line}: permissions.contact names "name", which the code does not use`,
    );
  });

  it('is told with both lines where a run ends its part in two ways', async () => {
    const code = `message_created(ctx) {
  ctx.handoff('x');
  ctx.resolve();
},`;
    const { ok, infos } = await check(makeBot(code, { permissions: { conversation: ['handoff', 'resolve'] } }));
    expect(ok).to.equal(false);
    expect(infos.join('\n')).to.match(
      /invalid_actions: ctx\.handoff \(bot\.ts:5:\d+\) and ctx\.resolve \(bot\.ts:6:\d+\)/,
    );
  });

  it('is tried with the schedules that the bot makes itself', async () => {
    const code = `message_created(ctx) { ctx.schedule({ inSeconds: 90 }, 'ask', { order: 'A-17' }); },
schedule(ctx) {
  const { order } = ctx.event.data as { order: string };
  ctx.reply(\`\${ctx.event.name} for \${order}\`);
},`;
    const events = ['message_created', 'schedule'];
    const bot = makeBot(code, { events, permissions: { conversation: ['reply'], schedule: true } });
    const { ok, infos, errors } = await check(bot);
    expect([ok, errors]).to.deep.equal([true, []]);
    expect(infos.join('\n')).to.include('reply {"content":"ask for A-17"');
  });

  it('is only warned of where a schedule of elsewhere needs data', async () => {
    const code = `message_created(ctx) { if (ctx.message.content === 'x') ctx.schedule({ inSeconds: 90 }, 'ask', { order: 1 }); },
schedule(ctx) { const { order } = ctx.event.data as { order: number }; ctx.log.info(String(order)); },`;
    const bot = makeBot(code, { events: ['message_created', 'schedule'], permissions: { schedule: true } });
    const { ok, errors, warnings } = await check(bot);
    expect([ok, errors]).to.deep.equal([true, []]);
    expect(warnings.join('\n')).to.include('schedule on a sample event: threw');
  });

  it('of a channel that sends mail needs a setting with the address of each inbox', async () => {
    const address = { type: 'string', maxLength: 254 };
    const mailing = { hooks: true, mail: 'SMTP_URL' };
    const problemsOf = async (fields: object, properties: object = { address }, required = ['address']) => {
      const config = { type: 'object', additionalProperties: false, properties, required };
      const channel = { kind: 'channel', events: [], hooks: { in: { verify: 'none' } }, permissions: mailing, config };
      const { errors } = await check(makeBot('', { ...channel, ...fields }));
      return errors.filter((error) => error.includes('identity'));
    };
    const identity = 'address';
    expect(await problemsOf({})).to.deep.equal([
      'plugin.json: `permissions.mail` needs `identity`: the name of a required text setting with the address that mail comes from',
    ]);
    expect(await problemsOf({ identity: 'SMTP_URL' })).to.have.length(1);
    for (const [properties, required] of [
      [{ address }, []],
      [{ address: { type: 'number' } }, [identity]],
      [{ address: { ...address, 'x-secret': true } }, [identity]],
    ] as const)
      expect(await problemsOf({ identity }, properties, [...required])).to.deep.equal([
        'plugin.json: `permissions.mail` needs a required text setting as `identity`, with the address that mail comes from: `address` is none',
      ]);
    expect(await problemsOf({ identity })).to.deep.equal([]);
    expect(await problemsOf({ permissions: { hooks: true } })).to.deep.equal([]);
  });
});
