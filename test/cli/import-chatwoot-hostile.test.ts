import { expect } from 'chai';
import type { Body } from '../support/sending.ts';
import { Importing } from '../support/importing.ts';
import { naughtyTexts } from '../support/naughty.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('switchboard import chatwoot, of anything', function () {
  this.timeout(120_000);
  const importing = Importing.use();
  const base = (account: number) => `/api/v1/accounts/${account}`;

  it('is stopped by no record', async () => {
    const account = await importing.newAccount();
    const { agents, inboxes, teams, labels, contacts, conversations, messages } = importing.fake.account;
    agents.push(
      { id: 20, name: null, email: 'nobody' },
      { id: 21, email: 'ADA@theirs.example', name: 'Twin' },
      { id: 'x' },
    );
    inboxes.push(
      {
        id: 33,
        name: null,
        channel_type: 'Channel::Pigeon',
        timezone: 'Mars/Olympus',
        working_hours: [{ day_of_week: 9 }],
      },
      { id: 34, name: `\u0000${'x'.repeat(300)}`, channel_type: 'Channel::Api', greeting_message: 7 },
    );
    teams.push({ id: 42, name: null }, { id: 43, name: 'sales' });
    labels.push({ id: 52, title: 'Big Deal!' }, { id: 53, title: '!!!' }, { id: 54, title: 'ok', color: 'red' });
    contacts.push(
      { id: 601, name: null, email: 'no address', phone_number: '0151 12', identifier: 'i\u0000d' },
      { id: 602, name: 'x'.repeat(1000), email: 'mia@example.com', created_at: 'yesterday' },
      { id: 603, name: '\ud800', identifier: 'crm-1', custom_attributes: { '\u0000': '\u0000' } },
      {
        id: 604,
        email: 'deep@example.com',
        custom_attributes: { big: 'x'.repeat(70_000) },
        additional_attributes: [1],
      },
      { id: null, email: 'idless@example.com' },
    );
    importing.fake.account.attributeDefinitions = [
      { id: 61, attribute_key: null, attribute_model: 0 },
      { id: 62, attribute_key: 'key', attribute_model: 9 },
      {
        id: 63,
        attribute_key: 'k\u0000ey',
        attribute_model: 1,
        attribute_display_type: 'picture',
        attribute_values: 'a',
      },
    ];
    importing.fake.account.webhooks = [
      { id: 71, url: 7 },
      { id: 72, url: 'https://example.com', subscriptions: 'all' },
      { id: null, url: 'https://example.com', subscriptions: null },
      { id: 74, url: ' https://example.com ', name: {}, subscriptions: null },
    ];
    importing.fake.account.cannedResponses = [
      { id: 81, short_code: 7, content: 'A number, and a NUL \u0000' },
      { id: 82, short_code: 'null', content: null },
      { id: 83, short_code: ['list'], content: 'x' },
      { id: null, short_code: 'x', content: 'x' },
    ];
    const [first] = conversations;
    const strange = [
      { status: 'archived', priority: 'now', labels: ['never-seen', 7, null], unread_count: -3 },
      { meta: { sender: null, assignee: { id: 99 }, team: { id: 99 } } },
      { meta: null, created_at: 99_999_999_999, last_activity_at: 'soon', custom_attributes: 'none' },
      { inbox_id: 999 },
      { status: 'snoozed', snoozed_until: null, additional_attributes: nested(500) },
      { status: 'snoozed', snoozed_until: 1_000_000_000 },
    ];
    for (const [index, fields] of strange.entries()) conversations.push({ ...first, id: 100 + index, ...fields });
    messages[100] = [
      { id: 2001, message_type: 9, content: 'Unknown kind', created_at: 1 },
      { id: 2002, message_type: 0, private: true, content: 'A customer\u0000 noted', created_at: 2 },
      { id: 2003, message_type: 1, content: null, sender: { id: 99, type: 'captain_assistant', name: 'Captain' } },
      { id: 2004, message_type: 1, content: 'x'.repeat(150_010), content_attributes: { deleted: false } },
      { id: 2005, message_type: 1, content: 'Gone', content_attributes: { deleted: true } },
      {
        id: 2006,
        message_type: 1,
        content_type: 'input_select',
        content: 'Choose',
        content_attributes: { items: 'all' },
      },
      { id: 2007, message_type: 1, content_type: 'cards', content: 'Cards', content_attributes: { in_reply_to: 2001 } },
      { id: 2008, message_type: 1, content: 'Of the future', created_at: 99_999_999_999, status: 'lost', source_id: 7 },
      { id: 2009, content: 'Without a kind' },
      { id: null, content: 'Without an id' },
      ...naughtyTexts.map((content, index) => ({ id: 2100 + index, message_type: 0, content, created_at: 10 + index })),
    ];
    const { code, counts, remarks } = await importing.run(account);
    expect(code).to.equal(1);
    const leftOut = Object.entries(counts).map(([kind, { left_out: number }]) => [kind, number]);
    expect(Object.fromEntries(leftOut)).to.deep.equal({
      inboxes: 0,
      agents: 2,
      teams: 1,
      labels: 1,
      attribute_definitions: 2,
      canned_responses: 3,
      webhooks: 3,
      automation_rules: 0,
      macros: 0,
      contacts: 1,
      visitors: 0,
      conversations: 1,
      messages: 0,
      files: 0,
      notes: 0,
    });
    expect(counts.conversations.created).to.equal(8);
    expect(counts.contacts).to.include({ created: 4, unchanged: 1 });
    expect(remarks).to.deep.include.members([
      {
        what: 'inbox 33',
        why: 'the channel Channel::Pigeon became Channel::Api; the time zone Mars/Olympus became UTC; its working hours became the usual ones',
      },
      {
        what: 'contact 601',
        why: 'phone_number is not valid here, and was kept as the additional attribute chatwoot_phone_number',
      },
      { what: 'conversation 103', why: 'left out: its inbox was not copied, or was deleted here' },
      { what: 'conversation 100', why: 'its status archived: it is open' },
      { what: 'message 2001 of conversation 100', why: 'the message_type 9: it became a private note' },
    ]);

    // Whatever it was, the API answers it by its schemas.
    for (const path of [
      'agents',
      'inboxes',
      'teams',
      'labels',
      'contacts',
      'contacts?page=2',
      'conversations?status=all',
    ])
      expect((await importing.app.get(`${base(account)}/${path}`)).status, path).to.equal(200);
    const rows = await importing.app.query<{ id: number; status: string; foreign: string; until: string | null }>(
      `SELECT id, status, additional_attributes ->> 'chatwoot_id' AS foreign, snoozed_until::text AS until
       FROM conversations WHERE account_id = $1 ORDER BY id`,
      [account],
    );
    const statusOf = (foreign: number) => rows.find((row) => row.foreign === String(foreign))!;
    expect([100, 104, 105].map((foreign) => statusOf(foreign).status)).to.deep.equal(['open', 'snoozed', 'open']);
    expect(statusOf(104).until).to.match(/^9999-12-31/);
    for (const { id } of rows) {
      const path = `${base(account)}/conversations/${id}`;
      expect((await importing.app.get(path)).status).to.equal(200);
      expect((await importing.app.get(`${path}/messages`)).status).to.equal(200);
    }
    const now = Math.floor(Date.now() / 1000) + 5;
    const { body } = await importing.app.get(
      `${base(account)}/conversations/${statusOf(100).id}/messages?after=${now - 3600}`,
    );
    const [future] = (body.payload as Body[]).filter(({ content }) => content === 'Of the future');
    expect(future.created_at).to.be.at.most(now);
    await importing.verify();
    // And again, all of it is known.
    const again = await importing.run(account);
    expect([
      again.counts.conversations.created,
      again.counts.contacts.created,
      again.counts.messages.created,
    ]).to.deep.equal([0, 0, 0]);
  });

  it('copies the files of messages, without the token, and says which it could not', async () => {
    const account = await importing.newAccount();
    const { files, url } = importing.fake;
    const blob = '/rails/active_storage/blobs/redirect/abc';
    files.set(`${blob}/lamp.png`, { status: 302, headers: { location: '/disk/1' }, body: Buffer.of() });
    files.set('/disk/1', { status: 200, headers: {}, body: png });
    files.set(`${blob}/fake.png`, { status: 200, headers: {}, body: Buffer.from('no picture') });
    files.set(`${blob}/loop`, { status: 302, headers: { location: `${blob}/loop` }, body: Buffer.of() });
    files.set(`${blob}/inside`, { status: 302, headers: { location: 'http://10.0.0.1/secrets' }, body: Buffer.of() });
    const file = (name: string, more: object = {}) => ({
      id: 1,
      file_type: 'image',
      data_url: `${url}${blob}/${name}`,
      ...more,
    });
    const at = { message_type: 0, created_at: 1_700_000_000 };
    importing.fake.account.messages[3] = [
      { ...at, id: 3001, content: 'Look', attachments: [file('lamp.png')] },
      { ...at, id: 3002, content: null, attachments: [file('fake.png'), file('loop'), file('gone.pdf')] },
      { ...at, id: 3003, content: 'More', attachments: [file('inside'), file('big.mp4', { file_size: 1e9 })] },
      {
        ...at,
        id: 3004,
        attachments: [
          { file_type: 'location', fallback_title: 'Office', coordinates_lat: 52.5, coordinates_long: 13.4 },
        ],
      },
    ];
    const { code, counts, remarks } = await importing.run(account);
    expect([code, counts.files.created, counts.files.left_out]).to.deep.equal([1, 1, 5]);
    expect(remarks.map(({ why }) => why).toSorted()).to.deep.equal([
      'left out: 10.0.0.1 is at a private address: give --files-host 10.0.0.1 if their server keeps its files there',
      'left out: The content of fake.png is not what its name says',
      'left out: it has more than 10000000 bytes',
      'left out: its link answers 401',
      'left out: its link leads on and on',
    ]);
    const { data } = (await importing.app.get(`${base(account)}/conversations?status=snoozed`)).body;
    const path = `${base(account)}/conversations/${data.payload[0].id}/messages`;
    const listed = (await importing.app.get(path)).body.payload as Body[];
    const [look, empty, , office] = listed;
    expect([look.attachments.length, look.attachments[0].width]).to.deep.equal([1, 1]);
    const bytes = Buffer.from(await (await fetch(look.attachments[0].data_url)).arrayBuffer());
    expect(bytes.equals(png)).to.equal(true);
    expect([empty.content, office.content]).to.deep.equal(['[fake.png] [loop] [gone.pdf]', '[Office]']);
    expect(office.content_attributes.chatwoot.attachments).to.deep.equal([
      { file_type: 'location', title: 'Office', lat: 52.5, long: 13.4 },
    ]);
    const fetched = importing.fake.asked.filter((asked) => !asked.path.startsWith('/api/'));
    expect(fetched.length).to.be.greaterThan(3);
    expect(fetched.filter(({ token }) => token !== undefined)).to.deep.equal([]);
    await importing.verify();
  });

  it('leaves files out on demand', async () => {
    const account = await importing.newAccount();
    const [message] = importing.fake.account.messages[1]!;
    message!['attachments'] = [{ file_type: 'file', data_url: `${importing.fake.url}/manual.pdf` }];
    const { code, counts } = await importing.run(account, '--no-attachments');
    expect([code, counts.files.created, counts.files.left_out]).to.deep.equal([0, 0, 0]);
    expect(importing.fake.asked.some(({ path }) => path === '/manual.pdf')).to.equal(false);
  });

  it('copies into the account that is named alone', async () => {
    const [one, other] = [await importing.newAccount('One'), await importing.newAccount('Other')];
    const tables = [
      'contacts',
      'conversations',
      'messages',
      'inboxes',
      'teams',
      'labels',
      'seats',
      'imported',
      'contact_inboxes',
    ];
    const rowsOf = async (id: number): Promise<number[]> => {
      const counts = tables.map((table) => `(SELECT count(*) FROM ${table} WHERE account_id = $1)`);
      const [row] = await importing.app.query<{ rows: number[] }>(`SELECT ARRAY[${counts.join(', ')}]::int[] AS rows`, [
        id,
      ]);
      return row!.rows;
    };
    const before = [await rowsOf(1), await rowsOf(other)];
    await importing.run(one);
    expect([await rowsOf(1), await rowsOf(other)]).to.deep.equal(before);
    const copied = await rowsOf(one);
    await importing.run(other);
    expect([await rowsOf(one), await rowsOf(other)]).to.deep.equal([copied, copied]);
    await importing.verify();
  });

  it('is forgotten with its account', async () => {
    const account = await importing.newAccount('Short');
    await importing.run(account);
    expect((await importing.app.delete(`/platform/api/v1/accounts/${account}`)).status).to.equal(200);
    const rows = await importing.app.query(
      'SELECT account_id FROM imported WHERE account_id = $1 UNION SELECT account_id FROM imports WHERE account_id = $1',
      [account],
    );
    expect(rows).to.deep.equal([]);
  });

  it('takes for theirs what is here under the same name', async () => {
    const account = await importing.newAccount();
    await importing.app.post(`${base(account)}/labels`, { title: 'vip', color: '#000000' });
    await importing.app.post(`${base(account)}/teams`, { name: 'sales' });
    const mia = (await importing.app.post(`${base(account)}/contacts`, { name: 'Mia here', identifier: 'crm-1' })).body;
    const ada = (
      await importing.app.post(`${base(account)}/agents`, {
        name: 'Ada here',
        email: 'Ada@theirs.example',
        role: 'agent',
      })
    ).body;
    await importing.app.events();
    const { counts } = await importing.run(account);
    expect([counts.labels.unchanged, counts.teams.unchanged, counts.agents.unchanged]).to.deep.equal([1, 1, 1]);
    const { data } = (await importing.app.get(`${base(account)}/conversations?status=open`)).body;
    expect(data.payload[0].contact).to.include({ id: mia.id, name: 'Mia here' });
    const agents = (await importing.app.get(`${base(account)}/agents`)).body as Body[];
    const named = agents.filter(({ email }) => email.toLowerCase() === 'ada@theirs.example');
    expect(named.map(({ id, name, role }) => [id, name, role])).to.deep.equal([[ada.id, 'Ada here', 'agent']]);
    expect(await importing.app.events()).to.deep.equal([]);
  });
});

function nested(levels: number): object {
  return levels === 0 ? {} : { deeper: nested(levels - 1) };
}
