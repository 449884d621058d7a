import { expect } from 'chai';
import type { Body } from '../support/sending.ts';
import { Importing } from '../support/importing.ts';

describe('switchboard import chatwoot, again', function () {
  this.timeout(120_000);
  const importing = Importing.use();
  const base = (account: number) => `/api/v1/accounts/${account}`;
  const read = async (path: string): Promise<Body> => {
    const { status, body } = await importing.app.get(path);
    expect(status, path).to.equal(200);
    return body;
  };
  const conversationsOf = async (account: number): Promise<Body[]> =>
    (await read(`${base(account)}/conversations?status=all`)).data.payload as Body[];
  const theirs = (id: number): Body => importing.fake.account.conversations.find((one) => one['id'] === id);

  it('doubles nothing when their server is called by another name', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const before = await importing.copies(account);
    const sources = () => importing.app.query('SELECT source FROM imports WHERE account_id = $1', [account]);
    const elsewhere = importing.fake.url.replace('127.0.0.1', 'localhost');
    const call = (...more: string[]) => {
      const args = importing.into(account, '--json', ...more);
      args[1] = elsewhere;
      return importing.call(args);
    };
    const refused = await call();
    expect([refused.code, refused.output]).to.deep.equal([1, '']);
    expect(refused.errors).to.equal(
      `This account has copies from ${importing.fake.url}/accounts/7, and none from ${elsewhere}/accounts/7. Is that the same? ` +
        'Give --source with the address of that time, and nothing is copied twice. Is it another one? Give --another.\n',
    );
    expect([await importing.copies(account), await sources()]).to.deep.equal([
      before,
      [{ source: `${importing.fake.url}/accounts/7` }],
    ]);
    const unknown = await call('--source', 'https://nowhere.example');
    expect(unknown.errors).to.contain(
      `no copies from https://nowhere.example, but from ${importing.fake.url}/accounts/7`,
    );

    for (const earlier of [importing.fake.url, `${importing.fake.url}/`, `${importing.fake.url}/accounts/7`]) {
      const { code, output, errors } = await call('--source', earlier);
      expect([code, errors]).to.deep.equal([0, '']);
      expect(JSON.parse(output).counts.conversations).to.include({ created: 0, unchanged: 3 });
    }
    expect(await importing.copies(account)).to.deep.equal(before);
  });

  it('goes on with no other account of theirs', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    importing.fake.profile = { id: 1, accounts: [{ id: 8, name: 'Other', role: 'administrator' }] };
    const args = importing.into(account, '--source', `${importing.fake.url}/accounts/7`);
    const { code, errors } = await importing.call(args);
    expect([code, errors]).to.deep.equal([
      1,
      `--source: ${importing.fake.url}/accounts/7 is another account of theirs than ${importing.fake.url}/accounts/8.\n`,
    ]);
  });

  it('copies a second source where that is meant, and goes on with each', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const args = importing.into(account, '--json', '--another');
    args[1] = importing.fake.url.replace('127.0.0.1', 'localhost');
    const { code } = await importing.call(args);
    expect([code, (await conversationsOf(account)).length]).to.deep.equal([0, 6]);
    expect((await importing.run(account)).counts.conversations).to.include({ created: 0, unchanged: 3 });
  });

  it('gives what a contact says there to the one it was merged into here', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const { payload } = await read(`${base(account)}/contacts`);
    const mia = (payload as Body[]).find(({ name }) => name === 'Mia Novak');
    const kept = (await importing.app.post(`${base(account)}/contacts`, { name: 'Kept', email: 'kept@example.com' }))
      .body;
    const merged = { base_contact_id: kept.id, mergee_contact_id: mia.id };
    expect((await importing.app.post(`${base(account)}/actions/contact_merge`, merged)).status).to.equal(200);
    const { conversations, messages, contacts } = importing.fake.account;
    conversations.push({ ...theirs(1), id: 60 });
    messages[60] = [{ id: 960, message_type: 0, content: 'Since the merge' }];
    Object.assign(contacts[0]!, { name: 'Mia Berg' });
    await importing.app.events();
    const { code, counts } = await importing.run(account);
    expect([code, counts.conversations.created, counts.contacts.updated]).to.deep.equal([0, 1, 0]);
    const ofKept = (await conversationsOf(account)).filter(({ contact }) => contact.id === kept.id);
    expect(ofKept.map(({ contact }) => contact.name)).to.deep.equal(['Kept', 'Kept', 'Kept']);
    expect(await importing.app.events()).to.deep.equal([]);
    await importing.verify();
  });

  it('keeps no trace of the values of a contact who was erased here', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const { payload } = await read(`${base(account)}/contacts`);
    const { id } = (payload as Body[]).find(({ name }) => name === 'Mia Novak');
    const versions = () =>
      importing.app.query<{ version: string | null }>(
        `SELECT version FROM imported WHERE account_id = $1 AND kind = 'contact' AND local_id = $2`,
        [account, id],
      );
    expect((await versions())[0]!.version).to.be.a('string');
    expect((await importing.app.delete(`${base(account)}/contacts/${id}`)).status).to.equal(200);
    expect(await versions()).to.deep.equal([{ version: null }]);
    Object.assign(importing.fake.account.contacts[0]!, { name: 'Mia Berg' });
    await importing.run(account);
    expect(await versions()).to.deep.equal([{ version: null }]);
    expect((await conversationsOf(account)).map(({ contact }) => contact.name)).to.deep.equal(['late-wave-12']);
  });

  it('keeps no trace of the conversations of a contact who was erased here, and asks for nothing of them', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const { payload } = await read(`${base(account)}/contacts`);
    const { id } = (payload as Body[]).find(({ name }) => name === 'Mia Novak');
    expect((await importing.app.delete(`${base(account)}/contacts/${id}`)).status).to.equal(200);
    const versions = () =>
      importing.app.query<{ foreign_id: number; known: boolean }>(
        `SELECT foreign_id, version IS NOT NULL AS known FROM imported WHERE account_id = $1 AND kind = 'conversation' ORDER BY 1`,
        [account],
      );
    const wanted = [
      { foreign_id: 1, known: false },
      { foreign_id: 2, known: true },
      { foreign_id: 3, known: false },
    ];
    expect(await versions()).to.deep.equal(wanted);
    importing.fake.account.messages[1]!.push({ id: 940, message_type: 0, content: 'Mia again' });
    importing.fake.asked.length = 0;
    const { code, counts } = await importing.run(account);
    expect([code, counts.conversations.unchanged, counts.messages.created]).to.deep.equal([0, 3, 0]);
    expect(importing.fake.asked.filter(({ path }) => path.endsWith('/messages'))).to.deep.equal([]);
    expect(await versions()).to.deep.equal(wanted);
    const told = await importing.app.query(`SELECT FROM messages WHERE account_id = $1 AND content = 'Mia again'`, [
      account,
    ]);
    expect(told).to.deep.equal([]);
  });

  /** An author who was no agent there any more is one again there, and has written. */
  function comesBack(): Body {
    const agent = { id: 13, name: 'Gone Agent', email: 'gone@theirs.example', role: 'agent' };
    importing.fake.account.agents.push(agent);
    const sender = { id: 13, type: 'user' };
    importing.fake.account.messages[2]!.push({ id: 930, message_type: 1, content: 'Back', sender });
    return agent;
  }

  it('makes an agent of an author who comes back there', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const { email } = comesBack();
    importing.fake.account.inboxMembers[32]!.push(13);
    const { code, counts } = await importing.run(account);
    expect([code, counts.agents.created, counts.messages.created]).to.deep.equal([0, 1, 1]);
    const agents: Body[] = await read(`${base(account)}/agents`);
    const back = agents.find((agent) => agent.email === email);
    expect([back.name, back.confirmed]).to.deep.equal(['Gone Agent', false]);
    const second = (await conversationsOf(account)).find(({ contact }) => contact.name === 'late-wave-12');
    const { payload } = await read(`${base(account)}/conversations/${second.id}/messages`);
    const authors = (payload as Body[]).map(({ sender }) => [sender.name, sender.id === back.id]);
    expect(authors.slice(1)).to.deep.equal([
      ['Gone Agent', false],
      ['Gone Agent', true],
    ]);
    expect((await importing.run(account)).counts.agents).to.include({ created: 0, unchanged: 3 });
  });

  it('names authors whose note is missing', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    await importing.app.query(`DELETE FROM imported WHERE account_id = $1 AND kind = 'author'`, [account]);
    const [first] = importing.fake.account.messages[2]!.filter(({ sender }) => (sender as Body)?.id === 13);
    importing.fake.account.messages[2]!.push({ ...first, id: 930, content: 'Once more' });
    const { code, remarks, counts } = await importing.run(account);
    expect([code, remarks, counts.messages.created]).to.deep.equal([0, [], 1]);
    const second = (await conversationsOf(account)).find(({ contact }) => contact.name === 'late-wave-12');
    const { payload } = await read(`${base(account)}/conversations/${second.id}/messages`);
    expect((payload as Body[]).slice(1).map(({ sender }) => sender.name)).to.deep.equal(['Gone Agent', 'Gone Agent']);
    await importing.verify();
  });

  it('says which assignees it dropped', async () => {
    const account = await importing.newAccount();
    theirs(2).meta.assignee = { id: 99 };
    theirs(3).meta.assignee = { id: 11 };
    importing.fake.account.inboxMembers[31] = [12];
    importing.fake.account.agents[0]!['role'] = 'agent';
    const { remarks } = await importing.run(account);
    expect(remarks).to.have.deep.members([
      { what: 'conversation 2', why: 'its assignee is no agent here: nobody is assigned' },
      { what: 'conversation 3', why: 'its assignee is no member of the inbox: nobody is assigned' },
    ]);
  });

  it('reads nothing for an inbox that was deleted here', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const shop = ((await read(`${base(account)}/inboxes`)).payload as Body[]).find(({ name }) => name === 'Shop');
    expect((await importing.app.delete(`${base(account)}/inboxes/${shop.id}`)).status).to.be.within(200, 204);
    const { conversations, messages } = importing.fake.account;
    conversations.push(
      { ...theirs(1), id: 70, meta: { sender: { id: 570, name: 'Newcomer' } } },
      { ...theirs(1), id: 71, meta: {} },
    );
    const attachments = [{ file_type: 'file', data_url: `${importing.fake.url}/manual.pdf` }];
    for (const id of [1, 70, 71]) messages[id] = [{ id: 970 + id, message_type: 0, content: 'More', attachments }];
    Object.assign(theirs(1), { updated_at: 1 });
    const contacts = async () => (await importing.copies(account))['contacts'];
    const before = await contacts();
    importing.fake.asked.length = 0;
    const { code, counts } = await importing.run(account);
    expect([code, counts.conversations.left_out, counts.conversations.unchanged]).to.deep.equal([1, 2, 3]);
    const asked = importing.fake.asked.map(({ path }) => path);
    expect(asked.filter((path) => path.endsWith('/messages') || path.endsWith('.pdf'))).to.deep.equal([]);
    expect(await contacts()).to.deep.equal(before);
  });
});
