import { expect } from 'chai';
import { Socket } from 'node:net';
import { png, sendFiles } from '../../support/files.ts';
import { TestApp, type Answer } from '../../support/app.ts';
import { addContact, addConversation, addInbox } from '../../support/records.ts';

const megabytes = 1024 * 1024;
// As many characters as a text may have, of three bytes each.
const long = '字'.repeat(150_000);

describe('a page of large records', function () {
  this.timeout(120_000);
  let app: TestApp;
  let inbox: number;
  let contact: number;
  let conversation: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    inbox = await addInbox(app);
    contact = await addContact(app);
    for (let count = 0; count < 25; count += 1) conversation = await addConversation(app, inbox);
    await addMessages(`SELECT id, 1 AS count FROM conversations`, long);
    await addMessages(`SELECT ${conversation} AS id, 60 AS count`, `needle ${long.slice(10)}`);
  });

  after(() => app.stop());

  const addMessages = (conversations: string, content: string) =>
    app.query(
      `INSERT INTO messages (account_id, conversation_id, message_type, content, content_type, content_attributes, private,
         status, sender_kind, attachments, created_at, updated_at)
       SELECT 1, c.id, 'incoming', $1, 'text', '{}', false, 'sent', 'system', NULL, now() + n * interval '1 s', now()
       FROM (${conversations}) c, generate_series(1, c.count) n`,
      [content],
    );

  async function get(path: string): Promise<{ body: Answer['body']; link: string | null }> {
    const { status, body, headers } = await app.get(path);
    expect(status).to.equal(200);
    const bytes = Buffer.byteLength(JSON.stringify(body));
    expect(bytes, path).to.be.lessThan(4 * megabytes);
    return { body, link: headers.get('link') };
  }

  async function all(path: string): Promise<number[]> {
    const { body, link } = await get(path);
    const ids = body.payload.map(({ id }: { id: number }) => id);
    const next = /<([^>]*)>; rel="next"/.exec(link ?? '')?.[1];
    return next ? [...ids, ...(await all(next))] : ids;
  }

  it('has fewer messages, and each once on the pages that follow, in both directions', async () => {
    const path = `conversations/${conversation}/messages`;
    const expected = await app.query<{ id: number }>(
      'SELECT id FROM messages WHERE conversation_id = $1 ORDER BY created_at, id',
      [conversation],
    );
    const ids = expected.map(({ id }) => id);
    for (const side of ['after', 'before'] as const) {
      const seen: number[] = [];
      for (let query = side === 'after' ? '?after=1' : ''; ;) {
        const { body } = await get(path + query);
        const page: number[] = body.payload.map(({ id }: { id: number }) => id);
        if (page.length === 0) break;
        if (side === 'after') seen.push(...page);
        else seen.unshift(...page);
        query = `?${side}_message=${side === 'after' ? page.at(-1) : page[0]}`;
      }
      expect(seen, side).to.deep.equal(ids);
    }
  });

  it('of conversations cuts the last messages, which their conversation has whole', async () => {
    const { body } = await get('conversations');
    const { payload } = body.data;
    expect(payload).to.have.lengthOf(25);
    expect(payload[1].last_message.content).to.equal(`${long.slice(0, 4000)}…`);
    const { body: one } = await app.get(`conversations/${payload[1].id}`);
    expect(one.last_message.content).to.equal(long);
    const { body: filtered } = await app.post('conversations/filter', { payload: [] });
    expect(JSON.stringify(filtered).length).to.be.lessThan(megabytes);
  });

  it('of found messages shows what was found', async () => {
    await addMessages(
      `SELECT ${conversation} AS id, 5 AS count`,
      `${long.slice(0, 100_000)} Thimble ${long.slice(0, 40_000)}`,
    );
    const { body } = await get('conversations/search?q=thimble');
    expect(body.payload[0].messages).to.have.lengthOf(5);
    for (const { content } of body.payload[0].messages)
      expect(content)
        .to.have.lengthOf(4002)
        .and.match(/^….* Thimble .*…$/);
    await get('search?q=needle');
  });

  it('of files reads nothing of the texts that they were sent with', async () => {
    const id = await addConversation(app, inbox);
    const files = [{ name: 'photo.png', bytes: png() }];
    for (let count = 0; count < 4; count += 1) {
      const fields = { content: long, message_type: 'outgoing' };
      const { status } = await sendFiles(app, `conversations/${id}/messages`, fields, { files });
      expect(status).to.equal(201);
    }
    const before = bytesOfDatabase(app);
    expect((await get(`conversations/${id}/attachments`)).body.payload).to.have.lengthOf(4);
    expect(bytesOfDatabase(app) - before).to.be.within(1, 100_000);
  });

  it('of notes and articles is followed by the others', async () => {
    for (const table of ['notes', 'articles']) {
      const path = table === 'notes' ? `contacts/${contact}/notes` : 'articles';
      const made: number[] = [];
      for (let count = 0; count < 12; count += 1) {
        const body =
          table === 'notes' ? { content: long } : { title: `Article ${count}`, content: long, language: 'en' };
        made.push((await app.post(path, body)).body.id);
      }
      expect(await all(path)).to.have.members(made);
      expect((await get(path)).body.meta).to.deep.equal({ count: 12, current_page: 1, total_pages: 3 });
    }
  });

  it('under /chatwoot is as large', async () => {
    const root = '/chatwoot/api/v1/accounts/1/conversations';
    const { body } = await get(root);
    expect(body.data.payload).to.have.lengthOf(25);
    const { body: messages } = await get(`${root}/${conversation}/messages`);
    expect(messages.payload).to.have.length.within(1, 19);
    await get(`${root}/${conversation}`);
  });
});

/** Bytes that came over the connections to the database that are open now. */
function bytesOfDatabase({ databaseUrl }: TestApp): number {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles: () => unknown[] };
  const port = Number(new URL(databaseUrl).port);
  const sockets = handles.call(process).filter((handle) => handle instanceof Socket && handle.remotePort === port);
  return (sockets as Socket[]).reduce((sum, { bytesRead }) => sum + bytesRead, 0);
}
