import { expect } from 'chai';
import { answerThreshold, searchPassages } from '../../../src/domain/articles/search.ts';
import { TestApp } from '../../support/app.ts';
import { addPerson } from '../../support/people.ts';

interface Found {
  id: number;
  title: string;
  heading: string | null;
  score: number;
  highlight: string;
}

describe('articles', () => {
  let app: TestApp;
  let made = 0;

  before(async function () {
    this.timeout(60_000);
    app = await TestApp.start({ engine: false });
  });

  after(() => app.stop());

  // Each test looks in its own articles.
  const newTag = () => `tag-${(made += 1)}`;

  async function make(fields: object): Promise<number> {
    const { status, body } = await app.post('articles', { title: 'Untitled', content: 'Nothing.', ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id;
  }

  async function search(q: string, tag: string, more = ''): Promise<Found[]> {
    const { status, body } = await app.get(`articles/search?q=${encodeURIComponent(q)}&tags[]=${tag}${more}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.payload;
  }

  const titles = async (q: string, tag: string, more = '') => (await search(q, tag, more)).map(({ title }) => title);

  it('are published, in English and without tags unless said otherwise, and say nothing', async () => {
    const { body } = await app.post('articles', { title: 'Opening hours', content: 'We open at nine.' });
    expect(body).to.include({ language: 'en', published: true, url: null, path: null, account_id: 1 });
    expect(body.tags).to.deep.equal([]);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('are found by their words, in any form, the passage that says most first', async () => {
    const tag = newTag();
    await make({
      title: 'Reset your password',
      content:
        'Lost it?\n\n## On the web\n\nOpen the login page and choose **Forgot password**.\n\n## By phone\n\nCall us.',
      tags: [tag],
    });
    await make({ title: 'Delete your account', content: 'This ends your password too.', tags: [tag] });
    const [first, second] = await search('How do I reset passwords I forgot?', tag);
    expect(first).to.include({ title: 'Reset your password', heading: 'On the web' });
    expect(first!.highlight).to.contain('<mark>Forgot</mark> <mark>password</mark>');
    expect(first!.score).to.be.above(answerThreshold).and.at.most(1);
    expect(second).to.include({ title: 'Delete your account' });
    expect(second!.score).to.be.below(answerThreshold);
  });

  it('are found by misspelt words', async () => {
    const tag = newTag();
    await make({ title: 'Invoices and receipts', content: 'Download every invoice as a PDF.', tags: [tag] });
    for (const q of ['invocie', 'recipts', 'downlod invoices', 'reciepts'])
      expect(await titles(q, tag), q).to.deep.equal(['Invoices and receipts']);
    expect(await titles('inventory', tag)).to.deep.equal([]);
  });

  // The database compares a word of thousands of letters with every similar word of the account: seconds for each question.
  it('are found by words of more than 50 letters only as these are written', async () => {
    const tag = newTag();
    const [longest, tooLong] = [5, 6].map((times) => 'ribonucleo'.repeat(times));
    await make({ title: 'Chemistry', content: `About ${longest} and ${tooLong}.`, tags: [tag] });
    for (const q of [longest!, tooLong!, longest!.replace('ribo', 'rbio')])
      expect(await titles(q, tag), q).to.deep.equal(['Chemistry']);
    expect(await titles(tooLong!.replace('ribo', 'rbio'), tag)).to.deep.equal([]);
  });

  it('are found in their language', async () => {
    const tag = newTag();
    await make({
      title: 'Konto kündigen',
      content: 'Sie können Ihr Konto jederzeit kündigen.',
      language: 'de',
      tags: [tag],
    });
    await make({ title: 'Lieferzeiten', content: 'Ein Paket braucht drei Werktage.', language: 'de', tags: [tag] });
    await make({ title: 'Cancel an account', content: 'You can cancel at any time.', language: 'en', tags: [tag] });
    await make({ title: '退款政策', content: '您可以在三十天内申请退款。', language: 'zh', tags: [tag] });
    expect((await titles('Kündigung meines Kontos', tag))[0]).to.equal('Konto kündigen');
    expect((await titles('Paketlieferzeit', tag))[0], 'a compound').to.equal('Lieferzeiten');
    expect((await titles('如何申请退款', tag))[0]).to.equal('退款政策');
    expect(await titles('cancelling accounts', tag, '&languages[]=de')).to.not.include('Cancel an account');
    expect((await titles('cancelling accounts', tag, '&languages[]=en'))[0]).to.equal('Cancel an account');
    await make({ title: 'Cancelar a conta', content: 'Cancele.', language: 'pt-BR', tags: [tag] });
    for (const wanted of ['pt', 'pt-br', 'PT-BR'])
      expect(await titles('cancelar', tag, `&languages[]=${wanted}`), wanted).to.deep.equal(['Cancelar a conta']);
    expect(await titles('cancelar', tag, '&languages[]=pt-PT')).to.deep.equal([]);
  });

  it('are not found before they are published, and no more when they are not', async () => {
    const tag = newTag();
    const id = await make({ title: 'Warranty', content: 'Two years.', tags: [tag], published: false });
    expect(await titles('warranty', tag)).to.deep.equal([]);
    await app.patch(`articles/${id}`, { published: true });
    expect(await titles('warranty', tag)).to.deep.equal(['Warranty']);
    await app.patch(`articles/${id}`, { content: 'Three years for batteries.' });
    expect(await titles('batteries', tag)).to.deep.equal(['Warranty']);
    await app.patch(`articles/${id}`, { published: false });
    expect(await titles('warranty', tag)).to.deep.equal([]);
    await app.patch(`articles/${id}`, { published: true });
    await app.delete(`articles/${id}`);
    expect(await titles('warranty', tag)).to.deep.equal([]);
  });

  it('have their words counted as they are', async () => {
    const count = () =>
      app.query<{ language: string; word: string; passages: number }>(
        'SELECT language, word, passages FROM article_words ORDER BY language, word',
      );
    const recount = () =>
      app.query<{ language: string; word: string; passages: number }>(
        `SELECT language COLLATE "C" AS language, word COLLATE "C" AS word, count(*) AS passages
         FROM article_passages, unnest(array_append(tsvector_to_array(search), '')) AS word
         GROUP BY 1, 2 ORDER BY 1, 2`,
      );
    const id = await make({ title: 'Zebra crossing', content: 'A zebra.\n\n# Second\n\nAnother zebra.' });
    expect(await count()).to.deep.equal(await recount());
    await app.patch(`articles/${id}`, { content: 'No animal.', language: 'de' });
    expect(await count()).to.deep.equal(await recount());
    await app.delete(`articles/${id}`);
    expect(await count()).to.deep.equal(await recount());
    expect((await count()).map(({ word }) => word)).to.not.include('zebra');
  });

  it('are listed by state, tag and language, of which pt includes pt-BR', async () => {
    const tag = newTag();
    const names: Record<number, string> = {};
    const kinds = [
      { language: 'pt', published: true },
      { language: 'pt-BR', published: false },
      { language: 'de', published: true },
    ];
    for (const fields of kinds) {
      const title = `${tag} ${fields.language}`;
      names[await make({ ...fields, title, tags: [tag, 'of all'] })] = fields.language;
    }
    await make({ title: `${tag} of another tag`, tags: [`${tag}0`], language: 'pt' });
    const listed = async (query: string): Promise<string[]> => {
      const { status, body } = await app.get(`articles?tag=${tag}&${query}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.meta.count).to.equal(body.payload.length);
      return body.payload.map(({ id }: { id: number }) => names[id] ?? 'another');
    };
    expect(await listed('')).to.have.members(['pt', 'pt-BR', 'de']);
    expect(await listed('published=true')).to.have.members(['pt', 'de']);
    expect(await listed('published=false')).to.deep.equal(['pt-BR']);
    expect(await listed('language=PT')).to.have.members(['pt', 'pt-BR']);
    expect(await listed('language=pt-BR&published=true')).to.deep.equal([]);
    for (const wrong of ['published=perhaps', 'language=English', 'tag='])
      expect((await app.get(`articles?${wrong}`)).status, wrong).to.equal(400);
  });

  it('are told whether a bot would answer with them', async () => {
    const tag = newTag();
    await make({ title: 'Watering orchids', content: 'Water orchids once a week.', tags: [tag] });
    const [good] = await search('watering orchids', tag);
    expect(good).to.deep.include({ title: 'Watering orchids', answers: true });
    const [weak] = await search('water cannons drowning seventeen elephants tomorrow', tag);
    expect(weak).to.deep.include({ title: 'Watering orchids', answers: false });
  });

  it('are found by what is asked within a message, with the score of that sentence', async () => {
    const tag = newTag();
    await make({ title: 'Watering orchids', content: 'Water orchids once a week.', tags: [tag] });
    await make({ title: 'Garden parties', content: 'We rent tables for a party.', tags: [tag] });
    const question = 'How often are orchids watered?';
    const [bare] = await search(question, tag);
    expect(bare).to.deep.include({ title: 'Watering orchids', answers: true, question });
    const around = `Hello, I was given a plant by my aunt when I moved house. It stands in the hall, next to a table. ${question} Kind regards, Kim`;
    const [found] = await search(around, tag);
    expect(found).to.deep.include({ title: 'Watering orchids', answers: true, question, score: bare!.score });
    const told = await search('My neighbour and I rent the old hall. We would like a table for the party.', tag);
    expect(told[0]).to.include({ title: 'Garden parties', question: 'We would like a table for the party.' });
  });

  it('are found by what a mail below asks where the message itself asks nothing', async () => {
    const tag = newTag();
    await make({ title: 'Watering orchids', content: 'Water orchids once a week.', tags: [tag] });
    await make({ title: 'Garden parties', content: 'We rent tables for a party.', tags: [tag] });
    const below =
      '\n\n-----Original Message-----\nFrom: Kim\nSent: Monday\nSubject: Plants\n\nHow often are orchids watered?';
    const [found] = await search(`See below, please.${below}`, tag);
    expect(found).to.deep.include({
      title: 'Watering orchids',
      answers: true,
      question: 'How often are orchids watered?',
    });
    expect(await titles(`Do you rent tables for parties?${below}`, tag)).to.deep.equal(['Garden parties']);
  });

  it('have a word with a hyphen once among those that match', async () => {
    await make({ title: 'Hire', content: 'We hire e-bikes to adults.', tags: [newTag()] });
    const sql = app.app.database.sql;
    const [found] = await searchPassages(sql, 1, 'Deposit for e-bikes', { limit: 1, tags: [`tag-${made}`] });
    expect(found?.matches).to.deep.equal({ words: 1, of: 2 });
  });

  it('show what was found as HTML whose only tags are marks', async () => {
    const tag = newTag();
    const content =
      'Write `<script>alert("x")</script>` & <b>bold</b> widgets, [widget](javascript:alert(1)) <img src=x>';
    await make({ title: 'Widgets', content, tags: [tag] });
    const [found] = await search('widget', tag);
    expect(found!.highlight).to.contain('<mark>widgets</mark>');
    expect(found!.highlight.replaceAll(/<\/?mark>/g, '')).to.not.match(/[<>"']/);
  });

  it('give what they hold to their own account alone', async () => {
    await app.query(`INSERT INTO accounts (id, name) VALUES (2, 'Other')`);
    const { headers } = await addPerson(app, { name: 'Other', role: 'administrator', accountId: 2 });
    const other = '/api/v1/accounts/2/articles';
    const url = 'https://help.example.com/recipe';
    const both = await Promise.all([
      app.post('articles', { title: 'Secret recipe', content: 'Cinnamon and cardamom.', url }),
      app.call('POST', other, { title: 'Cardamom recipe', content: 'Cardamom and cumin.', url }, headers),
    ]);
    expect(both.map(({ status }) => status)).to.deep.equal([201, 201]);
    const sql = app.app.database.sql;
    for (const [account, title] of [
      [1, 'Secret recipe'],
      [2, 'Cardamom recipe'],
    ] as const) {
      // What fits better in the other account does not take the only place either.
      for (const limit of [1, 3]) {
        const found = await searchPassages(sql, account, 'recipe with cardamom', { limit });
        expect(found.map((passage) => passage.title)).to.deep.equal([title]);
      }
    }
    expect((await app.call('GET', `${other}/${both[0].body.id}`, undefined, headers)).status).to.equal(404);
    expect((await app.get('articles/search?q=cumin')).body.payload).to.deep.equal([]);
  });

  it('are searched with any text there is', async () => {
    const tag = newTag();
    await make({
      title: "It's \\ a 'quote'",
      content: "O'Brien & | ! ( ) <-> :* \\' word example.com/it's",
      tags: [tag],
    });
    for (const q of [
      "o'brien",
      `' | '`,
      '\\',
      '!!',
      ':*',
      '((',
      '& | !',
      '😀',
      'a'.repeat(2000),
      'the',
      '?',
      'x '.repeat(900),
    ]) {
      const { status } = await app.get(`articles/search?q=${encodeURIComponent(q)}`);
      expect(status, q).to.equal(200);
    }
    for (const q of ["o'brien quote", "example.com/it's"]) expect(await titles(q, tag), q).to.have.length(1);
    const sql = app.app.database.sql;
    for (const q of ['\0', 'half \ud83d', '退款'.repeat(100_000), 'word '.repeat(50_000)])
      expect(await searchPassages(sql, 1, q, { limit: 3 }), q.slice(0, 9)).to.be.an('array');
  });

  it('are searched for something', async () => {
    for (const query of ['', '?q=', '?q=%20', '?q=x&limit=26', '?q=x&languages[]=deutsch'])
      expect((await app.get(`articles/search${query}`)).status, query).to.equal(400);
  });
});
