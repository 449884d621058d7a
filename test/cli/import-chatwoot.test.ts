import { expect } from 'chai';
import { adminToken } from '../support/app.ts';
import type { Body } from '../support/sending.ts';
import { Importing } from '../support/importing.ts';
import { Receiver } from '../support/receiver.ts';

const everything = ['conversation_created', 'conversation_status_changed', 'conversation_updated', 'message_created'];

describe('switchboard import chatwoot', function () {
  this.timeout(120_000);
  const importing = Importing.use();

  const base = (account: number) => `/api/v1/accounts/${account}`;
  const read = async (path: string): Promise<Body> => {
    const { status, body } = await importing.app.get(path);
    expect(status, path).to.equal(200);
    return body;
  };
  const conversationsOf = async (account: number): Promise<Body[]> => {
    const { data } = await read(`${base(account)}/conversations?status=all&sort=created_at`);
    return (data.payload as Body[]).toSorted((one, other) => one.created_at - other.created_at);
  };
  const theirs = (id: number): Body => importing.fake.account.conversations.find((one) => one['id'] === id);

  it('copies an account as it was', async () => {
    const account = await importing.newAccount();
    const report = await importing.run(account);
    const { counts, code } = report;
    expect([code, report.source]).to.deep.equal([0, `${importing.fake.url}/accounts/7`]);
    const made = Object.entries(counts).map(([kind, { created }]) => [kind, created]);
    expect(Object.fromEntries(made)).to.deep.equal({
      inboxes: 2,
      agents: 2,
      teams: 1,
      labels: 1,
      attribute_definitions: 0,
      canned_responses: 0,
      webhooks: 0,
      automation_rules: 0,
      macros: 0,
      contacts: 1,
      visitors: 1,
      conversations: 3,
      messages: 8,
      files: 0,
      notes: 0,
    });
    expect([counts.conversations.theirs, counts.contacts.theirs]).to.deep.equal([3, 1]);

    const agents: Body[] = await read(`${base(account)}/agents`);
    const bob = agents.find(({ email }) => email === 'bob@theirs.example');
    expect([bob.name, bob.role, bob.availability, bob.confirmed]).to.deep.equal(['Bob Theirs', 'agent', 'busy', false]);
    const inboxes = (await read(`${base(account)}/inboxes`)).payload as Body[];
    const shop = inboxes.find(({ name }) => name === 'Shop');
    expect([shop.channel_type, shop.greeting_message, shop.timezone]).to.deep.equal([
      'Channel::Api',
      'Hello!',
      'Europe/Berlin',
    ]);
    const members = (await read(`${base(account)}/inbox_members/${shop.id}`)).payload as Body[];
    expect(members.map(({ name }) => name as string).toSorted()).to.deep.equal(['Ada Theirs', 'Bob Theirs']);
    const [team] = await read(`${base(account)}/teams`);
    expect([team.name, team.allow_auto_assign]).to.deep.equal(['sales', false]);
    expect((await read(`${base(account)}/teams/${team.id}/team_members`)).map(({ id }: Body) => id)).to.deep.equal([
      bob.id,
    ]);
    const [label] = (await read(`${base(account)}/labels`)).payload as Body[];
    expect([label.title, label.color, label.show_on_sidebar]).to.deep.equal(['vip', '#dc2626', true]);

    const [first, second, third] = await conversationsOf(account);
    const then = theirs(1);
    expect(first).to.include({ status: 'open', priority: 'high', unread_count: 2, inbox_id: shop.id });
    expect(first).to.include({ created_at: then.created_at, last_activity_at: then.last_activity_at });
    expect([first.meta.assignee.id, first.meta.team.id, first.labels]).to.deep.equal([bob.id, team.id, ['vip']]);
    expect([first.custom_attributes, first.additional_attributes]).to.deep.equal([
      { order: 7 },
      { referer: 'mail', chatwoot_id: 1 },
    ]);
    expect(first.contact.name).to.equal('Mia Novak');
    expect([second.status, second.contact.name]).to.deep.equal(['resolved', 'late-wave-12']);
    expect([third.status, third.snoozed_until]).to.deep.equal([
      'snoozed',
      Math.floor(Date.parse(theirs(3).snoozed_until) / 1000),
    ]);

    const mia = await read(`${base(account)}/contacts/${first.contact.id}`);
    expect(mia).to.include({ email: 'mia@example.com', phone_number: '+4915112345601', identifier: 'crm-1' });
    expect([mia.custom_attributes, mia.additional_attributes]).to.deep.equal([
      { plan: 'plus' },
      { city: 'Berlin', chatwoot_id: 501 },
    ]);
    expect((await read(`${base(account)}/contacts/${mia.id}/labels`)).payload).to.deep.equal(['vip']);
    expect(mia.last_activity_at).to.equal(importing.fake.account.contacts[0]!['last_activity_at']);
    const known = (await read(`${base(account)}/contacts/${mia.id}/contact_inboxes`)).payload as Body[];
    expect(known.map(({ source_id: source, inbox }) => [source, inbox.id])).to.deep.equal([
      ['4915112345601', shop.id],
      ['8b8de1f6-5b5e-4a1f-9a57-3a4de6a7b001', shop.id],
    ]);
  });

  it('labels contacts one by one where their list cannot be asked for a label', async () => {
    const account = await importing.newAccount();
    importing.fake.account.contacts.push({ id: 520, name: 'Plain', email: 'plain@example.com' });
    importing.fake.intervene(({ query }) => {
      query.delete('labels[]');
      return false;
    });
    await importing.run(account);
    const labelled = await importing.app.query<{ name: string }>(
      `SELECT c.name FROM contacts c JOIN contact_labels l ON l.contact_id = c.id WHERE c.account_id = $1`,
      [account],
    );
    expect(labelled.map(({ name }) => name)).to.have.members(['late-wave-12', 'Mia Novak']);
  });

  it('keeps the names of authors who work nowhere any more', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    await importing.app.query(
      `UPDATE seats SET left_at = now() - interval '60 days' WHERE account_id = $1 AND left_at IS NOT NULL`,
      [account],
    );
    const agent = { name: 'New', email: 'new@example.com', role: 'agent' };
    expect((await importing.app.post(`${base(account)}/agents`, agent)).status).to.equal(201);
    const [, second] = await conversationsOf(account);
    const { payload } = await read(`${base(account)}/conversations/${second.id}/messages`);
    expect(payload.map(({ sender }: Body) => sender.name)).to.deep.equal(['late-wave-12', 'Gone Agent']);
  });

  it('invites the agents it brought when somebody asks for it', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const agents: Body[] = await read(`${base(account)}/agents`);
    const { id } = agents.find(({ email }) => email === 'bob@theirs.example');
    const { status } = await importing.app.post(`${base(account)}/agents/${id}/resend_invitation`);
    const rows = await importing.app.query('SELECT FROM invitations WHERE account_id = $1', [account]);
    expect([status, rows.length]).to.deep.equal([200, 1]);
  });

  it('keeps contacts as people changed them here', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const [mia] = (await read(`${base(account)}/contacts/search?q=Mia`)).payload as Body[];
    await importing.app.patch(`${base(account)}/contacts/${mia.id}`, { name: 'Mia Here' });
    Object.assign(importing.fake.account.contacts[0]!, { name: 'Mia There' });
    const { remarks } = await importing.run(account);
    expect((await read(`${base(account)}/contacts/${mia.id}`)).name).to.equal('Mia Here');
    expect(remarks).to.deep.equal([{ what: 'contact 501', why: 'changed there and here: it stays as it is here' }]);
  });

  it('copies messages with their kinds, times and authors', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const [first, second, third] = await conversationsOf(account);
    const messagesOf = async (conversation: Body): Promise<Body[]> =>
      (await read(`${base(account)}/conversations/${conversation.id}/messages`)).payload;
    const messages = await messagesOf(first);
    expect(
      messages.map(({ message_type: type, private: isNote, sender, content }) => [
        type,
        isNote,
        sender?.name ?? null,
        content,
      ]),
    ).to.deep.equal([
      ['incoming', false, 'Mia Novak', 'Where is my lamp?'],
      ['outgoing', false, 'Ada Theirs', 'On its way.'],
      ['outgoing', true, 'Ada Theirs', 'Call the carrier'],
      ['outgoing', true, null, 'Ada assigned Bob'],
      ['incoming', false, 'Mia Novak', 'Still nothing!'],
    ]);
    const sent = importing.fake.account.messages[1]!.map(({ created_at: at }) => at);
    expect(messages.map(({ created_at: at }) => at)).to.deep.equal(sent);
    expect([messages[1].status, messages[3].content_attributes]).to.deep.equal([
      'read',
      { chatwoot: { id: 905, kind: 'activity' } },
    ]);
    expect((await messagesOf(second)).map(({ sender }) => sender.name)).to.deep.equal(['late-wave-12', 'Gone Agent']);
    const [survey] = await messagesOf(third);
    expect([survey.content_type, survey.private, survey.content_attributes]).to.deep.equal([
      'text',
      false,
      { chatwoot: { id: 908, kind: 'template', content_type: 'input_csat' } },
    ]);
    const names = ((await read(`${base(account)}/agents`)) as Body[]).map(({ name }) => name);
    expect(names).not.to.include('Gone Agent');
    const found = await read(`${base(account)}/conversations/search?q=lamp`);
    expect(found.payload.map(({ id }: Body) => id)).to.deep.equal([first.id]);
  });

  it('tells nobody: no events, no deliveries, no runs of bots, no mail', async () => {
    const account = await importing.newAccount();
    const receiver = await Receiver.start();
    try {
      await importing.app.post(`${base(account)}/webhooks`, {
        url: receiver.url,
        subscriptions: [...everything, 'contact_created'],
      });
      await importing.app.events();
      await importing.run(account);
      expect(await importing.app.events()).to.deep.equal([]);
      const [rows] = await importing.app.query<{ rows: number }>(
        `SELECT (SELECT count(*) FROM deliveries WHERE account_id = $1) + (SELECT count(*) FROM bot_runs WHERE account_id = $1)
           + (SELECT count(*) FROM invitations WHERE account_id = $1) AS rows`,
        [account],
      );
      expect([rows!.rows, receiver.received.length]).to.deep.equal([0, 0]);
      const { data } = await read(`${base(account)}/conversations?status=open`);
      expect(data.meta).to.include({ all_count: 1, assigned_count: 1, unassigned_count: 0 });
      await importing.verify();

      // What happens from here on is told as ever.
      const [first, second] = await conversationsOf(account);
      const said = { content: 'Hello again', message_type: 'incoming' };
      for (const { id } of [first, second])
        expect((await importing.app.post(`${base(account)}/conversations/${id}/messages`, said)).status).to.equal(201);
      await receiver.waitFor(3);
      const told = receiver.received.map(({ body }) => [body['event'], body['sequence'] ?? null]);
      expect(told).to.deep.include.members([
        ['message_created', 1],
        ['conversation_status_changed', 1],
        ['message_created', 2],
      ]);
      const [reopened] = (await conversationsOf(account)).filter(({ id }) => id === second.id);
      expect([reopened.status, reopened.unread_count]).to.deep.equal(['open', 1]);
      await importing.verify();
    } finally {
      await receiver.close();
    }
  });

  it('keeps bots that are set later out of conversations that people have', async () => {
    const account = await importing.newAccount();
    delete theirs(1).meta.assignee;
    await importing.run(account);
    const [first, second] = await conversationsOf(account);
    const bot = await importing.app.post(`${base(account)}/agent_bots`, {
      kind: 'plugin',
      plugin_id: 'faq',
      name: 'FAQ',
    });
    for (const { inbox_id: inbox } of [first, second])
      await importing.app.post(`${base(account)}/inboxes/${inbox}/set_agent_bot`, { agent_bot: bot.body.id });
    await importing.app.events();
    const said = { content: 'How do I get my money back?', message_type: 'incoming' };
    for (const { id } of [first, second])
      await importing.app.post(`${base(account)}/conversations/${id}/messages`, said);
    const told = (await importing.app.events()).filter(({ name }) => name === 'message_created');
    const silences = told.map(({ conversation_id: id, bot_silence: silence }) => [id, silence]);
    expect(silences).to.deep.include.members([
      [first.id, 'human_replied'],
      [second.id, null],
    ]);
    const after = await conversationsOf(account);
    expect(after.slice(0, 2).map(({ status }) => status)).to.deep.equal(['open', 'pending']);
  });

  it('tells receivers made for Chatwoot of what happens here, whoever wrote there last', async () => {
    const account = await importing.newAccount();
    const { messages } = importing.fake.account;
    messages[2]!.push({
      id: 930,
      message_type: 1,
      content: 'I am a bot',
      sender: { id: 3, type: 'agent_bot', name: 'Captain' },
    });
    await importing.run(account);
    const receiver = await Receiver.start();
    try {
      const wanted = { url: receiver.url, subscriptions: ['conversation_status_changed'], format: 'chatwoot' };
      expect((await importing.app.post(`${base(account)}/webhooks`, wanted)).status).to.equal(201);
      for (const { id } of await conversationsOf(account))
        await importing.app.post(`${base(account)}/conversations/${id}/toggle_status`, { status: 'pending' });
      const posts = await receiver.waitFor(3);
      const last = posts.map(({ body }) => (body['messages'] as Body[])[0].content as string);
      expect(last).to.have.members(['Still nothing!', 'I am a bot', 'How did we do?']);
    } finally {
      await receiver.close();
    }
  });

  it('copies nothing twice, and tells what is as it was', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const before = await importing.copies(account);
    importing.fake.asked.length = 0;
    const { counts, code } = await importing.run(account);
    expect(code).to.equal(0);
    const changed = Object.values(counts).map(({ created, updated, left_out: leftOut }) => created + updated + leftOut);
    expect(Math.max(...changed)).to.equal(0);
    expect([counts.conversations.unchanged, counts.contacts.unchanged]).to.deep.equal([3, 1]);
    expect(await importing.copies(account)).to.deep.equal(before);
    // What did not change there is not read again.
    expect(importing.fake.asked.filter(({ path }) => path.endsWith('/messages'))).to.deep.equal([]);
  });

  it('adds what is new there, and leaves what is worked on here', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const [first, second, third] = await conversationsOf(account);
    await importing.app.post(`${base(account)}/conversations/${second.id}/toggle_status`, { status: 'pending' });
    const { body: mia } = await importing.app.get(`${base(account)}/contacts/${first.contact.id}`);
    const now = Math.floor(Date.now() / 1000);
    Object.assign(theirs(1), {
      status: 'resolved',
      priority: null,
      labels: [],
      updated_at: now,
      last_activity_at: now,
    });
    Object.assign(theirs(2), { status: 'open', updated_at: now, last_activity_at: now });
    const { messages, contacts } = importing.fake.account;
    messages[1]!.push({ id: 920, message_type: 0, content: 'Found it.', created_at: now });
    messages[2]!.push({ id: 921, message_type: 0, content: 'One more thing', created_at: now });
    Object.assign(contacts[0]!, { name: 'Mia Berg' });
    contacts.push({ id: 510, name: 'Jonas', email: 'jonas@example.com', created_at: now });
    await importing.app.events();
    const { counts, remarks } = await importing.run(account);
    expect([counts.contacts.created, counts.contacts.updated]).to.deep.equal([1, 1]);
    expect([counts.conversations.updated, counts.messages.created]).to.deep.equal([1, 2]);
    expect(remarks).to.deep.equal([
      { what: 'conversation 2', why: 'changed there and worked on here: it stays as it is here' },
    ]);
    const after = await conversationsOf(account);
    expect(after.map(({ id, status }) => [id, status])).to.deep.equal([
      [first.id, 'resolved'],
      [second.id, 'pending'],
      [third.id, 'snoozed'],
    ]);
    expect([after[0].priority, after[0].labels]).to.deep.equal([null, []]);
    expect((await read(`${base(account)}/contacts/${mia.id}`)).name).to.equal('Mia Berg');
    expect(await importing.app.events()).to.deep.equal([]);
    await importing.verify();
  });

  it('does not bring back what was deleted here', async () => {
    const account = await importing.newAccount();
    await importing.run(account);
    const [first, second] = await conversationsOf(account);
    await importing.app.delete(`${base(account)}/contacts/${first.contact.id}`);
    Object.assign(theirs(1), { updated_at: 1 });
    Object.assign(importing.fake.account.contacts[0]!, { name: 'Mia Berg' });
    await importing.run(account);
    expect((await conversationsOf(account)).map(({ id }) => id)).to.deep.equal([second.id]);
    expect((await read(`${base(account)}/contacts`)).payload.map(({ name }: Body) => name)).to.deep.equal([
      'late-wave-12',
    ]);
    await importing.verify();
  });

  it('copies from another service of this kind by its /chatwoot', async () => {
    const [from, into] = [await importing.newAccount('From'), await importing.newAccount('Into')];
    await importing.run(from);
    const args = ['--url', `${importing.app.url}/chatwoot`, '--allow-private', '--account', String(from)];
    const token = { CHATWOOT_TOKEN: adminToken };
    const { code, output, errors } = await importing.call([...args, '--into', String(into), '--json'], token);
    expect([code, errors], output).to.deep.equal([0, '']);
    const [before, after] = [await importing.copies(from), await importing.copies(into)];
    const bag = (rows: unknown[] = []) => rows.map((row) => JSON.stringify(row)).toSorted();
    for (const kind of Object.keys(before)) expect(bag(after[kind]), kind).to.deep.equal(bag(before[kind]));
    const [one, other] = [await conversationsOf(from), await conversationsOf(into)];
    const state = ({ status, priority, created_at: at, labels, unread_count: unread }: Body) => [
      status,
      priority,
      at,
      labels,
      unread,
    ];
    expect(other.map(state)).to.deep.equal(one.map(state));
    const again = await importing.call([...args, '--into', String(into), '--json'], token);
    expect(JSON.parse(again.output).counts.messages.created).to.equal(0);
    await importing.verify();
  });

  it('tells what there is, and copies nothing, with --dry-run', async () => {
    const account = await importing.newAccount();
    const { output, code } = await importing.call(importing.into(account, '--dry-run'));
    expect(code).to.equal(0);
    expect(output)
      .to.match(/nothing was copied/)
      .and.match(/conversations +3 /)
      .and.match(/agents +2 /);
    expect(await importing.app.query('SELECT FROM imports WHERE account_id = $1', [account])).to.deep.equal([]);
    expect((await importing.copies(account))['inboxes']).to.deep.equal([]);
  });

  it('prints a table for people, and what is next', async () => {
    const account = await importing.newAccount();
    const { output, code } = await importing.call(importing.into(account));
    expect(code).to.equal(0);
    expect(output).to.match(/^From http:.*\/accounts\/7 into account \d+:\n/);
    expect(output).to.match(/conversations +3 +3 +0 +0 +0\n/);
    expect(output).to.contain('The new agents got no mail. Invite those who shall work here');
  });
});
