import { expect } from 'chai';
import { importContacts, type ForeignContact } from '../../../src/domain/imports/contacts.ts';
import { beginImport } from '../../../src/domain/imports/imports.ts';
import { system, transact } from '../../../src/events/transaction.ts';
import { TestApp } from '../../support/app.ts';
import { StatementLog } from '../../support/statement-log.ts';

describe('contacts that are imported again', function () {
  this.timeout(60_000);
  const log = new StatementLog();
  let app: TestApp;
  let inboxId: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    inboxId = (await app.post('inboxes', { name: 'Shop' })).body.id as number;
  });

  after(async () => {
    await app.stop();
    log.close();
  });

  const contactOf = (foreignId: number, more: Partial<ForeignContact> = {}): ForeignContact => ({
    foreignId,
    contact: {
      name: `Contact ${foreignId}`,
      email: null,
      phoneNumber: null,
      identifier: null,
      blocked: false,
      avatarUrl: null,
      customAttributes: {},
      additionalAttributes: {},
    },
    lastActivityAt: null,
    createdAt: new Date(0),
    sources: ['a', 'b'].map((name) => ({ inboxId, sourceId: `${name} ${foreignId}`, admits: false })),
    labels: [],
    ...more,
  });

  const account = { id: 1, name: 'Account' };
  const write = (importId: number, contacts: readonly ForeignContact[]) =>
    transact(app.app.database, { account, actor: system }, (tx) => importContacts(tx, importId, contacts));

  it('cost the same few statements however many there are, unless they changed', async () => {
    const importId = await transact(app.app.database, { account, actor: system }, (tx) => beginImport(tx, 'there'));
    const page = Array.from({ length: 15 }, (_, index) => contactOf(index + 1));
    await write(importId, page);
    const one = await log.during(() => write(importId, page.slice(0, 1)));
    const all = await log.during(() => write(importId, page));
    expect(all).to.deep.equal(one);
    expect(all.length).to.be.within(2, 8);

    const moved = contactOf(1, { sources: [...page[0]!.sources, { inboxId, sourceId: 'c 1', admits: false }] });
    const renamed = contactOf(2, { contact: { ...page[1]!.contact, name: 'Renamed' } });
    await app.query('DELETE FROM contacts WHERE account_id = 1 AND name = $1', ['Contact 3']);
    const outcomes = await write(importId, [moved, renamed, page[2]!, page[3]!]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['unchanged', 'updated', 'deleted', 'unchanged']);
    const known = await app.query<{ source_id: string }>(
      'SELECT source_id FROM contact_inboxes WHERE contact_id = $1',
      [outcomes[0]!.localId],
    );
    expect(known.map(({ source_id: id }) => id)).to.have.members(['a 1', 'b 1', 'c 1']);
  });
});
