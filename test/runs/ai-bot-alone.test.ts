import { expect } from 'chai';
import { messagesOf, openConversation } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';

const articles = [
  {
    title: 'Opening hours',
    content: 'Our shop is open on weekdays from 9 to 18. On Saturdays we close at noon.',
    url: 'https://help.acme.example/hours',
  },
  {
    title: 'Returns',
    content: 'You may return goods within 30 days. Send the parcel to Dock 9. You get your money back within a week.',
    url: 'https://help.acme.example/returns',
  },
  { title: 'Bicycles', content: 'We repair bicycles of every kind, and sell used ones.' },
];

describe('an AI bot without a model', function () {
  this.timeout(60_000);
  let app: TestApp;
  let bot: number;
  let inbox: number;
  const ids: Record<string, number> = {};

  before(async () => {
    app = await TestApp.start({ config: { burstQuietMs: 0 } });
    for (const article of articles) ids[article.title] = (await app.post('articles', article)).body.id;
    bot = (await app.post('agent_bots', { kind: 'ai', name: 'Ada' })).body.id;
    inbox = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id;
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot });
  });
  after(() => app.stop());

  const configure = async (fields: object) =>
    expect((await app.patch(`agent_bots/${bot}`, fields)).status).to.equal(200);

  const countRuns = async (id: number) =>
    (await app.query('SELECT FROM bot_runs WHERE conversation_id = $1', [id])).length;

  /** The customer writes, in a new conversation or in this one; what stands there then. */
  async function say(content: string, conversation?: number) {
    const id = conversation ?? (await openConversation(app, inbox));
    const before = await countRuns(id);
    await app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });
    await app.eventually(async () => (await countRuns(id)) > before);
    const [run] = await app.query('SELECT outcome, error FROM bot_runs WHERE conversation_id = $1 ORDER BY id DESC', [
      id,
    ]);
    expect(run).to.deep.equal({ outcome: 'ok', error: null });
    const { status, handoff_reason: reason } = (await app.get(`conversations/${id}`)).body;
    const outgoing = (await messagesOf(app, id)).filter((one) => one.message_type === 'outgoing' && !one.private);
    const last = outgoing.at(-1);
    return {
      id,
      status,
      reason,
      replies: outgoing.map((one) => one.content),
      attributes: last?.content_attributes ?? {},
    };
  }

  it('greets back and thanks back once each, and stays', async () => {
    const first = await say('Hi');
    expect([first.replies, first.status]).to.deep.equal([['Hello! How can I help you?'], 'pending']);
    const again = await say('Hello?', first.id);
    expect([again.replies.length, again.status]).to.deep.equal([1, 'pending']);
    const answered = await say('When is your shop open?', first.id);
    expect(answered.replies[1]).to.include('weekdays from 9 to 18');
    const thanked = await say('Thanks a lot 🙂', first.id);
    expect(thanked.replies[2]).to.include('You are welcome!');
    expect(await say('ok great', first.id)).to.include({ status: 'pending', reason: null });
    expect((await say('👍', first.id)).replies).to.have.lengthOf(3);
  });

  it('greets in the customer’s language, with the operator’s words, or not at all', async () => {
    expect((await say('Guten Abend!')).replies).to.deep.equal(['Guten Tag! Wie kann ich helfen?']);
    await configure({ greeting_message: 'Ahoy!' });
    expect((await say('Guten Abend!')).replies).to.deep.equal(['Ahoy!']);
    await configure({ greeting_message: '' });
    expect(await say('Hi')).to.deep.include({ replies: [], status: 'pending' });
    await configure({ greeting_message: null });
  });

  for (const message of [
    'Within how many days may I return goods?',
    'Hello, I bought a jacket last week for my son and it does not fit him. Within how many days may I return goods? Thanks, Kim',
    'Hello, we are a family of four from Utrecht. We were in your shop last weekend and liked it very much. Within how many days may I return goods? Thank you in advance, Marieke',
    'hi there i was in your shop on monday with my mother can i return goods after ten days',
    'Within how many days may I return goods?\n\nOn Mon, 3 Nov 2025 at 10:00, Acme <shop@acme.example> wrote:\n> Our shop is open on weekdays.',
  ]) {
    it(`answers the question in ${JSON.stringify(message.slice(0, 60))}`, async () => {
      const { replies, attributes, status } = await say(message);
      expect(replies[0]).to.match(
        /^You may return goods within 30 days\.[^]*\[1\] Returns: https:\/\/help\.acme\.example\/returns$/,
      );
      expect([attributes, status]).to.deep.equal([{ sources: [ids['Returns']] }, 'pending']);
    });
  }

  it('answers two questions of one message', async () => {
    const { replies, attributes } = await say('When is your shop open? And within how many days may I return goods?');
    expect(replies[0]).to.include('weekdays from 9 to 18').and.include('within 30 days');
    expect(attributes.sources).to.have.members([ids['Returns'], ids['Opening hours']]);
  });

  it('offers what only one of several words speaks for, and gives the customer to people who want that', async () => {
    for (const further of ['person', 'No, that does not help']) {
      const offered = await say('Do you repair skateboards?');
      expect(offered.replies).to.have.lengthOf(1);
      expect(offered.replies[0]).to.match(/^This may help:\nBicycles: We repair bicycles[^]*write “person”/);
      expect([offered.attributes, offered.status]).to.deep.equal([
        { sources: [ids['Bicycles']], offer: true },
        'pending',
      ]);
      const left = await say(further, offered.id);
      expect([left.status, left.reason]).to.deep.equal(['open', 'keyword']);
      expect(left.replies[1]).to.equal('I am passing you on to a colleague, who will answer you here.');
    }
  });

  it('offers for a follow-up what the question before is about', async () => {
    const { id } = await say('Within how many days may I return goods?');
    const followed = await say('Even for sale items?', id);
    expect(followed.status).to.equal('pending');
    expect(followed.replies[1]).to.include('This may help:').and.include('https://help.acme.example/returns');
  });

  it('has its answers counted by article, and not its offers', async () => {
    const uses = async () => {
      const listed: { id: number; used_in_answers: number }[] = (await app.get('articles')).body.payload;
      return new Map(listed.map(({ id, used_in_answers: count }) => [id, count]));
    };
    const before = await uses();
    await say('Within how many days may I return goods?');
    await say('Do you repair skateboards?');
    const [returns, bicycles] = [ids['Returns']!, ids['Bicycles']!];
    const after = await uses();
    expect(after.get(returns)).to.equal(before.get(returns)! + 1);
    expect(after.get(bicycles)).to.equal(before.get(bicycles));
    const { body } = await app.get(`articles/${returns}`);
    expect(body.used_in_answers).to.equal(after.get(returns));
    const changed = await app.patch(`articles/${returns}`, { published: true });
    expect(changed.body.used_in_answers).to.equal(after.get(returns));
    await app.query(`UPDATE bot_runs SET created_at = created_at - interval '8 days'`);
    expect((await uses()).get(returns)).to.equal(0);
  });

  it('tells administrators what customers asked that no article answers', async () => {
    const listed = async (query = '') => (await app.get(`agent_bots/${bot}/unanswered${query}`)).body.payload;
    const before = await listed();
    const asked = [
      await say('Do penguins like glaciers?'),
      await say('do penguins like GLACIERS'),
      await say('Are walruses friendly?'),
    ];
    const [first, second, third] = asked.map(({ id }) => id);
    const now = Math.floor(Date.now() / 1000);
    const found = (await listed()).filter(({ question }: { question: string }) => /glaciers|walruses/i.test(question));
    const [of, once] = found;
    expect(found).to.have.lengthOf(2);
    expect(of).to.deep.include({ question: 'do penguins like GLACIERS', count: 2, conversation_ids: [second, first] });
    expect(once).to.deep.include({ question: 'Are walruses friendly?', count: 1, conversation_ids: [third] });
    expect(found[0].last_asked_at).to.be.within(now - 60, now + 1);
    expect(await listed(`?until=${now - 3600}`)).to.deep.equal([]);
    expect(before.length).to.be.below((await listed()).length);
    expect((await app.get(`agent_bots/${bot}/unanswered?since=soon`)).status).to.equal(400);
    // No report tells of conversations that were deleted.
    for (const { id } of asked) expect((await app.delete(`conversations/${id}`)).status).to.equal(200);
    expect(JSON.stringify(await listed())).not.to.match(/glaciers|walruses/i);
  });

  it('hands over what no article has a word of, with a line in the customer’s language', async () => {
    for (const [question, line] of [
      ['Do penguins like submarines?', /^I am passing you on/],
      ['Mögen Pinguine eigentlich Unterseeboote?', /^Ich gebe Sie an/],
    ] as const) {
      const { status, reason, replies } = await say(question);
      expect([status, reason, replies.length]).to.deep.equal(['open', 'no_answer', 1]);
      expect(replies[0]).to.match(line);
    }
    await configure({ handoff_message: '' });
    expect((await say('Do penguins like submarines?')).replies).to.deep.equal([]);
    await configure({ handoff_message: null });
  });
});
