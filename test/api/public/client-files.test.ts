import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { noise, png, sendFiles, storedFiles, type TestFile } from '../../support/files.ts';
import { Widget } from '../../support/widget.ts';

const picture: TestFile = { name: 'photo.png', bytes: png(), type: 'image/png' };

describe('files of clients', function () {
  this.timeout(60_000);
  let app: TestApp;
  let inbox: Widget;

  before(async () => {
    app = await TestApp.start({
      engine: false,
      config: { widgetSessionsPerMinute: 0, widgetUploadBytesPerMinute: 300_000 },
    });
    inbox = await Widget.create(app, { channel_type: 'Channel::Api' });
  });

  after(() => app.stop());

  async function enter() {
    const { body } = await inbox.call('POST', 'contacts', { name: 'Kim' });
    const path = `contacts/${body.source_id}/conversations`;
    const { id } = (await inbox.call('POST', path, {})).body;
    const messages = `${path}/${id}/messages`;
    const send = (fields: Record<string, string>, files: readonly TestFile[], at = messages) =>
      sendFiles(app, `/public/api/v1/inboxes/${inbox.identifier}/${at}`, fields, {
        files,
        headers: { api_access_token: '' },
      });
    return { contact: body.id as number, messages, send };
  }

  it('come with a message, and with it alone', async () => {
    const { contact, messages, send } = await enter();
    await app.events();
    const { status, body } = await send({ content: 'It looks so' }, [picture]);
    expect([status, body.content, body.attachments[0].file_name]).to.deep.equal([201, 'It looks so', 'photo.png']);
    expect((await inbox.call('GET', messages)).body[0].attachments).to.deep.equal(body.attachments);
    const words = await send({ content: 'Words alone', echo_id: 'e-7' }, []);
    expect([words.status, words.body.echo_id]).to.deep.equal([201, 'e-7']);
    expect(await app.eventNames()).to.deep.equal(['message_created', 'message_created']);
    const written = () => app.query('SELECT last_value, is_called FROM attachments_id_seq');
    const before = await written();
    const strangers = await enter();
    const away = messages.replace(/[^/]+\/messages$/, strangers.messages.split('/').at(-2) ?? '');
    expect((await send({ content: 'x' }, [picture], `${away}/messages`)).status).to.equal(404);
    await app.patch(`contacts/${contact}`, { blocked: true });
    expect((await send({ content: 'x' }, [picture])).status).to.equal(403);
    // Not even for a moment.
    expect(await written()).to.deep.equal(before);
    expect(await storedFiles(app)).to.include({ unsent: 0 });
  });

  it('are as many as visitors of pages may send', async () => {
    const { send } = await enter();
    const large: TestFile = { name: 'large.bin', bytes: noise(200_000) };
    const statuses = [];
    for (let sent = 0; sent < 3; sent++) statuses.push((await send({}, [large])).status);
    expect(statuses).to.include(429);
  });
});
