import { expect } from 'chai';
import {
  claimKey,
  deleteOldIdempotencyKeys,
  eraseExcessAnswers,
  keepAnswer,
} from '../../src/domain/upkeep/idempotency-keys.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { TestApp, type Answer } from '../support/app.ts';
import { addPerson, botHeaders, type Person } from '../support/people.ts';
import { addContact, addConversation, addInbox } from '../support/records.ts';

const hourMs = 3_600_000;

describe('Idempotency-Key', () => {
  let app: TestApp;
  let agent: Person;
  let inboxId: number;
  let present: Date;
  let keys = 0;

  before(async () => {
    present = new Date();
    app = await TestApp.start({ engine: false, clock: { now: () => present } });
    agent = await addPerson(app, { name: 'Ada', role: 'administrator' });
    inboxId = await addInbox(app);
  });

  after(() => app.stop());

  beforeEach(() => app.events());

  const newKey = () => ({ 'idempotency-key': `key ${(keys += 1)}` });
  const replayed = ({ headers }: Answer) => headers.get('idempotency-replayed');
  const count = async (table: string) =>
    (await app.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`))[0]!.n;

  it('the same request gets the same answer, and happens once', async () => {
    const key = newKey();
    const first = await app.post('contacts', { name: 'Once', email: 'once@example.com' }, key);
    const again = await app.post('contacts', { email: 'once@example.com', name: 'Once' }, key);
    expect([first.status, replayed(first)]).to.deep.equal([201, null]);
    expect([again.status, replayed(again)]).to.deep.equal([201, 'true']);
    expect(again.body).to.deep.equal(first.body);
    expect(again.headers.get('content-type')).to.equal(first.headers.get('content-type'));
    expect(await app.eventNames()).to.deep.equal(['contact_created']);
  });

  it('the answer stays what it was, whatever happened since', async () => {
    const id = await addConversation(app, inboxId);
    await app.events();
    const key = newKey();
    const resolve = () => app.post(`conversations/${id}/toggle_status`, { status: 'resolved' }, key);
    const first = await resolve();
    expect([first.status, first.body.status]).to.deep.equal([200, 'resolved']);
    await app.post(`conversations/${id}/toggle_status`, { status: 'open' });
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'conversation_status_changed']);
    const again = await resolve();
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect((await app.get(`conversations/${id}`)).body.status).to.equal('open');
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('an answer too large to be stored: a repeat gets 409 and does nothing', async () => {
    const id = await addConversation(app, inboxId);
    await app.events();
    const key = newKey();
    const send = () =>
      app.post(`conversations/${id}/messages`, { message_type: 'outgoing', content: '\u8a9e'.repeat(140_000) }, key);
    const first = await send();
    expect(first.status, JSON.stringify(first.body).slice(0, 300)).to.equal(201);
    const sent = await app.eventNames();
    for (const again of [await send(), await send()]) {
      expect([again.status, again.body.code]).to.deep.equal([409, 'answer_not_stored']);
    }
    expect(sent).to.include('message_created');
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('another request under the key: 422', async () => {
    const key = newKey();
    await app.post('contacts', { name: 'First' }, key);
    await app.events();
    const others: [string, unknown][] = [
      ['contacts', { name: 'Second' }],
      ['contacts', { name: 'First', email: null }],
      ['contacts?x=1', { name: 'First' }],
      ['labels', { title: 'first' }],
    ];
    for (const [path, body] of others) {
      const answer = await app.post(path, body, key);
      expect([path, answer.status, answer.body.code]).to.deep.equal([path, 422, 'idempotency_key_reused']);
    }
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a key belongs to its token', async () => {
    const key = newKey();
    const one = await app.post('contacts', { name: 'Shared' }, key);
    const other = await app.post('contacts', { name: 'Shared' }, { ...key, ...agent.headers });
    expect([other.status, replayed(other)]).to.deep.equal([201, null]);
    expect(other.body.id).not.to.equal(one.body.id);
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'contact_created']);
  });

  it('a key is 1 to 255 printable characters', async () => {
    for (const bad of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb']) {
      const { status, body } = await app.post('contacts', { name: 'Bad key' }, { 'idempotency-key': bad });
      expect([bad, status, body.code]).to.deep.equal([bad, 400, 'bad_idempotency_key']);
    }
    for (const good of ['x', 'x'.repeat(255), `"${crypto.randomUUID()}"`, "'; DROP TABLE contacts; --"]) {
      expect((await app.post('contacts', { name: 'Good key' }, { 'idempotency-key': good })).status).to.equal(201);
    }
    expect(await app.eventNames()).to.have.lengthOf(4);
  });

  it('what was refused is not remembered', async () => {
    const key = newKey();
    expect((await app.post('contacts', { name: '' }, key)).status).to.equal(422);
    expect((await app.post('conversations', { inbox_id: 999_999, contact_id: 1 }, key)).status).to.equal(404);
    expect((await app.post('contacts', { name: 'In the end' }, key)).status).to.equal(201);
    expect(await app.eventNames()).to.deep.equal(['contact_created']);
  });

  it('a refusal in the middle leaves nothing behind', async () => {
    await app.post('contacts', { name: 'Holder', identifier: 'taken' });
    await app.events();
    const before = await count('idempotency_keys');
    const { status } = await app.post('contacts', { name: 'Late', identifier: 'taken' }, newKey());
    expect(status).to.equal(422);
    expect(await count('idempotency_keys')).to.equal(before);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('fifty at once make one', async () => {
    const key = newKey();
    const before = await count('contacts');
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.post('contacts', { name: 'Fifty' }, key)));
    expect(await count('contacts')).to.equal(before + 1);
    expect(await app.eventNames()).to.deep.equal(['contact_created']);
    const made = answers.filter(({ status }) => status === 201);
    expect(made.filter((answer) => replayed(answer) === null)).to.have.lengthOf(1);
    expect(new Set(made.map(({ body }) => body.id)).size).to.equal(1);
    const waiting = answers.filter(({ status }) => status !== 201);
    for (const { status, headers, body } of waiting) {
      expect([status, body.code, headers.get('retry-after')]).to.deep.equal([409, 'conflict', '1']);
    }
  });

  it('while the first is running: 409, at once', async () => {
    const key = newKey();
    const id = await addConversation(app, inboxId);
    await app.events();
    const note = () => app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'outgoing' }, key);
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
    const holder = app.app.database.transaction(async (sql) => {
      await sql('SELECT FROM conversations WHERE id = $1 FOR UPDATE', [id]);
      locked();
      await mayEnd;
    });
    await isLocked;
    const first = note();
    await app.eventually(async () => {
      const waiting = await app.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    const second = await note();
    expect([second.status, second.headers.get('retry-after')]).to.deep.equal([409, '1']);
    end();
    await holder;
    const made = await first;
    expect(made.status).to.equal(201);
    const third = await note();
    expect([third.status, replayed(third), third.body.id]).to.deep.equal([201, 'true', made.body.id]);
    expect(await app.eventNames()).to.deep.equal(['message_created']);
  });

  it('a repeat that looked before the first committed gets its answer all the same', async () => {
    const holder = { accountId: 1, contactId: await addContact(app) };
    const request = { holder, key: 'as the first commits', fingerprint: Buffer.alloc(32) };
    const answer = { status: 201, sealedBody: 'v1.the-first-answer' };
    const { database } = app.app;
    const { promise: hasLooked, resolve: looked } = Promise.withResolvers<void>();
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    const repeat = database.transaction((sql) => {
      const pausing: Sql = async <Row>(text: string, parameters?: readonly unknown[]) => {
        const rows = await sql<Row>(text, parameters);
        looked();
        await mayGoOn;
        return rows;
      };
      return claimKey(pausing, request, present);
    });
    await hasLooked;
    await database.transaction(async (sql) => {
      expect(await claimKey(sql, request, present)).to.equal(null);
      await keepAnswer(sql, request, { ...answer, names: [] }, present);
    });
    goOn();
    expect(await repeat).to.deep.equal(answer);
    await app.events();
  });

  it('the key commits with what was made, or neither does', async () => {
    const key = newKey();
    const before = await count('contacts');
    // The last moment before the commit.
    await app.query(`CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$`);
    await app.query('CREATE TRIGGER cut AFTER INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION cut()');
    const cut = await app.post('contacts', { name: 'Cut off' }, key);
    expect([cut.status, cut.body.code, cut.headers.get('retry-after')]).to.deep.equal([503, 'unavailable', '1']);
    expect(await count('contacts')).to.equal(before);
    await app.query('DROP TRIGGER cut ON idempotency_keys');
    const made = await app.post('contacts', { name: 'Cut off' }, key);
    expect([made.status, replayed(made)]).to.deep.equal([201, null]);
    expect(await count('contacts')).to.equal(before + 1);
    expect(await app.eventNames()).to.deep.equal(['contact_created']);
  });

  it('a secret is answered again, and stands nowhere in clear', async () => {
    const key = newKey();
    const body = { url: 'http://127.0.0.1:9/hook', subscriptions: ['message_created'] };
    const first = await app.post('webhooks', body, key);
    const again = await app.post('webhooks', body, key);
    expect(first.body.secret).to.match(/^whsec_/);
    expect([again.status, replayed(again), again.body]).to.deep.equal([201, 'true', first.body]);
    const rows = await app.query<{ body: string }>("SELECT body FROM idempotency_keys WHERE body <> ''");
    for (const row of rows) expect(row.body).to.match(/^v1\.[\w-]+$/);
    expect(await count('webhooks')).to.equal(1);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a request that revokes its own token is answered, and cannot be asked again', async () => {
    const key = newKey();
    const somebody = await addPerson(app, { name: 'Resetter' });
    const reset = () => app.post('/api/v1/profile/reset_access_token', {}, { ...somebody.headers, ...key });
    const first = await reset();
    expect([first.status, typeof first.body.access_token]).to.deep.equal([200, 'string']);
    expect((await app.get('/api/v1/profile', { api_access_token: first.body.access_token })).status).to.equal(200);
    expect((await app.get('/api/v1/profile', somebody.headers)).status).to.equal(401);
  });

  it('a contact in a widget has keys of its own', async () => {
    const [inbox] = await app.query<{ identifier: string }>(
      `UPDATE inboxes SET channel_type = 'Channel::WebWidget', agent_bot_id = NULL WHERE id = $1 RETURNING identifier`,
      [inboxId],
    );
    const base = `/public/api/v1/inboxes/${inbox!.identifier}`;
    const tokens: string[] = [];
    for (const name of ['Visitor one', 'Visitor two']) {
      tokens.push((await app.post(`${base}/sessions`, { name })).body.contact_token);
    }
    await app.events();
    const key = newKey();
    const say = (token: string, content: string) =>
      app.post(`${base}/messages`, { content }, { ...key, 'x-contact-token': token });
    const first = await say(tokens[0]!, 'Hello?');
    const again = await say(tokens[0]!, 'Hello?');
    expect([first.status, again.status, replayed(again), again.body]).to.deep.equal([201, 201, 'true', first.body]);
    expect((await say(tokens[0]!, 'Anybody?')).status).to.equal(422);
    const other = await say(tokens[1]!, 'Hello?');
    expect([other.status, replayed(other)]).to.deep.equal([201, null]);
    expect((await app.eventNames()).filter((name) => name === 'message_created')).to.have.lengthOf(2);
  });

  it('a bot that is stopped for talking too much is stopped under a key too', async () => {
    const bot = await botHeaders(app);
    const [{ id: botId } = { id: 0 }] = await app.query<{ id: number }>('SELECT min(id) AS id FROM agent_bots');
    const served = await addInbox(app, { botId });
    const id = await addConversation(app, served, { contactId: await addContact(app) });
    await app.query('UPDATE conversations SET bot_streak = 20 WHERE id = $1', [id]);
    await app.events();
    const message = { content: 'And another thing', message_type: 'outgoing' };
    const { status, body } = await app.post(`conversations/${id}/messages`, message, { ...bot, ...newKey() });
    expect([status, body.code]).to.deep.equal([403, 'loop_suspected']);
    const [row] = await app.query<{ bot_silence: string }>('SELECT bot_silence FROM conversations WHERE id = $1', [id]);
    expect(row?.bot_silence).to.equal('loop_suspected');
    expect(await app.eventNames()).to.include('message_created');
  });

  it('GET, PATCH and DELETE do not look at it', async () => {
    const key = newKey();
    const id = await addContact(app);
    await app.events();
    expect((await app.patch(`contacts/${id}`, { name: 'One' }, key)).body.name).to.equal('One');
    expect((await app.patch(`contacts/${id}`, { name: 'Two' }, key)).body.name).to.equal('Two');
    expect((await app.get(`contacts/${id}`, key)).body.name).to.equal('Two');
    expect(await app.eventNames()).to.deep.equal(['contact_updated', 'contact_updated']);
    expect((await app.delete(`contacts/${id}`, key)).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal(['contact_deleted']);
  });

  it('questions are answered anew, and nothing is stored of them', async () => {
    const key = newKey();
    const before = await count('idempotency_keys');
    for (const noun of ['contacts', 'conversations']) {
      for (const round of [1, 2]) {
        const answer = await app.post(`${noun}/filter`, { payload: [] }, key);
        expect([answer.status, replayed(answer)], `${noun} ${round}`).to.deep.equal([200, null]);
      }
    }
    expect(await count('idempotency_keys')).to.equal(before);
  });

  it('the oldest answers of a caller are erased beyond 32 MB, and happen only once all the same', async () => {
    const [oldest, newest] = [newKey(), newKey()];
    await app.post('contacts', { name: 'Oldest' }, oldest);
    present = new Date(present.getTime() + 1000);
    await app.query(
      `INSERT INTO idempotency_keys (holder, key, fingerprint, status, body, created_at, token_id)
       SELECT holder, 'filler ' || n, '', 201, repeat('x', 256 * 1024), $1, token_id
       FROM idempotency_keys, generate_series(1, 127) n WHERE key = $2`,
      [present, oldest['idempotency-key']],
    );
    expect(await eraseExcessAnswers(app.app.database)).to.equal(0);
    await app.query(`UPDATE idempotency_keys SET body = repeat('x', 600 * 1024) WHERE key = 'filler 1'`);
    present = new Date(present.getTime() + 1000);
    const last = await app.post('contacts', { name: 'Newest' }, newest);
    expect(await eraseExcessAnswers(app.app.database)).to.be.greaterThan(0);
    const again = await app.post('contacts', { name: 'Oldest' }, oldest);
    expect([again.status, again.body.code]).to.deep.equal([409, 'answer_not_stored']);
    expect((await app.post('contacts', { name: 'Newest' }, newest)).body).to.deep.equal(last.body);
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'contact_created']);
    expect(await eraseExcessAnswers(app.app.database)).to.equal(0);
    await app.query("DELETE FROM idempotency_keys WHERE key LIKE 'filler %' OR key = $1", [newest['idempotency-key']]);
    present = new Date(present.getTime() - 2000);
  });

  it('an answer is kept for 24 hours', async () => {
    const key = newKey();
    const begun = present;
    const first = await app.post('contacts', { name: 'Daily' }, key);
    present = new Date(begun.getTime() + 24 * hourMs - 1000);
    expect(replayed(await app.post('contacts', { name: 'Daily' }, key))).to.equal('true');
    expect(await deleteOldIdempotencyKeys(app.app.database)).to.equal(0);
    present = new Date(begun.getTime() + 24 * hourMs);
    const anew = await app.post('contacts', { name: 'Another day' }, key);
    expect([anew.status, replayed(anew)]).to.deep.equal([201, null]);
    expect(anew.body.id).not.to.equal(first.body.id);
    expect(await deleteOldIdempotencyKeys(app.app.database)).to.be.greaterThan(5);
    expect(await count('idempotency_keys')).to.equal(1);
    expect(replayed(await app.post('contacts', { name: 'Another day' }, key))).to.equal('true');
    expect(await app.eventNames()).to.deep.equal(['contact_created', 'contact_created']);
  });
});
