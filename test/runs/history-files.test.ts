import { expect } from 'chai';
import { messagesOf } from '../faults/plugins.ts';
import { png, sendFiles } from '../support/files.ts';
import { BotHouse } from './house.ts';

const picture = { name: 'photo.png', bytes: png(), type: 'image/png' };
const text = { name: 'bill.txt', bytes: Buffer.from('Nine pounds') };

describe('files in the history of a conversation', function () {
  this.timeout(60_000);
  let house: BotHouse;

  before(async () => {
    house = await BotHouse.open({
      reader: {
        on: {
          message_created: 'ctx.reply(JSON.stringify(ctx.history.map(({ attachments }) => attachments ?? null)));',
        },
        permissions: { conversation: ['reply'], history: 10 },
      },
    });
  });
  // The runs are repeated from their records.
  after(() => house.close());

  it('are told by what they are, without a link, to the bot and in the record of the run', async () => {
    const id = await house.conversation('reader');
    await house.app.post(`conversations/${id}/messages`, { content: 'See', message_type: 'outgoing', private: true });
    const sent = await sendFiles(
      house.app,
      `conversations/${id}/messages`,
      { message_type: 'incoming' },
      { files: [picture, text] },
    );
    expect(sent.status).to.equal(201);
    const run = await house.runAfter(id, 0);
    expect(run.outcome).to.equal('ok');
    const files = [
      { file_type: 'image', file_name: 'photo.png', file_size: picture.bytes.length },
      { file_type: 'file', file_name: 'bill.txt', file_size: 11 },
    ];
    const [reply] = (await messagesOf(house.app, id)).filter(({ content }) => content.startsWith('['));
    expect(JSON.parse(reply!.content)).to.deep.equal([files]);
    const history = run.calls.find(({ name }) => name === 'history');
    expect(JSON.stringify(history)).to.include('"file_name":"photo.png"').and.not.include('/files/');
    const next = await house.ask(id, 'Well?');
    const output = next.calls.find(({ name }) => name === 'history')?.output as { attachments?: unknown }[];
    expect(output.map(({ attachments }) => attachments)).to.deep.equal([files, undefined, undefined]);
  });

  it('are gone from the record with the message that is deleted', async () => {
    const id = await house.conversation('reader');
    const { body } = await sendFiles(
      house.app,
      `conversations/${id}/messages`,
      { message_type: 'incoming' },
      { files: [picture] },
    );
    await house.runAfter(id, 0);
    await house.app.delete(`conversations/${id}/messages/${body.id}`);
    expect(JSON.stringify(await house.runs(id))).to.not.include('photo.png');
  });
});
