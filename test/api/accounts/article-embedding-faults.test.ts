import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { meaningOf } from '../../support/meanings.ts';
import { embeddings, FakeModelServer, type EmbeddingReply } from '../../support/model-server.ts';
import { addAccount } from '../../support/people.ts';

const byMeaning = embeddings.by(meaningOf);
const refused = embeddings.refuse(400, 'Not this one');
const refunds = { title: 'Money matters', content: 'We reimburse any purchase within thirty days.' };
// No word in common with the article, in any form.
const paraphrase = 'I want my cash returned';

/** An article of so many sections, the last of which is about refunds. */
function sections(count: number, text: (section: number) => string): object {
  const texts = Array.from({ length: count - 1 }, (_, index) => `# Part ${index}\n\n${text(index)}`);
  return { title: 'Long', content: [...texts, '# End\n\nRefunds take a week.'].join('\n\n') };
}

describe('articles that a server embeds one after the other', function () {
  this.timeout(60_000);
  let app: TestApp;
  let server: FakeModelServer;

  before(async () => {
    server = await FakeModelServer.start();
    app = await TestApp.start({
      config: { llmEmbeddingRetryMs: 30, llmEmbeddingBatch: 32, llmEmbeddingChanges: 1000 },
    });
    await useServer(app, {});
  });
  after(async () => {
    await app.stop();
    await server.close();
  });
  afterEach(async () => {
    server.embeddings = byMeaning;
    for (const { id } of await app.query<{ id: number }>('SELECT id FROM articles WHERE account_id = 1'))
      await app.delete(`articles/${id}`);
  });

  async function useServer(of: TestApp, fields: object, account = 1, headers = {}): Promise<void> {
    const llm = { base_url: server.baseUrl, model: 'small', api_key: 'sk-1', embedding_model: 'meaning-1', ...fields };
    expect((await of.patch(`/api/v1/accounts/${account}`, { llm }, headers)).status).to.equal(200);
  }
  const make = async (fields: object, of = app) =>
    expect((await of.post('articles', { tags: [], ...fields })).status).to.equal(201);
  async function titles(q: string, of = app): Promise<string[]> {
    const { status, body } = await of.get(`articles/search?q=${encodeURIComponent(q)}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.payload.map(({ title }: { title: string }) => title);
  }
  const isFound = async () => (await titles(paraphrase)).length === 1;
  const health = async () => (await app.get('/api/v1/accounts/1')).body.embeddings;
  const lengths = () =>
    app.query<{ length: number | null; count: number }>(
      `SELECT length(v.signs) AS length, count(*) AS count FROM passage_signs v JOIN embedding_tasks t USING (account_id)
       WHERE v.account_id = 1 AND v.generation = t.generation GROUP BY 1 ORDER BY 1`,
    );

  it('keep what it answered when it fails in between', async () => {
    let asked = 0;
    server.embeddings = (response, question) => {
      if (question.body.input.length > 1) return refused(response, question);
      asked += 1;
      return (asked % 5 === 0 ? embeddings.refuse(500, 'Oops') : byMeaning)(response, question);
    };
    await make(sections(12, (section) => `Text ${section}.`));
    await app.eventually(isFound);
    expect(await lengths()).to.deep.equal([{ length: 64, count: 12 }]);
    expect(await health()).to.include({ state: 'ok' });
  });

  it('are found behind any number of texts that it does not take', async () => {
    server.embeddings = (response, question) =>
      (question.body.input.some((text) => text.includes('unspeakable')) ? refused : byMeaning)(response, question);
    await make(sections(6, () => 'An unspeakable word.'));
    await app.eventually(isFound);
    expect(await lengths()).to.deep.equal([
      { length: 64, count: 1 },
      { length: null, count: 5 },
    ]);
    expect(await health()).to.include({ state: 'ok' });
  });

  it('stay taken by the process that has them embedded, however long all of them take', async () => {
    const held: (() => void)[] = [];
    server.embeddings = (response, question) => {
      const { input } = question.body;
      if (input.length > 1) return refused(response, question);
      if (input[0] === 'Hello') return byMeaning(response, question);
      held.push(() => byMeaning(response, question));
    };
    const due = async () => {
      const [task] = await app.query<{ due: number; claim: number }>(
        'SELECT extract(epoch FROM due_at)::float8 AS due, claim FROM embedding_tasks WHERE account_id = 1',
      );
      return task!;
    };
    await make(sections(3, (section) => `Text ${section}.`));
    await app.eventually(async () => held.length === 1);
    const first = await due();
    held[0]!();
    await app.eventually(async () => held.length === 2);
    const second = await due();
    expect(second.due).to.be.above(first.due);
    expect(second.claim).to.equal(first.claim);
    server.embeddings = byMeaning;
    held[1]!();
    await app.eventually(async () => held.length === 3 || (await isFound()));
    held[2]?.();
    await app.eventually(isFound);
  });

  it('have vectors of one length, and are found by their words, while it answers now these and now those', async () => {
    const longer = embeddings.by((text) => [...meaningOf(text), 1]);
    server.embeddings = (response, question) => {
      const { input } = question.body;
      if (input.length > 1) return refused(response, question);
      return (input[0]!.includes('1') ? longer : byMeaning)(response, question);
    };
    await useServer(app, { embedding_model: 'meaning-2' });
    await make(sections(4, (section) => `Text ${section}.`));
    for (let round = 0; round < 20; round += 1) {
      expect(await titles('How long do refunds take?')).to.deep.equal(['Long']);
      await titles(paraphrase);
      expect((await lengths()).length).to.be.at.most(1);
    }
    server.embeddings = byMeaning;
    await app.eventually(isFound);
  });

  it('are no trouble any more when they are gone', async () => {
    server.embeddings = embeddings.refuse(500, 'Oops');
    await make(refunds);
    await app.eventually(async () => (await health()).state === 'failing');
    for (const { id } of await app.query<{ id: number }>('SELECT id FROM articles WHERE account_id = 1'))
      await app.delete(`articles/${id}`);
    await app.eventually(async () => (await health()).state === 'ok');
  });

  it('are found while the same server refuses another account, or one question', async () => {
    const patient = await TestApp.start({ config: { llmEmbeddingRetryMs: 60_000 } });
    const byKey: EmbeddingReply = (response, question) => {
      const { headers, body } = question;
      if (headers.authorization !== 'Bearer sk-1') return embeddings.refuse(401, 'Wrong key')(response, question);
      return (body.input.some((text) => text.includes('unspeakable')) ? refused : byMeaning)(response, question);
    };
    server.embeddings = byKey;
    await useServer(patient, {});
    const { id: other, administrator } = await addAccount(patient, 'Other');
    await useServer(patient, { api_key: 'wrong' }, other, administrator.headers);
    await make(refunds, patient);
    await patient.eventually(async () => (await titles(paraphrase, patient)).length === 1);
    await patient.get(`/api/v1/accounts/${other}/articles/search?q=cash`, administrator.headers);
    expect(await titles(paraphrase, patient)).to.deep.equal(['Money matters']);
    expect(await titles('unspeakable', patient)).to.deep.equal([]);
    expect(await titles(paraphrase, patient)).to.deep.equal(['Money matters']);
    const { body } = await patient.get('/api/v1/accounts/1');
    expect(body.embeddings).to.deep.equal({ state: 'ok', last_error: null, since: null });
    await patient.stop();
  });
});
