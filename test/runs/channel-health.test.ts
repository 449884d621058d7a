import { expect } from 'chai';
import { Pager, take } from './pager.ts';

describe('the health of a channel', function () {
  this.timeout(60_000);
  let pager: Pager;

  before(async () => {
    pager = await Pager.open(
      {
        think: `for (let sum = 0, at = 0; at < 1.5e8; at += 1) sum += at % 7; return { external_id: 't' + message.id };`,
        throw: `throw new Error('The pager is down');`,
      },
      { config: { sandboxRunners: 1, sandboxQueue: 1 }, limits: { sliceMs: 700 } },
    );
  });
  after(() => pager.close());

  it('does not suffer from a full queue of the service', async () => {
    const conversations: number[] = [];
    for (let at = 0; at < 4; at += 1) conversations.push(await pager.begin(`crowd-${at}`));
    const said = await Promise.all(conversations.map((id) => pager.say(id, 'think')));
    await Promise.all(said.map(({ id }, at) => pager.settled(conversations[at]!, id, 'sent')));
    const outcomes = (await Promise.all(conversations.map((id) => pager.outcomes(id)))).flat();
    expect(outcomes).to.include('queue_full');
    expect(await pager.health()).to.deep.equal({ state: 'ok', last_error: null, since: null });
  });

  it('is that of the last run, whatever another run showed while it was under way', async () => {
    const [slow, failing] = [await pager.begin('slow'), await pager.begin('failing')];
    const { promise, resolve } = Promise.withResolvers<void>();
    pager.receiver.answerWith((received, response) => void promise.then(() => take(received, response)));
    const held = await pager.say(slow, 'Held');
    await pager.receiver.waitFor(1);
    await pager.say(failing, 'throw');
    await pager.app.eventually(async () => (await pager.health()).state === 'failing');
    expect((await pager.health()).last_error).to.equal('The pager is down');
    pager.receiver.answerWith(take);
    resolve();
    await pager.settled(slow, held.id, 'sent');
    expect(await pager.health()).to.include({ state: 'ok', last_error: null });
  });
});
