import { expect } from 'chai';
import { TestApp, type Answer } from '../../support/app.ts';
import { bases } from '../../support/field-clients.ts';
import { noise, png, sendFiles, storedFiles, type TestFile } from '../../support/files.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addContact, addInbox } from '../../support/records.ts';
import { misnamed } from '../../support/upload-corpus.ts';

const picture: TestFile = { name: 'photo.png', bytes: png(), type: 'image/png' };
const notes: TestFile = { name: 'notes.txt', bytes: Buffer.from('Ein Gruß') };
const nothing = { files: 0, unsent: 0, chunks: 0 };
const begun = ['conversation_created', 'message_created'];

for (const [base, prefix] of Object.entries(bases)) {
  const made = base === 'default' ? 201 : 200;
  const denied = base === 'default' ? 403 : 401;

  describe(`files of a conversation's first message at the ${base}`, function () {
    this.timeout(60_000);
    let app: TestApp;
    let agent: Person;
    let outsider: Person;
    let inbox: number;
    let contact: number;
    let ids: Record<string, string>;

    before(async () => {
      app = await TestApp.start({ engine: false });
      agent = await addPerson(app, { name: 'Agent' });
      outsider = await addPerson(app, { name: 'Outsider' });
      inbox = await addInbox(app, { members: [agent] });
      contact = await addContact(app);
      ids = { inbox_id: String(inbox), contact_id: String(contact) };
    });

    beforeEach(async () => {
      await app.query('DELETE FROM attachments');
      await app.events();
    });

    after(() => app.stop());

    const path = `${prefix}/api/v1/accounts/1/conversations`;
    const begin = (
      fields: Record<string, string>,
      files: readonly TestFile[],
      {
        headers = agent.headers,
        list = 'message[attachments][]',
      }: { headers?: Record<string, string>; list?: string } = {},
    ): Promise<Answer> => sendFiles(app, path, fields, { files, headers, list });

    /** The record in the default's words, and its only message. */
    async function read({ status, body }: Answer) {
      expect(status, body.error).to.equal(made);
      const { payload } = (await app.get(`conversations/${body.id}/messages`)).body;
      expect(payload).to.have.lengthOf(1);
      const told = base === 'default' ? body.last_message : body.messages[0];
      expect((told.attachments ?? []).map(({ id }: { id: number }) => id)).to.deep.equal(
        payload[0].attachments.map(({ id }: { id: number }) => id),
      );
      return { record: (await app.get(`conversations/${body.id}`)).body, message: payload[0] };
    }

    it('are sent as the dashboard of the field does, each field by its path', async () => {
      const fields = {
        ...ids,
        'message[content]': 'See these',
        'additional_attributes[mail_subject]': 'Broken "screen"',
        assignee_id: String(agent.id),
      };
      const { record, message } = await read(await begin(fields, [picture, notes]));
      expect(record).to.deep.include({ inbox_id: inbox, additional_attributes: { mail_subject: 'Broken "screen"' } });
      expect(record.meta.assignee).to.deep.include({ id: agent.id });
      expect(message).to.deep.include({ content: 'See these', message_type: 'outgoing', private: false });
      expect(message.sender).to.deep.include({ id: agent.id, type: 'User' });
      const [one, other] = message.attachments;
      expect(one).to.deep.include({
        message_id: message.id,
        file_name: 'photo.png',
        content_type: 'image/png',
        width: 3,
      });
      expect(other).to.deep.include({ file_name: 'notes.txt', content_type: 'text/plain' });
      const response = await fetch(one.data_url);
      expect(Buffer.from(await response.arrayBuffer()).equals(picture.bytes)).to.equal(true);
      const events = await app.events();
      expect(events.map(({ name }) => name)).to.deep.equal(begun);
      expect(events.at(-1)!.account_payload!['attachments']).to.deep.equal(message.attachments);
      expect(await storedFiles(app)).to.include({ files: 2, unsent: 0 });
    });

    it('stand beside a message in JSON text, places in the list, and no words at all', async () => {
      const packed = await read(await begin({ ...ids, message: '{"content":"In JSON"}' }, [notes]));
      expect(packed.message.content).to.equal('In JSON');
      const placed = await read(
        await begin({ ...ids, 'message[content]': 'x' }, [notes], { list: 'message[attachments][0]' }),
      );
      expect(placed.message.attachments).to.have.lengthOf(1);
      for (const words of [{}, { 'message[content]': '' }, { 'message[content]': ' \n' }]) {
        const { message } = await read(await begin({ ...ids, ...words }, [picture]));
        expect(message).to.include({ content: '', message_type: 'outgoing' });
        expect(message.attachments).to.have.lengthOf(1);
      }
    });

    it('are needed by no form, whose words are the first message as in JSON', async () => {
      const { record, message } = await read(await begin({ ...ids, 'message[content]': 'Only words' }, []));
      expect([message.content, message.attachments]).to.deep.equal(['Only words', []]);
      expect(record.contact.id).to.equal(contact);
      const silent = await begin(ids, []);
      expect(silent.status, silent.body.error).to.equal(made);
      expect((await app.get(`conversations/${silent.body.id}/messages`)).body.payload).to.deep.equal([]);
      expect(await app.eventNames()).to.deep.equal([...begun, 'conversation_created']);
    });

    it('are of the contact who is known by a source id', async () => {
      await app.post(`contacts/${contact}/contact_inboxes`, { inbox_id: inbox, source_id: `known at ${base}` });
      await app.events();
      const fields = { inbox_id: String(inbox), source_id: `known at ${base}` };
      const { record } = await read(await begin(fields, [picture]));
      expect(record.contact.id).to.equal(contact);
    });

    it('under an Idempotency-Key are sent once; other bytes are another request', async () => {
      const headers = { ...agent.headers, 'idempotency-key': `first files at ${base}` };
      const fields = { ...ids, 'message[content]': 'Once' };
      const first = await begin(fields, [picture], { headers });
      const again = await begin(fields, [picture], { headers });
      expect([first.status, again.status], first.body.error).to.deep.equal([made, made]);
      expect(again.body).to.deep.equal(first.body);
      expect((await begin(fields, [{ ...picture, bytes: png(4, 4) }], { headers })).status).to.equal(422);
      expect(await app.eventNames()).to.deep.equal(begun);
      expect(await storedFiles(app)).to.include({ files: 1, unsent: 0 });
    });

    describe('are not kept, and nothing begins,', () => {
      const count = async () => (await app.get('conversations')).body.data.meta.all_count as number;

      async function expectNothing([status, text]: readonly [number, string], sent: () => Promise<Answer>) {
        const before = await count();
        const { status: got, body } = await sent();
        expect(got, body.error).to.equal(status);
        expect(body.error).to.include(text);
        expect(await storedFiles(app)).to.deep.equal(nothing);
        expect(await app.eventNames()).to.deep.equal([]);
        expect(await count()).to.equal(before);
      }

      it('for who is not in the inbox, and where inbox or contact are not there: not even for a moment', async () => {
        const written = async () => app.query('SELECT last_value, is_called FROM attachments_id_seq');
        const before = await written();
        const stranger = await addAccount(app, 'Other');
        await app.events();
        await expectNothing([denied, ''], () => begin(ids, [picture], { headers: outsider.headers }));
        await expectNothing([404, ''], () => begin({ ...ids, inbox_id: '999999' }, [picture]));
        await expectNothing([404, ''], () => begin({ ...ids, contact_id: '999999' }, [picture]));
        await expectNothing([404, ''], () => begin({ inbox_id: ids['inbox_id']!, source_id: 'nobody' }, [picture]));
        await expectNothing([404, ''], () => begin(ids, [picture], { headers: stranger.administrator.headers }));
        await expectNothing([401, ''], () => begin(ids, [picture], { headers: { api_access_token: 'nobody' } }));
        expect(await written()).to.deep.equal(before);
      });

      it('for a conversation that its own fields refuse', async () => {
        await expectNothing([422, ''], () => begin({ ...ids, status: 'odd' }, [picture]));
        await expectNothing([422, ''], () => begin({ ...ids, contact_id: '12x' }, [picture]));
        await expectNothing([422, ''], () => begin({ inbox_id: ids['inbox_id']! }, [picture]));
        await expectNothing([422, ''], () => begin({ ...ids, assignee_id: String(outsider.id) }, [picture]));
        await expectNothing([404, ''], () => begin({ ...ids, team_id: '999999' }, [picture]));
      });

      it('where they are too many, too large, empty, or not what their names say', async () => {
        const several = Array.from({ length: 11 }, () => notes);
        await expectNothing([422, 'may have 10 files at most'], () => begin(ids, several));
        const large = { name: 'large.bin', bytes: noise(10_001_000) };
        await expectNothing([413, 'large.bin is larger than 10000000 bytes'], () => begin(ids, [large]));
        await expectNothing([422, 'empty.txt is empty'], () =>
          begin(ids, [{ name: 'empty.txt', bytes: Buffer.alloc(0) }]),
        );
        for (const file of Object.values(misnamed))
          await expectNothing([422, 'is not what its name says'], () => begin(ids, [file]));
      });

      it('where the form is ambiguous, or its files are elsewhere', async () => {
        const twice = { ...ids, message: '{"content":"a"}', 'message[content]': 'b' };
        await expectNothing([422, '`message` is given more than once'], () => begin(twice, [picture]));
        await expectNothing([422, '`message[attachments][]` must be files'], () =>
          begin({ ...ids, 'message[attachments][]': 'x' }, []),
        );
        await expectNothing([422, 'is a file'], () => begin(ids, [picture], { list: 'attachments[]' }));
        await expectNothing([422, 'is a file'], () => begin(ids, [picture], { list: 'message[content]' }));
        await expectNothing([422, '__proto__'], () => begin({ ...ids, 'message[__proto__]': 'x' }, [picture]));
      });
    });
  });
}
