import { expect } from 'chai';
import { smallAccount } from '../support/fake-chatwoot.ts';
import { Importing } from '../support/importing.ts';

const ada = { id: 11, name: 'Ada Theirs', type: 'user' };
const gone = { id: 13, name: 'Gone Agent' };
const at = 1_700_000_000;

/** Contacts with notes, as their server lists them: the newest first. */
function noted() {
  return {
    ...smallAccount(),
    contactNotes: {
      501: [
        { id: 73, content: 'Has a new lamp', user: gone, created_at: at + 20 },
        { id: 72, content: 'Likes tea', user: ada, created_at: at + 10 },
        { id: 71, content: '  ', user: ada, created_at: at },
      ],
      502: [{ id: 74, content: 'Came by the shop', created_at: at + 30 }],
    },
  };
}

interface Note {
  contact: string;
  content: string;
  author: string | null;
  created_at: number;
}

describe('switchboard import chatwoot, of notes about contacts', function () {
  this.timeout(120_000);
  const importing = Importing.use(noted);

  const notesOf = (account: number) =>
    importing.app.query<Note>(
      `SELECT c.name AS contact, n.content, s.name AS author, extract(epoch FROM n.created_at)::int AS created_at
       FROM contact_notes n JOIN contacts c ON c.id = n.contact_id LEFT JOIN seats s ON s.account_id = n.account_id AND s.id = n.user_id
       WHERE n.account_id = $1 ORDER BY n.contact_id, n.id`,
      [account],
    );
  const all = [
    { contact: 'Mia Novak', content: 'Likes tea', author: 'Ada Theirs', created_at: at + 10 },
    { contact: 'Mia Novak', content: 'Has a new lamp', author: 'Gone Agent', created_at: at + 20 },
    { contact: 'late-wave-12', content: 'Came by the shop', author: null, created_at: at + 30 },
  ];
  const asked = () => importing.fake.asked.filter(({ path }) => path.endsWith('/notes')).length;

  it('copies them once, in their order, with authors and times, and tells nobody', async () => {
    const account = await importing.newAccount();
    await importing.app.events();
    const { code, counts, remarks } = await importing.run(account);
    expect([code, remarks, counts.notes.created]).to.deep.equal([0, [], 3]);
    expect(await notesOf(account)).to.deep.equal(all);
    const { payload } = (await importing.app.get(`/api/v1/accounts/${account}/contacts`)).body;
    const mia = payload.find(({ name }: { name: string }) => name === 'Mia Novak');
    const { body } = await importing.app.get(`/api/v1/accounts/${account}/contacts/${mia.id}/notes`);
    expect(body.payload.map(({ content }: Note) => content)).to.deep.equal(['Has a new lamp', 'Likes tea']);
    expect(asked()).to.equal(2);
    const again = await importing.run(account);
    expect([again.code, again.counts.notes.created, asked()]).to.deep.equal([0, 0, 2]);
    expect(await notesOf(account)).to.deep.equal(all);
    expect(await importing.app.events()).to.deep.equal([]);
    await importing.verify();
  });

  it('gets those in the next run that their server did not show, and those before which it was stopped', async () => {
    const account = await importing.newAccount();
    importing.fake.intervene(({ path }, response) => {
      if (!path.endsWith('/501/notes')) return false;
      response.writeHead(500).end();
      return true;
    });
    const { code, counts, remarks } = await importing.run(account);
    expect([code, counts.contacts.created, counts.notes.created, counts.notes.left_out]).to.deep.equal([1, 1, 1, 1]);
    expect(remarks.map(({ what }) => what)).to.deep.equal(['notes of contact 501']);
    const child = importing.start(importing.into(account, '--json'));
    importing.fake.intervene(({ path }) => path.endsWith('/501/notes') && child.kill('SIGKILL'));
    await new Promise((resolve) => child.once('exit', resolve));
    importing.fake.intervene(() => false);
    const again = await importing.run(account);
    expect([again.code, again.counts.notes.created]).to.deep.equal([0, 2]);
    expect((await notesOf(account)).map(({ content }) => content)).to.have.members(all.map(({ content }) => content));
    await importing.verify();
  });

  it('asks no more where their server answers none, and goes on without them', async () => {
    const account = await importing.newAccount();
    const { contacts } = importing.fake.account;
    for (let id = 600; id < 620; id += 1)
      contacts.push({ id, name: `Contact ${id}`, email: `${id}@example.com`, created_at: at });
    importing.fake.intervene(({ path }, response) => {
      if (!path.endsWith('/notes')) return false;
      response.writeHead(500).end();
      return true;
    });
    const { code, counts } = await importing.run(account);
    expect([code, counts.contacts.created, counts.conversations.created]).to.deep.equal([1, 21, 3]);
    expect(counts.notes.left_out).to.equal(22);
    // Eight were begun together before the fifth had failed, with seven tries each.
    expect(asked()).to.be.at.most(8 * 7);
  });

  it('brings none to a contact who was erased here meanwhile', async () => {
    const account = await importing.newAccount();
    importing.fake.intervene(({ path }, response) => {
      if (!path.endsWith('/501/notes')) return false;
      response.writeHead(500).end();
      return true;
    });
    await importing.run(account);
    importing.fake.intervene(() => false);
    const base = `/api/v1/accounts/${account}/contacts`;
    const { payload } = (await importing.app.get(base)).body;
    const mia = payload.find(({ name }: { name: string }) => name === 'Mia Novak');
    expect((await importing.app.delete(`${base}/${mia.id}`)).status).to.equal(200);
    const { code, counts } = await importing.run(account);
    expect([code, counts.notes.created]).to.deep.equal([0, 0]);
    expect((await notesOf(account)).map(({ contact }) => contact)).to.deep.equal(['late-wave-12']);
  });
});
