import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';

describe('bots of the kind ai in the API', () => {
  let app: TestApp;
  let bot: number;

  before(async () => {
    app = await TestApp.start();
    bot = (await app.post('agent_bots', { kind: 'ai', name: 'Ada' })).body.id;
  });
  after(() => app.stop());

  const defaults = {
    system_prompt: '',
    temperature: 0.2,
    max_exchanges: 10,
    handoff_keywords: [],
    greeting_message: null,
    handoff_message: null,
    outage_message: null,
    knowledge: null,
  };

  async function configure(fields: object): Promise<Record<string, unknown>> {
    const { status, body } = await app.patch(`agent_bots/${bot}`, fields);
    expect([status, body.error]).to.deep.equal([200, undefined]);
    return body;
  }

  it('are created with defaults, and show what they are', async () => {
    const created = await app.post('agent_bots', { kind: 'ai', name: 'Ada' });
    const { body } = await app.get(`agent_bots/${created.body.id}`);
    await app.delete(`agent_bots/${created.body.id}`);
    expect(body).to.deep.include({ kind: 'ai', plugin_id: 'ai-bot', name: 'Ada', ...defaults, outgoing_url: null });
  });

  it('are created with all fields, and each is changed alone', async () => {
    const fields = {
      system_prompt: 'Be brief.',
      temperature: 1,
      max_exchanges: 3,
      handoff_keywords: ['human', 'real person'],
      greeting_message: 'Ahoy!',
      handoff_message: 'One moment.',
      outage_message: 'Out of order.',
      knowledge: { tags: ['shop'], languages: ['en'] },
    };
    const { status, body } = await app.post('agent_bots', { kind: 'ai', name: 'Bob', ...fields });
    expect([status, body.access_token.length > 20]).to.deep.equal([201, true]);
    expect(body).to.deep.include(fields);
    let present: Record<string, unknown> = { ...fields };
    for (const change of [
      { system_prompt: '' },
      { temperature: 0 },
      { max_exchanges: 1 },
      { handoff_keywords: [] },
      { greeting_message: '' },
      { handoff_message: '' },
      { handoff_message: null },
      { outage_message: null },
      { knowledge: false },
      { knowledge: { tags: [] } },
      { knowledge: null },
    ]) {
      present = { ...present, ...change };
      const expected = 'knowledge' in change && change.knowledge ? { tags: [], languages: [] } : undefined;
      if (expected) present['knowledge'] = expected;
      const changed = await app.patch(`agent_bots/${body.id}`, change);
      expect(changed.body, JSON.stringify(change)).to.deep.include(present);
    }
    expect((await app.get(`agent_bots/${body.id}`)).body).to.deep.include(present);
    await app.delete(`agent_bots/${body.id}`);
  });

  for (const [field, value] of [
    ['temperature', 1.1],
    ['temperature', -0.1],
    ['temperature', '0'],
    ['max_exchanges', 0],
    ['max_exchanges', 1.5],
    ['max_exchanges', null],
    ['handoff_keywords', ['a', ' ']],
    ['handoff_keywords', 'human'],
    ['system_prompt', 'x'.repeat(8001)],
    ['knowledge', true],
    ['knowledge', { tags: 'shop' }],
    ['knowledge', { languages: ['english!'] }],
    ['outgoing_url', 'https://127.0.0.1/'],
  ] as const) {
    it(`refuse ${field} ${JSON.stringify(value).slice(0, 40)}`, async () => {
      const { status, body } = await app.patch(`agent_bots/${bot}`, { [field]: value });
      expect([status, body.details[0].path.split('/')[1]]).to.deep.equal([422, field]);
      if (field === 'outgoing_url') return;
      const created = await app.post('agent_bots', { kind: 'ai', name: 'Bad', [field]: value });
      expect(created.status).to.equal(422);
    });
  }

  it('are the only ones with these fields', async () => {
    const faq = await app.post('agent_bots', { kind: 'plugin', name: 'Faq', plugin_id: 'faq' });
    expect(faq.body).to.deep.include({ kind: 'plugin', system_prompt: null, max_exchanges: null, knowledge: null });
    const { status, body } = await app.patch(`agent_bots/${faq.body.id}`, { temperature: 1 });
    expect([status, body.details[0].path]).to.deep.equal([422, '/temperature']);
    const webhook = { name: 'Hook', outgoing_url: 'https://127.0.0.1:9/', max_exchanges: 3 };
    expect((await app.post('agent_bots', webhook)).status).to.equal(422);
  });

  it('keep two changes that are made at the same time', async () => {
    await Promise.all([
      configure({ temperature: 0.7 }),
      configure({ max_exchanges: 7 }),
      configure({ system_prompt: 'Hi' }),
    ]);
    expect((await app.get(`agent_bots/${bot}`)).body).to.include({
      temperature: 0.7,
      max_exchanges: 7,
      system_prompt: 'Hi',
    });
  });
});
