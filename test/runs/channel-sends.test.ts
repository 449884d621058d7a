import { expect } from 'chai';
import { MailServer } from '../support/mail-server.ts';
import { Pager, take } from './pager.ts';

describe('how a channel sends', function () {
  this.timeout(60_000);
  let pager: Pager;

  before(async () => {
    pager = await Pager.open({ wrong: 'return {};' }, { limits: { wallMs: 2_000 } });
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

  it('has no circuit: while the other system fails for some, it goes on for all', async () => {
    pager.receiver.answerWith((received, response) =>
      received.body['text'] === 'Down' ? response.writeHead(500).end() : take(received, response),
    );
    const failing = await Promise.all(Array.from({ length: 6 }, (_, at) => pager.begin(`down-${at}`)));
    const down = await Promise.all(failing.map((id) => pager.say(id, 'Down')));
    for (const id of failing) await pager.app.eventually(async () => (await pager.outcomes(id)).length > 0);
    const conversation = await pager.begin('up');
    const said = await pager.say(conversation, 'Up');
    await pager.settled(conversation, said.id, 'sent');
    expect(await pager.outcomes(conversation)).to.deep.equal(['ok']);
    // They wait for their next attempts, and nothing is quarantined.
    for (const [at, { id }] of down.entries()) await pager.settled(failing[at]!, id, 'pending');
    pager.receiver.answerWith(take);
    for (const [at, { id }] of down.entries()) await pager.settled(failing[at]!, id, 'sent');
    expect(await pager.health()).to.include({ state: 'ok' });
  });

  it('is stopped when it takes longer than its time, and tries again, however often the other system is slow', async () => {
    const slow = await Promise.all(Array.from({ length: 6 }, (_, at) => pager.begin(`slow-${at}`)));
    let aborted = 0;
    pager.receiver.answerWith((_, response) => void response.on('close', () => (aborted += 1)));
    const said = await Promise.all(slow.map((id) => pager.say(id, 'Slow')));
    for (const id of slow) await pager.app.eventually(async () => (await pager.outcomes(id)).length > 0);
    await pager.app.eventually(() => Promise.resolve(aborted >= 6));
    expect((await pager.health()).last_error).to.equal('The run took longer than 2000 ms');
    pager.receiver.answerWith(take);
    for (const [at, { id }] of said.entries()) await pager.settled(slow[at]!, id, 'sent');
    for (const id of slow) expect(await pager.outcomes(id)).to.deep.equal(['deadline', 'ok']);
    expect(await pager.health()).to.include({ state: 'ok' });
  });

  it('waits in quarantine in sight of agents, and goes on in order when it ends', async () => {
    const [broken, ada, bea] = [await pager.begin('broken'), await pager.begin('ada'), await pager.begin('bea')];
    for (let at = 0; at < 5; at += 1) {
      const said = await pager.say(broken, 'wrong');
      const { external_error: error } = await pager.settled(broken, said.id, 'failed');
      expect(error).to.equal('Action 1: sent: `external_id` is missing');
    }
    expect(await pager.health()).to.include({
      state: 'failing',
      last_error: 'It failed several times running: invalid_actions',
    });
    const said: [conversation: number, id: number][] = [];
    for (const content of ['One', 'Two', 'Three'])
      for (const conversation of [ada, bea]) said.push([conversation, (await pager.say(conversation, content)).id]);
    await pager.write('ada');
    for (const [conversation, id] of said) expect((await pager.settled(conversation, id, 'pending')).id).to.equal(id);
    const waiting = await pager.app.query<{ attempt: number; failures: number }>(
      `SELECT attempt, failures FROM deliveries WHERE endpoint_kind = 'channel' AND state = 'pending'`,
    );
    expect(waiting).to.deep.equal(Array.from({ length: 7 }, () => ({ attempt: 0, failures: 0 })));
    await pager.save();
    for (const [conversation, id] of said) await pager.settled(conversation, id, 'sent');
    for (const customer of ['ada', 'bea']) expect(pager.textsTo(customer)).to.deep.equal(['One', 'Two', 'Three']);
    await pager.app.eventually(
      async () => (await pager.messages(ada)).filter(({ content }) => content === 'Hello').length === 2,
    );
    expect(await pager.health()).to.include({ state: 'ok' });
  });
});

describe('a channel that sends mail', function () {
  this.timeout(60_000);

  it('sends from the address of its inbox only', async () => {
    const smtp = await MailServer.start();
    const sendFrom = (from: string) => `
      const id = '<' + message.id + '@example.com>';
      const mail = { from: ${from}, to: 'ada@example.org', subject: 'S', text: 'T', message_id: id };
      try { await ctx.mail.send(mail); } catch (error) { throw ctx.channel.refused(error.code + ': ' + error.message); }
      return { external_id: id };`;
    const pager = await Pager.open(
      { foreign: sendFrom(`'boss@bank.example'`), own: sendFrom(`'Pager@Example.com'`) },
      { mail: { address: 'pager@example.com', server: smtp.url } },
    );
    try {
      const conversation = await pager.begin('ada');
      const foreign = await pager.say(conversation, 'foreign');
      expect((await pager.settled(conversation, foreign.id, 'failed')).external_error).to.equal(
        'bad_request: `from` must be the address of the inbox: the setting that `identity` of the manifest names',
      );
      expect(smtp.received).to.deep.equal([]);
      await pager.settled(conversation, (await pager.say(conversation, 'own')).id, 'sent');
      expect(smtp.received.map(({ from }) => from.toLowerCase())).to.deep.equal(['from:<pager@example.com>']);
    } finally {
      await pager.close();
      await smtp.close();
    }
  });
});
