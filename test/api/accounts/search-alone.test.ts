import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addConversation, addInbox, addMessage, addWebhookBot } from '../../support/records.ts';

// Whether another account has a message decides by which index a rare text is looked for, and must not show.
describe('the search of a rare text', () => {
  let app: TestApp;
  let member: Person;
  let bot: Person;
  let seen: number;
  let hidden: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    member = await addPerson(app, { name: 'Member' });
    bot = await addWebhookBot(app, 'Helper');
    seen = await addConversation(app, await addInbox(app, { members: [member], botId: bot.id }));
    hidden = await addConversation(app, await addInbox(app));
  });

  after(() => app.stop());

  const write = (accountId: number, conversation: number, content: string, times: number) =>
    app.query(
      `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, created_at)
       SELECT $1, $2, 'incoming', $3, 'contact', now() FROM generate_series(1, $4::int)`,
      [accountId, conversation, content, times],
    );

  it('answers the same beside other accounts with the same text as without', async () => {
    await addMessage(app, seen, 'A Xylophone, please', { message_type: 'incoming' });
    await addMessage(app, hidden, 'xylophones are dear', { message_type: 'incoming' });
    await addMessage(app, hidden, 'no xylophone for them', { private: true });
    await write(1, seen, 'A plum', 2_500);
    const answers = () =>
      Promise.all(
        [undefined, member, bot].map(async (person) => {
          const { status, body } = await app.get('conversations/search?q=xylophone', person?.headers);
          expect(status).to.equal(200);
          return body;
        }),
      );
    const alone = await answers();
    const found = alone.map(({ payload }) => payload.map(({ id }: { id: number }) => id));
    expect(found).to.deep.equal([[hidden, seen], [seen], [seen]]);
    expect(alone.map(({ meta }) => meta.count)).to.deep.equal([2, 1, 1]);

    const { id: other, administrator } = await addAccount(app, 'Elsewhere');
    const create = async (path: string, body: object): Promise<number> => {
      const created = await app.post(`/api/v1/accounts/${other}/${path}`, body, administrator.headers);
      return created.body.id;
    };
    const contact = await create('contacts', { name: 'Stranger' });
    const place = { inbox_id: await addInbox(app, { accountId: other }), contact_id: contact };
    await write(other, await create('conversations', place), 'Their xylophone', 3);
    expect(await answers()).to.deep.equal(alone);
    await app.events();
  });
});
