import { expect } from 'chai';
import { adminToken, TestApp } from '../../support/app.ts';
import { meaningOf } from '../../support/meanings.ts';
import { embeddings, FakeModelServer, type EmbeddingReply } from '../../support/model-server.ts';
import { addAccount } from '../../support/people.ts';

const key = 'sk-account-4711';
const byMeaning = embeddings.by(meaningOf);
const refunds = { title: 'Money matters', content: 'We reimburse any purchase within thirty days.' };
// No word in common with the article, in any form.
const paraphrase = 'I want my cash returned';

describe('articles that are found by what they mean', function () {
  this.timeout(60_000);
  let app: TestApp;
  let server: FakeModelServer;
  let made = 0;

  before(async () => {
    server = await FakeModelServer.start();
    app = await TestApp.start({
      config: { llmTimeoutMs: 5_000, llmEmbeddingRetryMs: 30, llmEmbeddingQueryMs: 3_000, llmEmbeddingBatch: 32 },
    });
  });
  after(async () => {
    await app.stop();
    await server.close();
  });
  beforeEach(async () => {
    server.embeddings = byMeaning;
    server.embedded.length = 0;
    await useModel('meaning-1');
  });
  afterEach(async () => {
    for (const { id } of await app.query<{ id: number }>('SELECT id FROM articles WHERE account_id = 1'))
      await app.delete(`articles/${id}`);
  });

  async function useModel(model: string | null, more: object = {}): Promise<void> {
    const llm = { base_url: server.baseUrl, model: 'small', api_key: key, embedding_model: model, ...more };
    const { status, body } = await app.patch('/api/v1/accounts/1', { llm });
    expect([status, body.error]).to.deep.equal([200, undefined]);
  }

  const newTag = () => `tag-${(made += 1)}`;

  async function make(fields: object): Promise<number> {
    const { status, body } = await app.post('articles', fields);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id;
  }

  interface Found {
    id: number;
    title: string;
    score: number;
    highlight: string;
  }
  async function search(q: string, more = ''): Promise<Found[]> {
    const { status, body } = await app.get(`articles/search?q=${encodeURIComponent(q)}${more}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.payload;
  }
  const titles = async (q: string, more = '') => (await search(q, more)).map(({ title }) => title);

  const vectors = () =>
    app.query<{ generation: number; signs: string | null }>(
      `SELECT v.generation, v.signs::text FROM passage_signs v JOIN embedding_tasks t USING (account_id)
       WHERE v.account_id = 1 AND v.generation = t.generation ORDER BY v.passage_id`,
    );
  const isSettled = async () => {
    const [row] = await app.query(
      `SELECT FROM embedding_tasks t WHERE account_id = 1 AND due_at = 'infinity' AND space = $1 || ' meaning-1'
         AND NOT EXISTS (SELECT FROM article_passages p WHERE p.account_id = 1 AND p.id > t.done_id)`,
      [server.baseUrl],
    );
    return row !== undefined;
  };
  const settled = () => app.eventually(isSettled);
  const health = async () => (await app.get('/api/v1/accounts/1')).body.embeddings;

  it('are found so only where the account has a model for embeddings', async () => {
    await useModel(null);
    await make(refunds);
    expect(await titles(paraphrase)).to.deep.equal([]);
    expect(server.embedded).to.deep.equal([]);
    await useModel('meaning-1');
    await settled();
    const [found] = await search(paraphrase);
    expect(found).to.include({ title: 'Money matters', highlight: 'We reimburse any purchase within thirty days.' });
    expect(found!.score).to.be.within(0.4, 1);
    expect(await titles('Do you repair submarines?')).to.deep.equal([]);
    expect(await health()).to.deep.equal({ state: 'ok', last_error: null, since: null });
  });

  it('are told to the server as title, heading and plain words, and nothing else is', async () => {
    await make({ title: 'Billing', content: '# Late *refunds*\n\nAsk the **desk** at [home](https://acme.example).' });
    await settled();
    const [{ headers, body }] = server.embedded as [FakeModelServer['embedded'][number]];
    expect(body).to.deep.equal({
      model: 'meaning-1',
      input: ['Billing\nLate refunds\nAsk the desk at home.'],
      encoding_format: 'float',
    });
    expect(headers.authorization).to.equal(`Bearer ${key}`);
    server.embedded.length = 0;
    await search('Where is the desk?');
    expect(server.embedded.map(({ body: { input } }) => input)).to.deep.equal([['Where is the desk?']]);
  });

  it('stand before what is found in one way alone', async () => {
    const tag = newTag();
    await make({ title: 'Cash desk', content: 'The cash desk is on the left.', tags: [tag] });
    await make({ title: 'Lost and found', content: 'What was lost waits at the left exit.', tags: [tag] });
    await make({ ...refunds, tags: [tag] });
    await settled();
    const found = await search('Where is the cash desk on the left?', `&tags[]=${tag}`);
    expect(found.map(({ title }) => title)).to.deep.equal(['Cash desk', 'Lost and found', 'Money matters']);
    expect(found[0]!.score).to.be.above(found[1]!.score);
  });

  for (const [what, reply, sentence] of [
    ['has none (404)', embeddings.refuse(404, 'Not Found'), 'does not know the model'],
    ['refuses the key', embeddings.refuse(401, `Incorrect API key ${key}`), 'refuses the API key'],
    ['refuses everything', embeddings.refuse(400, 'No'), 'refuses the request'],
    ['fails', embeddings.refuse(500, 'Oops'), 'failed'],
    ['hangs', embeddings.hang(), 'took too long'],
    ['answers HTML', embeddings.text('<html>Welcome</html>'), 'no JSON'],
    ['answers NaN', embeddings.text('{"data":[{"index":0,"embedding":[NaN,1]}]}'), 'no JSON'],
    ['answers null for a number', embeddings.by(() => [1, null, 1]), 'no number'],
    ['answers texts', embeddings.by(() => ['1', '2']), 'no number'],
    ['answers zeros', embeddings.by(() => [0, 0, 0]), 'no direction'],
    ['answers what is too large for a number', embeddings.by(() => [1.7e308, 1.7e308, 1.7e308]), 'no direction'],
    ['answers one number', embeddings.by(() => [1]), '2 to 4096'],
    ['answers 5,000 numbers', embeddings.by(() => Array.from({ length: 5000 }, () => 1)), '2 to 4096'],
    ['answers no vector', embeddings.body({ data: [] }), '0 vectors in place of 1'],
    ['answers no list', embeddings.body({ data: {} }), 'no JSON object with `data`'],
    ['answers more than it may', embeddings.text(`"${'x'.repeat(5_000_000)}"`), 'bytes'],
  ] as const) {
    it(`are found by their words while the server ${what}, and the account’s record says so until it answers`, async () => {
      server.embeddings = reply;
      await make(refunds);
      expect(await titles('reimburse a purchase')).to.deep.equal(['Money matters']);
      await app.eventually(async () => (await health()).state === 'failing');
      expect((await health()).last_error)
        .to.include(sentence)
        .and.not.include(key);
      expect((await health()).since).to.be.a('number');
      expect(await titles(paraphrase)).to.deep.equal([]);
      expect(await vectors()).to.deep.equal([]);
      server.embeddings = byMeaning;
      await app.eventually(async () => (await titles(paraphrase)).length === 1);
      await settled();
      expect((await health()).state).to.equal('ok');
    });
  }

  it('are found by their words when the question’s vector does not come in time, or is another model’s', async () => {
    await make(refunds);
    await settled();
    for (const reply of [embeddings.hang(), embeddings.by(() => [1, 2, 3])] as EmbeddingReply[]) {
      server.embeddings = reply;
      const begun = performance.now();
      expect(await titles(paraphrase)).to.deep.equal([]);
      expect(await titles('reimburse')).to.deep.equal(['Money matters']);
      expect(performance.now() - begun).to.be.below(15_000);
      server.embeddings = byMeaning;
      await app.eventually(async () => (await titles(paraphrase)).length === 1);
    }
    expect(await health()).to.include({ state: 'ok' });
  });

  it('are embedded anew when the model answers vectors of another length from now on', async () => {
    await make(refunds);
    await settled();
    const longer = embeddings.by((text) => [...meaningOf(text), ...meaningOf(text)]);
    server.embeddings = longer;
    await make({ title: 'Tower', content: 'The lighthouse is tall.' });
    await app.eventually(async () => (await titles('Which beacon?')).length === 1);
    expect(await titles(paraphrase)).to.deep.equal(['Money matters']);
  });

  it('are the account’s own', async () => {
    const { id: other, administrator } = await addAccount(app, 'Other');
    const llm = { base_url: server.baseUrl, model: 'small', embedding_model: 'meaning-1' };
    expect((await app.patch(`/api/v1/accounts/${other}`, { llm }, administrator.headers)).status).to.equal(200);
    await make(refunds);
    await settled();
    const path = `/api/v1/accounts/${other}/articles`;
    const search2 = () => app.get(`${path}/search?q=${encodeURIComponent(paraphrase)}`, administrator.headers);
    expect((await search2()).body.payload).to.deep.equal([]);
    await app.post(path, { title: 'Theirs', content: 'Refunds take a week.' }, administrator.headers);
    await app.eventually(async () => (await search2()).body.payload.length === 1);
    expect((await search2()).body.payload[0].title).to.equal('Theirs');
    expect(await titles(paraphrase)).to.deep.equal(['Money matters']);
    const keys = server.embedded.filter(({ headers }) => headers.authorization === `Bearer ${key}`);
    expect(JSON.stringify(keys.map(({ body }) => body))).not.to.include('Refunds take a week');
  });

  it('are those with the tags, in the languages, and published', async () => {
    await make({ ...refunds, tags: ['shop'], language: 'pt-BR' });
    const draft = await make({ title: 'Draft', content: 'Refunds, soon.', published: false });
    await settled();
    expect(await titles(paraphrase)).to.deep.equal(['Money matters']);
    for (const [more, count] of [
      ['&tags[]=shop', 1],
      ['&tags[]=shop&tags[]=other', 1],
      ['&tags[]=other', 0],
      ['&languages[]=pt', 1],
      ['&languages[]=PT-br&tags[]=shop', 1],
      ['&languages[]=en', 0],
    ] as const)
      expect(await titles(paraphrase, more), more).to.have.lengthOf(count);
    await app.patch(`articles/${draft}`, { published: true });
    await app.eventually(async () => (await titles(paraphrase)).length === 2);
    await app.patch(`articles/${draft}`, { published: false });
    expect(await titles(paraphrase)).to.deep.equal(['Money matters']);
  });

  it('are found by what they say now, and not at all when they are gone', async () => {
    const id = await make(refunds);
    await settled();
    expect(await titles(paraphrase)).to.have.lengthOf(1);
    await app.patch(`articles/${id}`, { content: 'The lighthouse keeper is away.' });
    expect(await titles(paraphrase)).to.deep.equal([]);
    await settled();
    expect(await titles(paraphrase)).to.deep.equal([]);
    expect(await titles('Which beacon?')).to.have.lengthOf(1);
    expect(await vectors()).to.have.lengthOf(1);
    await app.delete(`articles/${id}`);
    expect(await app.query('SELECT FROM passage_signs WHERE account_id = 1')).to.deep.equal([]);
    expect(await titles('Which beacon?')).to.deep.equal([]);
  });

  it('are embedded anew for another model, and never compared with vectors of the one before', async () => {
    await make(refunds);
    await settled();
    const [before] = await vectors();
    // The new model is slow: until it has answered, there is nothing to compare.
    const held: (() => void)[] = [];
    server.embeddings = (response, question) => {
      const isPassage = question.body.input.some((text) => text.includes('reimburse'));
      if (isPassage && question.body.model === 'meaning-2') held.push(() => byMeaning(response, question));
      else byMeaning(response, question);
    };
    await useModel('meaning-2');
    await app.eventually(async () => held.length === 1);
    expect(await titles(paraphrase)).to.deep.equal([]);
    held.forEach((answer) => answer());
    await app.eventually(async () => (await titles(paraphrase)).length === 1);
    expect((await vectors())[0]!.generation).to.be.above(before!.generation);
    expect((await app.query('SELECT FROM passage_signs WHERE account_id = 1')).length).to.equal(1);
  });

  it('lose their vectors when the account has no model for embeddings any more', async () => {
    await make(refunds);
    await settled();
    await useModel(null);
    expect(await titles(paraphrase)).to.deep.equal([]);
    await app.eventually(async () => (await app.query('SELECT FROM passage_signs WHERE account_id = 1')).length === 0);
    expect((await app.get('/api/v1/accounts/1')).body.llm).not.to.have.property('embedding_model');
    await useModel('meaning-1');
    await app.eventually(async () => (await titles(paraphrase)).length === 1);
    await app.patch('/api/v1/accounts/1', { llm: null });
    expect(await titles(paraphrase)).to.deep.equal([]);
  });

  it('are embedded without a transaction that waits for the server', async () => {
    const held: (() => void)[] = [];
    server.embeddings = (response, question) => void held.push(() => byMeaning(response, question));
    await make(refunds);
    await app.eventually(async () => held.length > 0);
    // Those of others come and go.
    await app.eventually(async () => {
      const open = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
      return (await app.query(open)).length === 0;
    });
    // Whoever writes articles meanwhile does not wait either.
    await make({ title: 'Tower', content: 'The lighthouse is tall.' });
    server.embeddings = byMeaning;
    held.forEach((answer) => answer());
    await settled();
    expect(await vectors()).to.have.lengthOf(2);
  });

  it('that the server does not take are left out, and the others are found', async () => {
    const isBad = (text: string) => text.includes('unspeakable');
    server.embeddings = (response, question) =>
      question.body.input.some(isBad)
        ? embeddings.refuse(400, 'Not this one')(response, question)
        : byMeaning(response, question);
    await make({ title: 'Tower', content: 'The lighthouse is tall.' });
    await settled();
    await make({ title: 'Curse', content: 'An unspeakable refund.' });
    await settled();
    await make({
      title: 'Longer',
      content: '# One\n\nAn unspeakable word.\n\n# Two\n\nThe courier.\n\n# Three\n\nRefunds.',
    });
    await settled();
    expect(await titles(paraphrase)).to.deep.equal(['Longer']);
    expect(await titles('Which shipment?')).to.deep.equal(['Longer']);
    expect((await vectors()).filter(({ signs }) => signs === null)).to.have.lengthOf(2);
    expect((await health()).state).to.equal('ok');
    expect(await titles('unspeakable')).to.have.members(['Curse', 'Longer']);
  });

  it('are embedded in batches after an import of a thousand, also by the next process', async () => {
    const held: (() => void)[] = [];
    let answers = 0;
    server.embeddings = (response, question) => {
      answers += 1;
      if (answers <= 5) byMeaning(response, question);
      else held.push(() => byMeaning(response, question));
    };
    const lines = Array.from({ length: 1000 }, (_, index) =>
      JSON.stringify({ title: `Article ${index}`, content: index === 999 ? refunds.content : `Number ${index}.` }),
    );
    // Nothing fails here: the pause after a failure would be seen.
    const second = await TestApp.start({ config: { llmEmbeddingRetryMs: 600_000 } });
    try {
      const form = new FormData();
      form.set('file', new Blob([lines.join('\n')]), 'articles.jsonl');
      const llm = { base_url: server.baseUrl, model: 'small', embedding_model: 'meaning-1' };
      await second.patch('/api/v1/accounts/1', { llm });
      const imported = await fetch(`${second.url}/api/v1/accounts/1/articles/import`, {
        method: 'POST',
        body: form,
        headers: { api_access_token: adminToken },
      });
      expect([imported.status, ((await imported.json()) as { created: number }).created]).to.deep.equal([200, 1000]);
      await second.eventually(async () => held.length > 0);
      const done = await second.query('SELECT FROM passage_signs');
      expect(done.length).to.be.within(1, 160);
      await second.app.stop();
      server.embeddings = byMeaning;
      server.embedded.length = 0;
      const third = await TestApp.start({
        databaseUrl: second.databaseUrl,
        config: { llmEmbeddingQueryMs: 10_000 },
      });
      await third.eventually(async () => (await third.query('SELECT FROM passage_signs')).length === 1000);
      const sizes = server.embedded.map(({ body: { input } }) => input.length);
      expect(Math.max(...sizes)).to.equal(32);
      expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.at.most(1000 - done.length + 32);
      const { body } = await third.get(`articles/search?q=${encodeURIComponent(paraphrase)}`);
      expect(body.payload.map(({ title }: { title: string }) => title)).to.deep.equal(['Article 999']);
      await third.stop();
    } finally {
      held.forEach((answer) => answer());
    }
  });

  it('are found so by the model of the service where the account has no server of its own', async () => {
    const config = {
      llmBaseUrl: server.baseUrl,
      llmModel: 'house',
      llmEmbeddingModel: 'meaning-3',
      llmApiKey: 'sk-house',
    };
    const house = await TestApp.start({ config });
    await house.post('articles', refunds);
    const found = async () => (await house.get(`articles/search?q=${encodeURIComponent(paraphrase)}`)).body.payload;
    await house.eventually(async () => (await found()).length === 1);
    expect(server.embedded.at(-1)!.body.model).to.equal('meaning-3');
    expect(server.embedded.at(-1)!.headers.authorization).to.equal('Bearer sk-house');
    // An account with a server of its own tells the operator's nothing.
    await house.patch('/api/v1/accounts/1', { llm: { base_url: server.baseUrl, model: 'own' } });
    server.embedded.length = 0;
    expect(await found()).to.deep.equal([]);
    expect(server.embedded).to.deep.equal([]);
    await house.patch('/api/v1/accounts/1', { llm: null });
    await house.eventually(async () => (await found()).length === 1);
    await house.app.stop();
    // The operator takes another model: the next start finds out.
    const renewed = await TestApp.start({
      config: { ...config, llmEmbeddingModel: 'meaning-4' },
      databaseUrl: house.databaseUrl,
    });
    const again = async () => (await renewed.get(`articles/search?q=${encodeURIComponent(paraphrase)}`)).body.payload;
    await renewed.eventually(async () => (await again()).length === 1);
    expect(server.embedded.at(-1)!.body.model).to.equal('meaning-4');
    await renewed.stop();
  });
});
