import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { noise, png, sendFiles, storedFiles, type TestFile } from '../../support/files.ts';
import { Widget } from '../../support/widget.ts';

const picture: TestFile = { name: 'photo.png', bytes: png(), type: 'image/png' };

describe('files of the widget', function () {
  this.timeout(60_000);
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({
      engine: false,
      config: { widgetSessionsPerMinute: 0, widgetUploadBytesPerMinute: 2_000_000 },
    });
  });

  beforeEach(async () => {
    await app.query('DELETE FROM attachments');
    await app.events();
  });

  after(() => app.stop());

  async function enter() {
    const widget = await Widget.create(app);
    const { headers, contactId } = await widget.enter({ name: 'Vera' });
    await app.events();
    const send = (fields: Record<string, string>, files: readonly TestFile[], token: object = headers) =>
      sendFiles(app, `/public/api/v1/inboxes/${widget.identifier}/messages`, fields, {
        files,
        headers: { api_access_token: '', ...token },
      });
    return { widget, headers, contactId, send };
  }

  it('are sent by the contact, with text or without, and shown to both sides', async () => {
    const { widget, headers, send } = await enter();
    const { status, body } = await send({ content: 'It looks so' }, [picture]);
    expect(status, body.error).to.equal(201);
    expect(body).to.include({ content: 'It looks so', message_type: 'incoming' });
    expect(body.attachments[0]).to.include({ file_type: 'image', file_name: 'photo.png', message_id: body.id });
    expect(body.attachments[0]).to.not.have.property('account_id');
    expect((await send({}, [picture])).body).to.include({ content: '' });
    expect((await widget.messages(headers))[0]).to.deep.equal(body);
    const { payload } = (await app.get(`conversations/${body.conversation_id}/messages`)).body;
    expect(payload[0].attachments).to.deep.equal(body.attachments);
    const shown = await fetch(body.attachments[0].data_url);
    expect(Buffer.from(await shown.arrayBuffer())).to.deep.equal(picture.bytes);
    expect(await app.eventNames()).to.deep.equal(['conversation_created', 'message_created', 'message_created']);
    const answer = await sendFiles(
      app,
      `conversations/${body.conversation_id}/messages`,
      { content: 'Try this', message_type: 'outgoing' },
      { files: [{ name: 'how.txt', bytes: Buffer.from('Turn it') }] },
    );
    expect((await widget.messages(headers)).at(-1)).to.deep.include({ attachments: answer.body.attachments });
  });

  it('are refused as text is: without a token, from a blocked contact, without anything', async () => {
    const { contactId, send } = await enter();
    expect((await send({ content: 'x' }, [picture], { 'x-contact-token': 'none' })).status).to.equal(401);
    expect((await send({ content: ' ' }, [])).status).to.equal(422);
    await app.patch(`contacts/${contactId}`, { blocked: true });
    await app.events();
    const written = () => app.query('SELECT last_value, is_called FROM attachments_id_seq');
    const before = await written();
    const blocked = await send({ content: 'x' }, [picture]);
    // Not even for a moment.
    expect(await written()).to.deep.equal(before);
    expect(blocked.status).to.equal(403);
    expect(blocked.body.code).to.equal('contact_blocked');
    expect(await storedFiles(app)).to.deep.equal({ files: 0, unsent: 0, chunks: 0 });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('have a limit of bytes per minute and address', async () => {
    const { send } = await enter();
    const file = { name: 'a.bin', bytes: noise(1_500_000) };
    expect((await send({ content: 'x' }, [file])).status).to.equal(201);
    await app.events();
    const second = await send({ content: 'x' }, [file]);
    expect(second.status).to.equal(429);
    expect(second.headers.get('retry-after')).to.match(/^\d+$/);
    expect(await storedFiles(app)).to.include({ files: 1, unsent: 0 });
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await send({ content: 'Words alone' }, [])).status).to.equal(201);
  });
});
