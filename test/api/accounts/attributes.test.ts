import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addContact, addConversation, addInbox } from '../../support/records.ts';

const most = 64 * 1024;

/** Attributes whose JSON text has exactly so many bytes. */
function ofBytes(bytes: number, key = 'a', letter = 'x'): Record<string, string> {
  const empty = Buffer.byteLength(JSON.stringify({ [key]: '' }));
  return { [key]: letter.repeat((bytes - empty) / Buffer.byteLength(letter)) };
}

describe('the size of attributes', () => {
  let app: TestApp;
  let contact: number;
  let conversation: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    contact = await addContact(app);
    conversation = await addConversation(app, await addInbox(app), { contactId: contact });
    await app.events();
  });

  after(() => app.stop());

  for (const field of ['custom_attributes', 'additional_attributes']) {
    for (const noun of ['contact', 'conversation'] as const) {
      const path = () => (noun === 'contact' ? `contacts/${contact}` : `conversations/${conversation}`);

      it(`${noun}, ${field}: 64 KB, counted in bytes, at once or little by little`, async () => {
        const create = { name: 'New', inbox_id: 1, contact_id: contact };
        for (const [text, status] of [
          [ofBytes(most), 200],
          [ofBytes(most + 1), 422],
          [ofBytes(most + 2, 'a', 'é'), 422],
        ] as const) {
          const set = await app.patch(path(), { [field]: text });
          expect(set.status).to.equal(status);
          if (status === 422) {
            expect(set.body.details).to.deep.equal([
              { path: `/${field}`, rule: 'maxBytes', message: `\`${field}\` must be at most 64 KB of JSON` },
            ]);
            expect((await app.post(`${noun}s`, { ...create, [field]: text })).status).to.equal(422);
          }
        }
        await app.events();
        const more = await app.patch(path(), { [field]: { b: 1 } });
        expect([more.status, more.body.details[0].rule]).to.deep.equal([422, 'maxBytes']);
        expect(more.body.error).to.equal(`\`${field}\` must be at most 64 KB of JSON, with what it holds already`);
        expect(await app.eventNames()).to.deep.equal([]);
        expect((await app.patch(path(), { [field]: { a: null, b: 1 } })).body[field]).to.deep.equal({ b: 1 });
        await app.events();
      });

      it(`${noun}, ${field}: what is larger since before there was a bound can be read, kept and made smaller`, async () => {
        const old = { old: 'x'.repeat(300_000), other: 'y' };
        await app.query(`UPDATE ${noun}s SET ${field} = $1 WHERE id = $2`, [
          JSON.stringify(old),
          noun === 'contact' ? contact : conversation,
        ]);
        expect((await app.get(path())).body[field]).to.deep.equal(old);
        expect((await app.patch(path(), { [field]: { new: 1 } })).status).to.equal(422);
        expect((await app.patch(path(), { [field]: { other: null } })).status).to.equal(200);
        expect((await app.patch(path(), { [field]: { old: null } })).body[field]).to.deep.equal({});
        await app.events();
      });
    }
  }
});
