import { expect } from 'chai';
import { Client } from 'pg';
import { pino } from 'pino';
import { beginSpace, claimTask, settleTask } from '../../../src/domain/articles/embeddings/tasks.ts';
import { TestApp } from '../../support/app.ts';
import { meaningOf } from '../../support/meanings.ts';
import { embeddings, FakeModelServer } from '../../support/model-server.ts';

const llm = { model: 'small', api_key: 'sk-1', embedding_model: 'meaning-1' };
const byMeaning = embeddings.by(meaningOf);
const longer = embeddings.by((text) => [...meaningOf(text), 1]);

describe('a model that answers vectors of now this length and now that', function () {
  this.timeout(60_000);
  let app: TestApp;
  let server: FakeModelServer;
  const lines: { account?: number; error?: string; msg: string }[] = [];

  before(async () => {
    server = await FakeModelServer.start();
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    app = await TestApp.start({
      log,
      config: { llmEmbeddingRetryMs: 10, llmEmbeddingBatch: 1, llmEmbeddingChanges: 2 },
    });
    const sections = Array.from({ length: 4 }, (_, index) => `# Part ${index}\n\nRefunds take ${index} weeks.`);
    await app.post('articles', { title: 'Money', content: sections.join('\n\n'), tags: [] });
  });
  after(async () => {
    await app.stop();
    await server.close();
  });

  const health = async () => (await app.get('/api/v1/accounts/1')).body.embeddings;
  const setServer = async () =>
    expect((await app.patch('/api/v1/accounts/1', { llm: { ...llm, base_url: server.baseUrl } })).status).to.equal(200);
  const task = async () =>
    (
      await app.query<{ generation: number; in_hours: number }>(
        `SELECT generation, (extract(epoch FROM due_at - now()) / 3600)::float8 AS in_hours FROM embedding_tasks`,
      )
    )[0]!;
  const told = () => lines.filter(({ msg }) => msg === 'articles cannot be embedded');
  const isFound = async () => (await app.get('articles/search?q=cash')).body.payload.length > 0;

  it('has all embedded anew twice a day at most; then the log and the account say so, and words still find', async () => {
    let asked = 0;
    // Each is asked for alone: four of one length, four of the other.
    server.embeddings = (response, question) => ((asked += 1) % 8 < 4 ? byMeaning : longer)(response, question);
    await setServer();
    await app.eventually(async () => (await health()).state === 'failing');
    const stopped = await health();
    expect(stopped.last_error).to.match(/answers vectors of \d+ numbers.* more than 2 times within a day/);
    const { generation, in_hours: inHours } = await task();
    expect(inHours).to.be.within(23.9, 24);
    expect(told()).to.have.lengthOf(1);
    expect(told()[0]).to.include({ account: 1, error: stopped.last_error });
    const questions = asked;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([asked, (await task()).generation]).to.deep.equal([questions, generation]);
    const { body } = await app.get('articles/search?q=refunds');
    expect(body.payload.length).to.be.above(0);
    expect(told()).to.have.lengthOf(1);
  });

  it('is asked again a day after the first change', async () => {
    server.embeddings = byMeaning;
    await app.query(
      `UPDATE embedding_tasks SET due_at = due_at - interval '1 day', changes_since = changes_since - interval '1 day'`,
    );
    // Nobody is waited for: a restart looks, and so does whoever writes.
    await app.post('articles', { title: 'Other', content: 'Words.', tags: [] });
    await app.eventually(async () => (await health()).state === 'ok' && (await isFound()));
    await app.eventually(async () => (await task()).in_hours === Infinity);
  });

  it('is asked again when the operator sets the server', async () => {
    let asked = 0;
    server.embeddings = (response, question) => ((asked += 1) % 8 < 4 ? byMeaning : longer)(response, question);
    await setServer();
    await app.query('UPDATE embedding_tasks SET done_id = 0, due_at = now()');
    await setServer();
    await app.eventually(async () => (await health()).last_error?.includes('within a day') ?? false);
    server.embeddings = byMeaning;
    await setServer();
    await app.eventually(async () => (await health()).state === 'ok' && (await isFound()));
  });
});

describe('another server for an account', function () {
  this.timeout(60_000);
  let app: TestApp;
  let server: FakeModelServer;
  let client: Client;

  before(async () => {
    server = await FakeModelServer.start();
    server.embeddings = byMeaning;
    app = await TestApp.start({ engine: false });
    await app.post('articles', { title: 'Money', content: 'Refunds take a week.', tags: [] });
  });
  beforeEach(async () => {
    client = new Client({ connectionString: app.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
  });
  afterEach(() => client.end());
  after(async () => {
    await app.stop();
    await server.close();
  });

  const setServer = (model: string) =>
    app.patch('/api/v1/accounts/1', { llm: { ...llm, base_url: server.baseUrl, embedding_model: model } });
  const untilWaiting = () =>
    app.eventually(async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await app.query(waiting)).length > 0;
    });

  it('is set while passages begin anew: both take the account first, so that neither ends the other', async () => {
    await app.query(`UPDATE accounts SET passages_error = 'Oops', passages_error_since = now() WHERE id = 1`);
    await app.query('UPDATE embedding_tasks SET due_at = now()');
    const task = await claimTask(app.app.database.sql, 60);
    await client.query('SELECT FROM accounts WHERE id = 1 FOR NO KEY UPDATE');
    const beginning = beginSpace(app.app.database.sql, task!, 'another');
    await untilWaiting();
    // What the change of the server does next.
    await client.query('SELECT FROM embedding_tasks WHERE account_id = 1 FOR UPDATE NOWAIT');
    await client.query('COMMIT');
    await beginning;
    expect(await app.query('SELECT space FROM embedding_tasks')).to.deep.equal([{ space: 'another' }]);
  });

  it('is found out about, though a process that knows of the one before is just done', async () => {
    const sql = app.app.database.sql;
    await app.query('UPDATE embedding_tasks SET due_at = now(), done_id = (SELECT max(id) FROM article_passages)');
    const task = await claimTask(sql, 60);
    expect((await setServer('meaning-1')).status).to.equal(200);
    await settleTask(sql, task!);
    expect(await app.query('SELECT due_at <= now() AS is_due FROM embedding_tasks')).to.deep.equal([{ is_due: true }]);
  });

  it('is set while an article is written, which refers to the account', async () => {
    await client.query('UPDATE embedding_tasks SET due_at = now() WHERE account_id = 1');
    const setting = setServer('meaning-2');
    await untilWaiting();
    await client.query('SET LOCAL lock_timeout = 1');
    await client.query('SELECT FROM accounts WHERE id = 1 FOR KEY SHARE');
    await client.query('COMMIT');
    expect((await setting).status).to.equal(200);
  });

  it('is set again and again while articles are written, and all of it is answered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        index % 2 === 0
          ? setServer(`meaning-${index}`)
          : app.post('articles', { title: `Article ${index}`, content: 'Words.', tags: [] }),
      ),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map((_, index) => (index % 2 === 0 ? 200 : 201)));
  });
});
