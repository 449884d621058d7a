import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { send } from '../support/hook-senders.ts';
import { writePackage } from '../support/packages.ts';
import { addAccount } from '../support/people.ts';

const manifest = {
  id: 'orders',
  kind: 'automation',
  events: [],
  hooks: { shipped: { verify: 'none', id: '/id', key: '/order' } },
  permissions: { hooks: true, contacts: 'write', conversations: 'write', conversation: ['note', 'label'] },
  config: { type: 'object', properties: { inbox: { type: 'integer' } }, required: ['inbox'] },
};
const code = `export default { kind: 'automation', on: { async hook_received(ctx) {
  const contact = await ctx.contacts.findOrCreate({ identifier: ctx.hook.json.customer });
  const conversation = await ctx.conversations.open({ contact_id: contact.id, inbox_id: ctx.config.inbox });
  ctx.note('Order ' + ctx.hook.json.order + ', ' + ctx.hook.json.id, { conversation_id: conversation.id });
} } };`;

interface Home {
  id: number;
  inbox: number;
  automation: number;
  hook: { id: number; url: string };
  headers: Record<string, string>;
}

describe('hooks of automations', function () {
  this.timeout(120_000);
  let root: string;
  let app: TestApp;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'switchboard-automation-hooks-'));
    writePackage(join(root, 'bots/orders'), manifest, code);
    app = await TestApp.start({ pluginRoot: root });
  });
  after(async () => {
    await app.stop();
    rmSync(root, { recursive: true });
  });

  async function furnish(name: string): Promise<Home> {
    const { id, administrator } = await addAccount(app, name);
    const { headers } = administrator;
    const made = async (path: string, body: object) => {
      const answer = await app.post(`/api/v1/accounts/${id}/${path}`, body, headers);
      expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 201);
      return answer.body;
    };
    const { id: inbox } = await made('inboxes', { name, channel: { type: 'api' } });
    const { id: automation } = await made('automations', { name, plugin_id: 'orders', config: { inbox } });
    const hook = await made('hooks', { name, automation_id: automation, handler: 'shipped' });
    expect(hook).to.deep.include({ agent_bot_id: null, automation_id: automation, handler: 'shipped' });
    return { id, inbox, automation, hook, headers };
  }
  const get = async ({ id, headers }: Home, path: string) =>
    (await app.get(`/api/v1/accounts/${id}/${path}`, headers)).body;
  const requests = async (home: Home): Promise<{ id: number; state: string; run_id: number }[]> =>
    (await get(home, `hooks/${home.hook.id}/requests`)).payload;
  const handled = (home: Home, count: number) =>
    app.eventually(async () => {
      const found = await requests(home);
      return found.length === count && found.every(({ state }) => state === 'done') ? found : null;
    }) as Promise<{ id: number; state: string; run_id: number }[]>;
  const notes = async (home: Home): Promise<string[]> => {
    const { payload: contacts } = await get(home, 'contacts');
    expect(contacts).to.have.length(1);
    const { payload: found } = await get(home, `contacts/${contacts[0].id}/conversations`);
    expect(found).to.have.length(1);
    expect(found[0].inbox_id).to.equal(home.inbox);
    const { payload } = await get(home, `conversations/${found[0].id}/messages`);
    return payload
      .filter((message: { private: boolean }) => message.private)
      .map(({ content }: { content: string }) => content);
  };
  const order = (id: number) => JSON.stringify({ id, order: 'A-17', customer: 'c-1' });

  it('handles each once, in order by key, in its own account', async () => {
    const [one, other] = [await furnish('One'), await furnish('Other')];
    for (let n = 0; n < 5; n += 1) expect((await send(one.hook.url, order(n))).status).to.equal(202);
    // The same id in another account is another request.
    expect((await send(other.hook.url, order(0))).body).to.not.have.property('duplicate');
    expect((await send(one.hook.url, order(3))).body.duplicate).to.equal(true);
    await app.eventually(async () => (await requests(one)).filter(({ state }) => state === 'done').length === 5);
    expect(await notes(one)).to.deep.equal([0, 1, 2, 3, 4].map((n) => `Order A-17, ${n}`));
    const [request] = await handled(other, 1);
    expect(await notes(other)).to.deep.equal(['Order A-17, 0']);
    const { payload: runs } = await get(other, `runs?automation_id=${other.automation}`);
    expect(runs.map(({ id }: { id: number }) => id)).to.deep.equal([request!.run_id]);
    expect(runs[0]).to.include({ outcome: 'ok', conversation_id: null });
    // No account sees hooks of another.
    const foreign = await app.get(`/api/v1/accounts/${one.id}/hooks/${other.hook.id}`, one.headers);
    expect(foreign.status).to.equal(404);
    const made = { name: 'x', automation_id: other.automation, handler: 'shipped' };
    expect((await app.post(`/api/v1/accounts/${one.id}/hooks`, made, one.headers)).status).to.equal(404);
    const events = await app.query<{ name: string; depth: number; sender: { type: string; id: number } | null }>(
      `SELECT name, depth, account_payload->'sender' AS sender FROM events WHERE account_id = $1 ORDER BY id`,
      [other.id],
    );
    const names = events.map(({ name }) => name);
    expect(names.slice(names.indexOf('hook_received'))).to.deep.equal([
      'hook_received',
      'contact_created',
      'conversation_created',
      'message_created',
    ]);
    const note = events.at(-1)!;
    expect(note.depth).to.equal(1);
    expect(note.sender).to.include({ type: 'Automation', id: other.automation });
  });

  it('keeps requests while the plugin is disabled, over a restart, and handles them later in order', async () => {
    const home = await furnish('Later');
    await app.patch('/platform/api/v1/plugins/orders', { enabled: false });
    for (let n = 0; n < 3; n += 1) expect((await send(home.hook.url, order(n))).status).to.equal(202);
    await app.eventually(async () => {
      const passed = await app.query(`SELECT FROM attempts WHERE error_code = 'plugin_disabled' AND account_id = $1`, [
        home.id,
      ]);
      return passed.length > 0;
    });
    expect((await requests(home)).map(({ state }) => state)).to.deep.equal(['waiting', 'waiting', 'waiting']);
    const { databaseUrl } = app;
    await app.app.stop();
    app = await TestApp.start({ pluginRoot: root, databaseUrl });
    await app.patch('/platform/api/v1/plugins/orders', { enabled: true });
    await app.query(`UPDATE deliveries SET next_attempt_at = now() WHERE state = 'pending'`);
    await app.query('UPDATE lanes SET due_at = now() WHERE due_at IS NOT NULL');
    await handled(home, 3);
    expect(await notes(home)).to.deep.equal([0, 1, 2].map((n) => `Order A-17, ${n}`));
  });

  it('has senders come again while the automation is switched off', async () => {
    const home = await furnish('Off');
    const path = `/api/v1/accounts/${home.id}/automations/${home.automation}`;
    await app.patch(path, { active: false }, home.headers);
    expect((await send(home.hook.url, order(1))).status).to.equal(503);
    await app.patch(path, { active: true }, home.headers);
    expect((await send(home.hook.url, order(1))).status).to.equal(202);
    await app.delete(path, home.headers);
    expect((await send(home.hook.url, order(2))).status).to.equal(404);
  });

  it('leaves a ledger that holds', async () => {
    const { body } = await app.get('/platform/api/v1/ledger');
    expect(body.ok, JSON.stringify(body)).to.equal(true);
  });
});
