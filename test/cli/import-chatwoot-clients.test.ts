import { expect } from 'chai';
import type { Body } from '../support/sending.ts';
import { Importing } from '../support/importing.ts';

const [own, strangers] = ['8b8de1f6-5b5e-4a1f-9a57-3a4de6a7b001', '0c1de1f6-5b5e-4a1f-8a57-3a4de6a7b002'];
const shop = { id: 31, channel_type: 'Channel::Api' };

describe('switchboard import chatwoot, of clients of the public API', function () {
  this.timeout(120_000);
  const importing = Importing.use();

  /** Makes these the identifiers of their customer in the inbox. */
  const knowAs = (...sources: string[]): void => {
    const known = sources.map((source) => ({ source_id: source, inbox: shop }));
    Object.assign(importing.fake.account.contacts[0]!, { contact_inboxes: known });
  };
  /** What each of these clients may read: how many conversations, or the status of the refusal. */
  const readAs = async (account: number, ...sources: string[]): Promise<number[]> => {
    const { body } = await importing.app.get(`/api/v1/accounts/${account}/inboxes`);
    const { inbox_identifier: identifier } = (body.payload as Body[]).find(({ name }) => name === 'Shop');
    const read: number[] = [];
    for (const source of sources) {
      const path = `/public/api/v1/inboxes/${identifier}/contacts/${source}/conversations`;
      const answer = await importing.app.get(path);
      read.push(answer.status === 200 ? (answer.body as Body[]).length : answer.status);
    }
    return read;
  };

  it('lets nobody in by an identifier of theirs', async () => {
    const account = await importing.newAccount();
    knowAs(own);
    await importing.run(account);
    expect(await readAs(account, own)).to.deep.equal([404]);
  });

  it('lets in by the only random one of a contact, where that is asked for', async () => {
    const account = await importing.newAccount();
    knowAs(own);
    const { code } = await importing.run(account, '--admit-clients');
    expect([code, ...(await readAs(account, own))]).to.deep.equal([0, 2]);
    // Of a number that anybody can guess, or made of a name (version 5), and beside a second one, none is a key.
    const named = '8b8de1f6-5b5e-5a1f-9a57-3a4de6a7b001';
    for (const sources of [['4915112345601'], [named], [own, strangers], [own, '4915112345601']]) {
      const other = await importing.newAccount();
      knowAs(...sources);
      await importing.run(other, '--admit-clients');
      expect(await readAs(other, ...sources), sources.join()).to.deep.equal(sources.map(() => 404));
    }
  });

  it('lets in as the last run says', async () => {
    const account = await importing.newAccount();
    knowAs(own);
    await importing.run(account);
    await importing.run(account, '--admit-clients');
    expect(await readAs(account, own)).to.deep.equal([2]);
    // A stranger sends the customer's address to their public API: a second identifier of the same contact.
    knowAs(own, strangers);
    await importing.run(account, '--admit-clients');
    expect(await readAs(account, own, strangers)).to.deep.equal([404, 404]);
    knowAs(own);
    // What was copied stays known, so that the customer's is not the only one any more.
    await importing.run(account, '--admit-clients');
    expect(await readAs(account, own, strangers)).to.deep.equal([404, 404]);
  });

  it('closes what an earlier run let in', async () => {
    const account = await importing.newAccount();
    knowAs(own);
    await importing.run(account, '--admit-clients');
    await importing.run(account);
    expect(await readAs(account, own)).to.deep.equal([404]);
  });
});
