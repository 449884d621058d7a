import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { FakeMessenger } from '../support/fake-messenger.ts';
import { byGithub, send } from '../support/hook-senders.ts';

const secret = 'a-secret-of-the-hook';

describe('the doors of channels, attacked', function () {
  this.timeout(60_000);
  let app: TestApp;
  let messenger: FakeMessenger;

  before(async () => {
    messenger = await FakeMessenger.start();
    app = await TestApp.start();
  });
  after(async () => {
    await app.stop();
    await messenger.stop();
  });

  const create = (channel: object) =>
    app.post('inboxes', { name: 'Hostile', channel: { type: 'plugin', plugin_id: 'http-channel', ...channel } });
  const count = async (): Promise<unknown> =>
    (
      await app.query(`SELECT (SELECT count(*)::int FROM inboxes) AS inboxes, (SELECT count(*)::int FROM hooks) AS hooks,
      (SELECT count(*)::int FROM agent_bots) AS bots`)
    )[0];

  it('create nothing for settings and secrets that are refused', async () => {
    const before = await count();
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as object;
    const hostile: object[] = [
      { plugin_id: 'no-such-plugin' },
      { plugin_id: 'rules' },
      { plugin_id: '../telegram' },
      { plugin_id: 7 },
      { plugin_id: 'x'.repeat(10_000) },
      { config: { api_url: 'no url' } },
      { config: { api_url: messenger.url, extra: true } },
      { config: { api_url: messenger.url, outgoing: { body: deep } } },
      { config: { api_url: messenger.url, outgoing: { body: {}, refused: [200] } } },
      { config: { api_url: messenger.url, incoming: { source_id: 1, external_id: '/a', content: '/b' } } },
      { config: { api_url: `${messenger.url}\0` } },
      { config: [] },
      { config: { api_url: messenger.url, outgoing: { body: { text: 'x'.repeat(70_000) } } } },
      { secrets: { API_TOKEN: 7 } },
      { secrets: { API_TOKEN: 'half \ud83d' } },
      { secrets: { UNKNOWN: 'x' } },
      { secrets: [] },
      { type: 'plugins' },
    ];
    for (const channel of hostile) {
      const { status, body } = await create(channel);
      const shown = JSON.stringify(channel).slice(0, 100);
      expect(status, shown).to.be.within(400, 422);
      expect(body.error, shown).to.be.a('string');
    }
    expect(await count()).to.deep.equal(before);
  });

  it('send a failed message again once, however often it is asked for at once, and nothing else', async () => {
    const config = { api_url: messenger.url, outgoing: { body: { to: '{source_id}', text: '{content}' } } };
    const { status, body: inbox } = await create({ config, secrets: { API_TOKEN: 'token', HOOK_SECRET: secret } });
    expect(status, JSON.stringify(inbox)).to.equal(201);
    const body = JSON.stringify({ from: { id: 'c-1' }, id: 'm-1', text: 'Hello' });
    expect((await send(inbox.hook_url, body, byGithub(body, secret, 'r-1'))).status).to.equal(202);
    const { id: conversation } = await app.eventually(async () => {
      const [found] = await app.query<{ id: number }>('SELECT id FROM conversations WHERE inbox_id = $1', [inbox.id]);
      return found;
    });
    const path = `conversations/${conversation}/messages`;
    messenger.odd.push({ status: 403 });
    const said = (await app.post(path, { content: 'Once', message_type: 'outgoing' })).body.id as number;
    const note = (await app.post(path, { content: 'A note', message_type: 'outgoing', private: true })).body
      .id as number;
    const statusOf = async (): Promise<string> =>
      (await app.get(path)).body.payload.find(({ id }: { id: number }) => id === said).status;
    await app.eventually(async () => (await statusOf()) === 'failed');
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.post(`${path}/${said}/retry`)));
    expect(answers.map(({ status: answered }) => answered)).to.have.members([200, ...Array<number>(9).fill(409)]);
    await app.eventually(async () => (await statusOf()) === 'sent');
    expect(messenger.taken.map(({ body: { text } }) => text)).to.deep.equal(['Once']);
    expect((await app.post(`${path}/${note}/retry`)).status).to.equal(422);
    for (const id of ['0', '-1', 'x', '9223372036854775808', '1e3', '%00'])
      expect((await app.post(`${path}/${id}/retry`)).status, id).to.be.within(400, 422);
    expect((await app.post(`conversations/${conversation + 1}/messages/${said}/retry`)).status).to.equal(404);
  });
});
