import { expect } from 'chai';
import { deleteUnsentFiles } from '../../../src/domain/upkeep/unsent-files.ts';
import { chunkBytes } from '../../../src/domain/attachments/store.ts';
import { TestApp } from '../../support/app.ts';
import { noise, png, sendFiles, storedFiles, type TestFile } from '../../support/files.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addMessage, addWebhookBot } from '../../support/records.ts';

const outgoing = { content: 'See this', message_type: 'outgoing' };
const picture: TestFile = { name: 'photo.png', bytes: png(), type: 'image/png' };
const several = (count: number) => Array.from({ length: count }, () => picture);
const nothing = { files: 0, unsent: 0, chunks: 0 };

describe('attachments', function () {
  this.timeout(60_000);
  let app: TestApp;
  let agent: Person;
  let outsider: Person;
  let bot: Person;
  let inbox: number;
  let conversation: number;
  let path: string;

  before(async () => {
    app = await TestApp.start({ engine: false });
    agent = await addPerson(app, { name: 'Agent' });
    outsider = await addPerson(app, { name: 'Outsider' });
    bot = await addWebhookBot(app, 'Helper');
    inbox = await addInbox(app, { members: [agent], botId: bot.id });
  });

  beforeEach(async () => {
    await app.query('DELETE FROM attachments');
    conversation = await addConversation(app, inbox);
    path = `conversations/${conversation}/messages`;
    await app.events();
  });

  after(() => app.stop());

  const send = (fields: Record<string, string>, files: TestFile[], headers: Record<string, string> = agent.headers) =>
    sendFiles(app, path, fields, { files, headers });

  async function download(url: string): Promise<Buffer> {
    const response = await fetch(url);
    expect(response.status).to.equal(200);
    return Buffer.from(await response.arrayBuffer());
  }

  it('are sent with a message, and told wherever it is', async () => {
    const files = [picture, { name: 'notes.txt', bytes: Buffer.from('Ein Gruß') }];
    const { status, body } = await send({ ...outgoing, private: 'false', content_attributes: '{"a":1}' }, files);
    expect(status, body.error).to.equal(201);
    expect(body).to.deep.include({ content: 'See this', private: false, content_attributes: { a: 1 } });
    const [one, other] = body.attachments;
    const url = new URL(one.data_url);
    expect(url.origin).to.equal(app.url);
    expect(url.pathname).to.match(/^\/files\/[\w.-]+\/photo\.png$/);
    expect(one).to.deep.equal({
      id: one.id,
      message_id: body.id,
      file_type: 'image',
      file_name: 'photo.png',
      extension: 'png',
      content_type: 'image/png',
      file_size: picture.bytes.length,
      data_url: one.data_url,
      thumb_url: one.data_url,
      width: 3,
      height: 2,
    });
    expect(other).to.deep.include({ file_type: 'file', content_type: 'text/plain', extension: 'txt', width: null });
    expect(other).to.not.have.property('thumb_url');
    const { payload: listed } = (await app.get(path)).body;
    expect(listed.at(-1)).to.deep.equal(body);
    const { body: record } = await app.get(`conversations/${conversation}`);
    expect(record.last_message).to.deep.equal(body);
    const { body: found } = await app.get('conversations/search?q=See%20this');
    expect(found.payload[0].messages[0]).to.deep.equal(body);
    expect(await download(one.data_url)).to.deep.equal(picture.bytes);
    expect((await download(other.data_url)).toString()).to.equal('Ein Gruß');
  });

  it('are in events for webhooks and bots, which have no such property without', async () => {
    const { body } = await send({ content: 'x', message_type: 'incoming' }, [picture], {});
    await addMessage(app, conversation, 'No file', { message_type: 'incoming' });
    const [withFile, without] = (await app.events()).filter(({ name }) => name === 'message_created');
    for (const payload of [withFile!.account_payload!, withFile!.bot_payload!])
      expect(payload['attachments']).to.deep.equal(body.attachments);
    for (const payload of [without!.account_payload!, without!.bot_payload!])
      expect(payload).to.not.have.property('attachments');
    await app.patch(`${path}/${body.id}`, { content: 'Edited' });
    const [edited] = await app.events();
    expect(edited).to.include({ name: 'message_updated' });
    expect(edited!.account_payload!['attachments']).to.deep.equal(body.attachments);
  });

  it('need no text beside them, which then is empty and no deleted message', async () => {
    const { body } = await send({ message_type: 'outgoing' }, [picture]);
    expect(body).to.include({ content: '' });
    const blank = await send({ content: ' \n', message_type: 'outgoing' }, [picture]);
    expect(blank.body).to.include({ content: '' });
    const edited = await app.patch(`${path}/${body.id}`, { content: 'Now with words' });
    expect(edited.status).to.equal(200);
    expect(edited.body.attachments).to.have.length(1);
    expect((await send({ content: ' ', message_type: 'outgoing' }, [])).status).to.equal(422);
    expect((await send({ content: 'x' }, [picture])).status).to.equal(422);
  });

  it('are as large as the limit, and come back whole, and in parts', async () => {
    const bytes = noise(10_000_000);
    const { status, body } = await send(outgoing, [{ name: 'large.bin', bytes }]);
    expect(status, body.error).to.equal(201);
    expect(body.attachments[0]).to.include({ file_size: bytes.length, content_type: 'application/octet-stream' });
    const { data_url: url } = body.attachments[0];
    expect((await download(url)).equals(bytes)).to.equal(true);
    for (const [from, to] of [
      [0, 0],
      [chunkBytes - 1, chunkBytes],
      [chunkBytes * 3, chunkBytes * 3 + 17],
      [bytes.length - 5, bytes.length - 1],
    ] as const) {
      const part = await fetch(url, { headers: { range: `bytes=${from}-${to}` } });
      expect(part.status).to.equal(206);
      expect(part.headers.get('content-range')).to.equal(`bytes ${from}-${to}/${bytes.length}`);
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(from, to + 1))).to.equal(true);
    }
  });

  it('under an Idempotency-Key are sent once; other bytes are another request', async () => {
    const headers = { ...agent.headers, 'idempotency-key': `files ${conversation}` };
    const [first, second] = [await send(outgoing, [picture], headers), await send(outgoing, [picture], headers)];
    expect([first.status, second.status]).to.deep.equal([201, 201]);
    expect(second.body).to.deep.equal(first.body);
    expect(await storedFiles(app)).to.include({ files: 1, unsent: 0 });
    const changed = { ...picture, bytes: png(4, 4) };
    expect((await send(outgoing, [changed], headers)).status).to.equal(422);
    expect((await send(outgoing, [{ ...picture, name: 'b.png' }], headers)).status).to.equal(422);
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'message_created']);
    expect(await storedFiles(app)).to.include({ files: 1, unsent: 0 });
  });

  describe('are not kept', () => {
    async function expectNothing(status: number, sent: Promise<{ status: number; body: { error?: string } }>) {
      const answer = await sent;
      expect(answer.status, answer.body.error).to.equal(status);
      expect(await storedFiles(app)).to.deep.equal(nothing);
      expect(await app.eventNames()).to.deep.equal([]);
    }

    it('for who may not see the conversation, or where there is none', async () => {
      const written = async () => app.query('SELECT last_value, is_called FROM attachments_id_seq');
      const before = await written();
      await expectNothing(403, send(outgoing, [picture], outsider.headers));
      await expectNothing(404, sendFiles(app, 'conversations/999999/messages', outgoing, { files: [picture] }));
      await expectNothing(401, send(outgoing, [picture], { api_access_token: 'nobody' }));
      // Not even for a moment.
      expect(await written()).to.deep.equal(before);
    });

    it('for a message that its own fields or its state refuse', async () => {
      await expectNothing(422, send({ ...outgoing, message_type: 'incoming', private: 'true' }, [picture]));
      await expectNothing(422, send({ content: 'x', message_type: 'odd' }, [picture]));
      await app.post(`conversations/${conversation}/assignments`, { assignee_id: agent.id });
      await app.events();
      await expectNothing(403, send(outgoing, [picture], bot.headers));
    });

    it('where there are too many', async () => {
      await expectNothing(422, send(outgoing, several(11)));
      const { status, body } = await send(outgoing, several(10));
      expect(status).to.equal(201);
      expect(new Set(body.attachments.map(({ id }: { id: number }) => id)).size).to.equal(10);
    });
  });

  it('go with the message that is deleted, and out of its events', async () => {
    const { body } = await send({ content: 'x', message_type: 'incoming' }, [picture], {});
    await app.events();
    expect((await app.delete(`${path}/${body.id}`)).status).to.equal(200);
    expect(await storedFiles(app)).to.deep.equal(nothing);
    expect((await fetch(body.attachments[0].data_url)).status).to.equal(404);
    const { payload } = (await app.get(path)).body;
    expect(payload.at(-1)).to.deep.include({ content: '', attachments: [], content_attributes: { deleted: true } });
    const kept = await app.query<{ told: string }>(
      'SELECT concat(account_payload, bot_payload) AS told FROM events WHERE conversation_id = $1',
      [conversation],
    );
    expect(kept.map(({ told }) => told).join()).to.not.include('/files/');
    expect(await app.eventNames()).to.deep.equal(['message_updated', 'message_deleted']);
    expect((await app.delete(`${path}/${body.id}`)).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('go with the conversation, and with the contact', async () => {
    for (let count = 0; count < 12; count += 1) await send({ message_type: 'outgoing' }, [picture]);
    expect(await storedFiles(app)).to.include({ files: 12 });
    expect((await app.delete(`conversations/${conversation}`)).status).to.equal(200);
    expect(await storedFiles(app)).to.deep.equal(nothing);
    const contactId = await addContact(app);
    path = `conversations/${await addConversation(app, inbox, { contactId })}/messages`;
    const { body } = await send(outgoing, [picture]);
    expect((await app.delete(`contacts/${contactId}`)).status).to.equal(200);
    expect(await storedFiles(app)).to.deep.equal(nothing);
    expect((await fetch(body.attachments[0].data_url)).status).to.equal(404);
  });

  it('without a message are deleted after an hour, and no others', async () => {
    const { body } = await send(outgoing, [picture]);
    await app.query(`UPDATE attachments SET created_at = now() - interval '2 hours'`);
    for (const age of ['59 minutes', '61 minutes', '3 days'])
      await app.query('INSERT INTO attachments (account_id, created_at) VALUES (1, now() - $1::interval)', [age]);
    expect(await deleteUnsentFiles(app.app.database)).to.equal(2);
    expect(await storedFiles(app)).to.include({ files: 2, unsent: 1 });
    expect(await download(body.attachments[0].data_url)).to.deep.equal(picture.bytes);
    expect(await deleteUnsentFiles(app.app.database)).to.equal(0);
  });

  it('that were deleted meanwhile are no part of a message', async () => {
    await app.query(`CREATE FUNCTION lose_files() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN DELETE FROM attachments WHERE id = NEW.attachment_id; RETURN NULL; END'`);
    await app.query(`CREATE TRIGGER lose AFTER INSERT ON attachment_chunks FOR EACH ROW EXECUTE FUNCTION lose_files()`);
    const { status, body } = await send(outgoing, [picture]);
    await app.query('DROP FUNCTION lose_files CASCADE');
    expect(status).to.equal(409);
    expect(body.error).to.include('send the message again');
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await send(outgoing, [picture])).status).to.equal(201);
  });

  it('of another account are found by no link, message or number of this one', async () => {
    const other = await addAccount(app, 'Other');
    const { body } = await send(outgoing, [picture]);
    const { id } = body.attachments[0];
    const [row] = await app.query<{ account_id: number }>('SELECT account_id FROM attachments WHERE id = $1', [id]);
    expect(row).to.deep.equal({ account_id: 1 });
    const links = app.app.database.fileLinks;
    expect((await fetch(links.urlOf({ accountId: 1, id, name: 'a.png' }))).status).to.equal(200);
    expect((await fetch(links.urlOf({ accountId: other.id, id, name: 'a.png' }))).status).to.equal(404);
  });
});
