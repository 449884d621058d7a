import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { addContact, addConversation, addInbox } from '../support/records.ts';

describe('what people are told of their mistakes', () => {
  let app: TestApp;
  let conversation: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    conversation = await addConversation(app, await addInbox(app), { contactId: await addContact(app) });
  });

  after(() => app.stop());

  // Method, path, body, status and the sentence; C is the conversation.
  const cases: [string, string, object | undefined, number, string][] = [
    ['POST', 'agent_bots', { name: 'Bot', kind: 'plugin' }, 422, '`plugin_id` is missing'],
    [
      'POST',
      'agent_bots',
      { name: 'Bot', kind: 'plugin', plugin_id: 'nope' },
      422,
      'There is no installed plugin `nope`',
    ],
    [
      'POST',
      'agent_bots',
      { name: 'Bot', kind: 'plugin', plugin_id: 'faq', config: { human_word: ['boss'] } },
      422,
      'unknown field `human_word`; did you mean `human_words`?',
    ],
    [
      'PATCH',
      'conversations/C',
      { priority: 'x' },
      422,
      '`priority` must be one of urgent, high, medium, low, or null',
    ],
    ['POST', 'conversations/C/labels', { labels: ['nope'] }, 422, 'There is no label `nope`'],
    ['POST', 'conversations/C/toggle_status', { status: 'snoozed' }, 422, '`snoozed_until` is missing'],
    ['POST', 'conversations', { inbox_id: 'one', contact_id: 1 }, 422, '`inbox_id` must be a whole number'],
    ['POST', 'conversations', { inbox_id: 1, contact_id: 1, message: {} }, 422, '`message.content` is missing'],
    ['POST', 'contacts', [], 422, 'The body must be an object'],
    ['POST', 'contacts', { name: '' }, 422, '`name` must not be empty'],
    ['POST', 'contacts', { name: 'x'.repeat(256) }, 422, '`name` must have at most 255 characters'],
    ['POST', 'labels', { title: 'Big Deal' }, 422, '`title` must consist of lowercase letters, digits, `_` and `-`'],
    ['POST', 'labels', { title: 'deal', color: 'red' }, 422, '`color` must be a hex colour such as #1f93ff'],
    ['POST', 'webhooks', { url: 'x', subscriptions: [] }, 422, '`subscriptions` must have at least 1 item'],
    [
      'POST',
      'webhooks',
      { url: 'nowhere', subscriptions: ['message_created'] },
      422,
      'The URL must be absolute, such as https://www.example.com/path.',
    ],
    [
      'POST',
      'inboxes',
      { name: 'X', timezone: 'Mars/Olympus' },
      422,
      '`timezone` must be a name of the IANA time zone database, such as Europe/Berlin',
    ],
    ['GET', 'conversations?page=0', undefined, 400, '`page` must be at least 1'],
    ['GET', 'conversations?sort=best', undefined, 400, sortSentence()],
    ['GET', 'conversations/search?q=ab', undefined, 400, '`q` must have at least 3 characters'],
    ['GET', 'conversations/x', undefined, 400, '`id` in the path must be a number'],
    ['GET', 'nowhere', undefined, 404, 'There is nothing at this path'],
  ];

  function sortSentence(): string {
    const orders = ['created_at', 'updated_at', 'last_activity_at'].flatMap((order) => [order, `-${order}`]);
    return `\`sort\` must be one of ${orders.join(', ')}`;
  }

  for (const [method, path, body, status, sentence] of cases) {
    it(`${method} ${path}: ${sentence.slice(0, 90)}`, async () => {
      const answer = await app.call(method, path.replace('C', String(conversation)), body);
      expect([answer.status, answer.body.error]).to.deep.equal([status, sentence]);
      const [detail] = answer.body.details ?? [{ message: sentence }];
      expect(detail.message).to.equal(sentence);
    });
  }

  it('a bot that must be silent is told why, in words', async () => {
    const inbox = await addInbox(app);
    const bot = (await app.post('agent_bots', { name: 'Bot', outgoing_url: 'https://127.0.0.1:9/' })).body;
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot.id });
    const id = await addConversation(app, inbox);
    await app.post(`conversations/${id}/messages`, { content: 'Here I am', message_type: 'outgoing' });
    const { status, body } = await app.post(
      `conversations/${id}/messages`,
      { content: 'Me too', message_type: 'outgoing' },
      { api_access_token: bot.access_token },
    );
    expect([status, body.code, body.error]).to.deep.equal([
      403,
      'bot_suppressed',
      'The bot must be silent in this conversation: a person has replied',
    ]);
  });
});
