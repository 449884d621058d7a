import { expect } from 'chai';
import { openConversation } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';

// From JSON: an object with `then` looks like a promise.
const noting = (content: string) =>
  JSON.parse(`{"rules":[{"name":"Note","on":["message_created"],
    "if":{"all":[{"attribute":"message_type","operator":"equal_to","values":["incoming"]}]},
    "then":[{"action":"note","content":"${content}"}]}]}`) as object;

describe('automations of one plugin', function () {
  this.timeout(90_000);
  let app: TestApp;
  const inboxes: number[] = [];
  const automations: number[] = [];

  before(async () => {
    app = await TestApp.start();
    await app.query(`INSERT INTO accounts (id, name) VALUES (2, 'Other')`);
    await app.query(
      `INSERT INTO seats (account_id, id, person_id, name, email) SELECT 2, 9002, id, name, email FROM users LIMIT 1`,
    );
    await app.query(`INSERT INTO agents (account_id, user_id, role) VALUES (2, 9002, 'administrator')`);
    for (const account of [1, 2]) {
      const root = `/api/v1/accounts/${account}`;
      const inbox = await app.post(`${root}/inboxes`, { name: 'Shop', channel: { type: 'api' } });
      inboxes.push(inbox.body.id as number);
      const config = noting(`of account ${account}`);
      const made = await app.post(`${root}/automations`, { name: 'Notes', plugin_id: 'rules', config });
      automations.push(made.body.id as number);
    }
  });
  after(() => app.stop());

  const ask = async (account: number): Promise<string> => {
    const conversation = await openConversation(app, inboxes[account - 1], account);
    const path = `/api/v1/accounts/${account}/conversations/${conversation}/messages`;
    expect((await app.post(path, { content: 'Hello', message_type: 'incoming' })).status).to.equal(201);
    return path;
  };
  const said = async (path: string): Promise<string[]> =>
    ((await app.get(path)).body.payload as { content: string }[]).map(({ content }) => content);

  it('act in their own account only, each by its own settings', async () => {
    const paths = await Promise.all([ask(1), ask(2), ask(1), ask(2)]);
    for (const [index, path] of paths.entries()) {
      const account = 1 + (index % 2);
      await app.eventually(async () => (await said(path)).length === 2);
      expect(await said(path)).to.deep.equal(['Hello', `of account ${account}`]);
    }
    const [mine, theirs] = automations;
    expect((await app.get(`/api/v1/accounts/1/automations/${theirs}`)).status).to.equal(404);
    const tried = await app.post(`/api/v1/accounts/2/automations/${theirs}/dry_run`, {});
    expect(tried.body).to.include({ matched: 2 });
    const ids = await app.query<{ conversation_id: number; account_id: number }>(
      'SELECT id AS conversation_id, account_id FROM conversations',
    );
    for (const { conversation_id: id } of tried.body.payload as { conversation_id: number }[])
      expect(ids.find((one) => one.conversation_id === id)?.account_id).to.equal(2);
    expect((await app.post(`/api/v1/accounts/2/automations/${mine}/dry_run`, {})).status).to.equal(404);
  });

  it('hear nothing while it is disabled, say so, and go on with what happens after that', async () => {
    const plugin = '/platform/api/v1/plugins/rules';
    expect((await app.post(`${plugin}/disable`)).status).to.equal(200);
    const { body } = await app.get(`automations/${automations[0]}`);
    expect(body.health.state).to.equal('failing');
    const whileDisabled = await ask(1);
    const tried = await app.post(`automations/${automations[0]}/dry_run`, {});
    expect([tried.status, tried.body.code]).to.deep.equal([422, 'validation_failed']);
    expect((await app.post(`${plugin}/enable`)).status).to.equal(200);
    const after = await ask(1);
    await app.eventually(async () => (await said(after)).length === 2);
    expect(await said(whileDisabled), 'is not made up for').to.deep.equal(['Hello']);
    expect((await app.get(`automations/${automations[0]}`)).body.health.state).to.equal('ok');
  });
});
