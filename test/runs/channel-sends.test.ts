import { expect } from 'chai';
import { Pager, take } from './pager.ts';

describe('how a channel sends', function () {
  this.timeout(60_000);
  let pager: Pager;

  before(async () => {
    pager = await Pager.open({});
  });
  after(() => pager.close());
  afterEach(() => pager.receiver.answerWith(take));

  /** Names of the changed attributes of a conversation's messages, event by event. */
  const changes = async (conversation: number): Promise<string[][]> =>
    (
      await pager.app.query<{ account_payload: { changed_attributes: object } }>(
        `SELECT account_payload FROM events WHERE name = 'message_updated' AND conversation_id = $1 ORDER BY id`,
        [conversation],
      )
    ).map(({ account_payload: payload }) => Object.keys(payload.changed_attributes));

  it('keeps the id that it answers with, though a receipt by another id came before', async () => {
    const conversation = await pager.begin('early');
    const { promise, resolve } = Promise.withResolvers<void>();
    pager.receiver.answerWith((received, response) => void promise.then(() => take(received, response)));
    const said = await pager.say(conversation, 'Early');
    await pager.receiver.waitFor(1);
    await pager.tell({ external_id: 'receipt', message_id: said.id, status: 'delivered' });
    expect((await pager.settled(conversation, said.id, 'delivered')).source_id).to.equal('receipt');
    resolve();
    await pager.app.eventually(
      async () => (await pager.settled(conversation, said.id, 'delivered')).source_id === 'early:Early',
    );
    expect(await changes(conversation)).to.deep.equal([['status'], ['source_id']]);
  });
});
