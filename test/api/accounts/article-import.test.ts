import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { adminToken, TestApp, type Answer } from '../../support/app.ts';
import { archiveOf } from '../../support/archives.ts';
import { hold, untilWaiting } from '../../support/lock.ts';
import { zipOf } from '../../support/zip.ts';

describe('the import of articles', () => {
  let app: TestApp;
  let made = 0;

  before(async function () {
    this.timeout(60_000);
    app = await TestApp.start({
      engine: false,
      config: { articleImportEntries: 200, articleImportUnpackedBytes: 200_000 },
    });
  });

  after(() => app.stop());

  // Each test imports articles of its own.
  const newName = (what: string) => `${what}-${(made += 1)}`;
  const linesOf = (...lines: (object | string)[]) =>
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

  async function send(
    name: string,
    file: string | Buffer,
    fields: Record<string, string> = {},
    key?: string,
  ): Promise<Answer> {
    const form = new FormData();
    form.set('file', new Blob([typeof file === 'string' ? file : new Uint8Array(file)]), name);
    for (const [field, value] of Object.entries(fields)) form.set(field, value);
    const path = `${app.url}/api/v1/accounts/1/articles/import`;
    const response = await fetch(path, {
      method: 'POST',
      body: form,
      headers: { api_access_token: adminToken, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async function imported(...sent: Parameters<typeof send>): Promise<Answer['body']> {
    const { status, body } = await send(...sent);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }

  const counts = (created: number, updated: number, unchanged: number) => ({ created, updated, unchanged, errors: [] });

  function articles(where: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
    return app.query(
      `SELECT title, content, url, path, language, tags, published FROM articles WHERE ${where} ORDER BY id`,
      values,
    );
  }

  const titlesFound = async (q: string) =>
    (await app.get(`articles/search?q=${encodeURIComponent(q)}`)).body.payload.map(
      ({ title }: { title: string }) => title,
    );

  it('takes JSON lines, and the same again changes nothing', async () => {
    const url = `https://help.example.com/${newName('page')}`;
    const path = `${newName('guide')}.md`;
    const first = { title: 'Kaffeemühle', content: 'Mahlgrad einstellen.', url, language: 'de', tags: ['grinder'] };
    const second = { title: 'Espresso', content: 'Nine bars.', path, published: false };
    const third = { title: newName('Anonymous'), content: 'Neither URL nor path.' };
    const file = linesOf(first, '', second, '   ', third);
    await app.events();
    expect(await imported('articles.jsonl', file)).to.deep.equal(counts(3, 0, 0));
    expect(await imported('articles.ndjson', file.replaceAll('\n', '\r\n'))).to.deep.equal(counts(0, 0, 3));
    expect(await app.eventNames()).to.deep.equal([]);
    expect(await articles('url = $1', url)).to.deep.equal([{ ...first, path: null, published: true }]);
    expect(await articles('path = $1', path)).to.deep.equal([{ ...second, url: null, language: 'en', tags: [] }]);
    expect(await titlesFound('Mahlgrad der Kaffeemühle')).to.deep.equal(['Kaffeemühle']);
  });

  it('changes the article with the URL, or else with the path, in what the line says', async () => {
    const url = `https://help.example.com/${newName('page')}`;
    const path = `${newName('guide')}.md`;
    const { body: present } = await app.post('articles', { title: 'Old', content: 'Quokka.', url, tags: ['kept'] });
    expect(await imported('a.jsonl', linesOf({ title: 'New', content: 'Wombat.', url, path }))).to.deep.equal(
      counts(0, 1, 0),
    );
    const { body: changed } = await app.get(`articles/${present.id}`);
    expect(changed).to.deep.include({ title: 'New', content: 'Wombat.', url, path, tags: ['kept'] });
    expect(await titlesFound('wombat')).to.deep.equal(['New']);
    expect(await titlesFound('quokka')).to.deep.equal([]);
    expect(await imported('a.jsonl', linesOf({ title: 'Newer', content: 'Wombat.', path }))).to.deep.equal(
      counts(0, 1, 0),
    );
    expect((await app.get(`articles/${present.id}`)).body).to.include({ title: 'Newer', url });
  });

  it('tells each broken line by its number, and imports the others', async () => {
    const path = newName('path');
    const good = { title: newName('good'), content: 'Good.' };
    const file = Buffer.concat([
      Buffer.from(
        linesOf(
          { ...good, path },
          '{"title": "cut',
          '',
          { title: 'No content' },
          { ...good, url: 'ftp://example.com' },
          { ...good, path: '../../etc/passwd' },
          { ...good, path },
          '"text"',
          '{"title": "a\\u0000b", "content": "NUL"}',
        ),
      ),
      Buffer.from([0x0a, 0xff, 0xfe, 0x0a]),
      Buffer.from(linesOf({ title: newName('last'), content: 'After all of them.' })),
    ]);
    const { errors, ...rest } = await imported('articles.jsonl', file);
    expect(rest).to.deep.equal({ created: 2, updated: 0, unchanged: 0 });
    expect(errors.map(({ line, error }: { line: number; error: string }) => `${line} ${error}`)).to.deep.equal([
      '2 The line is not JSON',
      '4 `content` is missing',
      '5 `url` must be a URL that begins with https:// or http://',
      '6 `path` must be a plain relative path such as guides/returns.md',
      '7 Line 1 is the same article: it has the same URL or path',
      '8 The line must be an object',
      '9 `title` contains a NUL character',
      '10 The line is not valid UTF-8',
    ]);
  });

  it('refuses a line whose URL and path are those of two articles', async () => {
    const [url, path] = [`https://help.example.com/${newName('page')}`, newName('path')];
    await imported(
      'a.jsonl',
      linesOf({ title: 'By URL', content: '1', url }, { title: 'By path', content: '2', path }),
    );
    const { errors } = await imported('a.jsonl', linesOf({ title: 'Both', content: '3', url, path }));
    expect(errors).to.have.length(1);
    expect(errors[0].error).to.match(/^The URL is that of article \d+, the path that of article \d+$/);
  });

  it('gives a URL or a path that one line takes from an article to another line', async () => {
    const urls = ['one', 'two', 'three', 'four'].map((name) => `https://help.example.com/${newName(name)}`);
    const paths = ['a', 'b', 'c', 'd'].map((name) => newName(name));
    const page = (path?: string, url?: string) => ({ title: newName('Moved'), content: 'Moved.', path, url });
    const namesOf = async () => (await articles('path = ANY ($1::text[])', paths)).map(({ path, url }) => [path, url]);
    expect(await imported('a.jsonl', linesOf(page(paths[0], urls[0]), page(paths[1], urls[1])))).to.deep.equal(
      counts(2, 0, 0),
    );
    // A page has moved, and another one is where it was.
    expect(await imported('a.jsonl', linesOf(page(paths[0], urls[2]), page(paths[2], urls[0])))).to.deep.equal(
      counts(1, 1, 0),
    );
    // One moves after the other.
    expect(await imported('a.jsonl', linesOf(page(paths[1], urls[3]), page(paths[0], urls[1])))).to.deep.equal(
      counts(0, 2, 0),
    );
    expect(await namesOf()).to.deep.equal([
      [paths[0], urls[1]],
      [paths[1], urls[3]],
      [paths[2], urls[0]],
    ]);
    // A file has another name, and another file has its name.
    const moved = linesOf(page(paths[3], urls[1]), page(paths[0], urls[2]));
    expect(await imported('a.jsonl', moved)).to.deep.equal(counts(1, 1, 0));
    expect(await imported('a.jsonl', moved)).to.deep.equal(counts(0, 0, 2));
    expect(await namesOf()).to.deep.equal([
      [paths[3], urls[1]],
      [paths[1], urls[3]],
      [paths[2], urls[0]],
      [paths[0], urls[2]],
    ]);
  });

  it('takes two lines for one article, one by its URL and one by its path, after each other', async () => {
    const [url, path] = [`https://help.example.com/${newName('page')}`, newName('path')];
    await imported('a.jsonl', linesOf({ title: 'First', content: 'Numbat.', url, path }));
    const lines = linesOf({ title: 'Second', content: 'Bilby.', url }, { title: 'Third', content: 'Quoll.', path });
    expect(await imported('a.jsonl', lines)).to.deep.equal(counts(0, 2, 0));
    expect(await titlesFound('quoll')).to.deep.equal(['Third']);
    expect([await titlesFound('bilby'), await titlesFound('numbat')]).to.deep.equal([[], []]);
    const passages = await app.query(
      'SELECT text FROM article_passages WHERE article_id = (SELECT id FROM articles WHERE url = $1)',
      [url],
    );
    expect(passages).to.deep.equal([{ text: 'Quoll.' }]);
  });

  it('counts a text without URL and path once, however often the file has it', async () => {
    const line = { title: newName('Twice'), content: 'The same.' };
    expect(await imported('a.jsonl', linesOf(line, line))).to.deep.equal(counts(1, 0, 1));
    expect(await imported('a.jsonl', linesOf(line, line))).to.deep.equal(counts(0, 0, 2));
    expect(await articles('title = $1', line.title)).to.have.length(1);
  });

  const matter = `---\ntitle: "Returns: how"\nlanguage: de\ntags: [returns, 'refund']\npublished: false\nauthor: Ada\n---\n# Rückgabe\n\nText.`;
  const markdown = (folder: string) => ({
    [`${folder}/matter.md`]: matter,
    [`${folder}/heading.md`]: '# Opening *hours*\n\nWe open at nine.',
    [`${folder}/plain-name.de.md`]: 'Nur Text.',
    [`${folder}/list.md`]: '---\r\ntags:\r\n- one\r\n- "two"\r\nurl:\r\n---\r\nLines of Windows.',
    [`${folder}/picture.png`]: Buffer.from([0x89, 0x50]),
    [`__MACOSX/${folder}/._matter.md`]: 'metadata',
  });
  const expected = (folder: string) => [
    {
      title: 'Opening hours',
      content: 'We open at nine.',
      path: `${folder}/heading.md`,
      language: 'fr',
      tags: [],
      published: true,
    },
    {
      title: 'list',
      content: 'Lines of Windows.',
      path: `${folder}/list.md`,
      language: 'fr',
      tags: ['one', 'two'],
      published: true,
    },
    {
      title: 'Returns: how',
      content: '# Rückgabe\n\nText.',
      path: `${folder}/matter.md`,
      language: 'de',
      tags: ['returns', 'refund'],
      published: false,
    },
    {
      title: 'plain name',
      content: 'Nur Text.',
      path: `${folder}/plain-name.de.md`,
      language: 'de',
      tags: [],
      published: true,
    },
  ];

  for (const [kind, pack] of Object.entries({
    'articles.zip': (files: Record<string, string | Buffer>) => zipOf(files),
    'articles.tar.gz': (files: Record<string, string | Buffer>) =>
      archiveOf(Object.entries(files).map(([name, content]) => ({ name: `./${name}`, content }))),
  })) {
    it(`takes Markdown in ${kind}, and the same again changes nothing`, async () => {
      const folder = newName('folder');
      const archive = pack(markdown(folder));
      expect(await imported(kind, archive, { language: 'fr' })).to.deep.equal(counts(4, 0, 0));
      expect(await imported(kind, archive, { language: 'en' })).to.deep.equal(counts(0, 0, 4));
      const rows = await articles('path LIKE $1', `${folder}/%`);
      const sorted = rows.toSorted((one, other) => (String(one['path']) < String(other['path']) ? -1 : 1));
      expect(sorted).to.deep.equal(expected(folder).map((one) => ({ ...one, url: null })));
    });
  }

  it('takes names of any length from the archives of GNU’s tar', async () => {
    const folder = newName('long');
    const path = `${folder}/${folder.length % 2 === 0 ? '' : 'x'}${'ö'.repeat(60)}.md`;
    // The header of the file has the name's first 100 bytes, which may be half a character.
    const nameBytes = Buffer.from(path).subarray(0, 100);
    expect(nameBytes.toString()).to.include('\ufffd');
    const named = { name: '././@LongLink', type: 'L', content: `${path}\0` };
    const target = { name: '././@LongLink', type: 'K', content: `${'x'.repeat(200)}\0` };
    const link = { name: `${newName('link')}.md`, type: '2' };
    const { errors, created } = await imported(
      'a.tar.gz',
      archiveOf([named, { name: 'cut', nameBytes, content: 'Text of it.' }, target, link]),
    );
    expect([created, errors]).to.deep.equal([1, [{ line: 2, error: `${link.name}: is a symbolic link` }]]);
    expect(await articles('path = $1', path)).to.have.lengthOf(1);
  });

  it('tells each broken file by its number in the archive and its path', async () => {
    const folder = newName('folder');
    const files = {
      [`${folder}/good.md`]: 'Good.',
      [`${folder}/empty.md`]: '# Only a title',
      [`${folder}/endless.md`]: '---\ntitle: x\n',
      [`${folder}/odd.md`]: '---\n{title\n---\nText',
      [`${folder}/latin.md`]: Buffer.from('Gr\u00fc\u00dfe', 'latin1'),
      '../outside.md': 'Outside.',
    };
    const link = { name: `${folder}/link.md`, type: '2', linkname: '/etc/passwd' };
    const entries = [...Object.entries(files).map(([name, content]) => ({ name, content })), link];
    const { errors, created } = await imported('a.tgz', archiveOf(entries));
    expect(created).to.equal(1);
    const told = errors.map(({ line, error }: { line: number; error: string }) => `${line} ${error}`);
    expect(told).to.deep.equal([
      `2 ${folder}/empty.md: \`content\` must not be empty`,
      `3 ${folder}/endless.md: the front matter has no end: a line of three hyphens is missing`,
      `4 ${folder}/odd.md: the front matter is no YAML: line 2: Flow map must end with a }`,
      `5 ${folder}/latin.md: is not valid UTF-8`,
      '6 ../outside.md: `path` must be a plain relative path such as guides/returns.md',
      `7 ${folder}/link.md: is a symbolic link`,
    ]);
  });

  it('takes nothing from archives that are bombs, damaged or encrypted', async () => {
    const bomb = Buffer.alloc(300_000, 'a');
    const { errors, created } = await imported(
      'a.zip',
      zipOf({ 'good.md': newName('Good'), 'bomb.md': bomb, 'after.md': newName('x') }),
    );
    expect([created, errors.length]).to.deep.equal([2, 1]);
    expect(errors[0].error).to.match(/^bomb\.md: has more than 1999\d\d bytes$/);
    const liar = zipOf({ 'liar.md': bomb }, { size: 10 });
    expect((await imported('a.zip', liar)).errors[0].error).to.equal('liar.md: is damaged');
    const wrong = zipOf({ 'wrong.md': 'text' }, { crc: 1 });
    expect((await imported('a.zip', wrong)).errors[0].error).to.equal('wrong.md: is damaged: its checksum is wrong');
    const secret = zipOf({ 'secret.md': 'text' }, { flags: 1 });
    expect((await imported('a.zip', secret)).errors[0].error).to.equal('secret.md: is encrypted');
    const half = 'b'.repeat(120_000);
    const broken = await imported('a.zip', zipOf({ '1.md': half, '2.md': half, '3.md': half }, { crc: 1 }));
    expect(broken.errors.map(({ error }: { error: string }) => error)).to.deep.equal([
      '1.md: is damaged: its checksum is wrong',
      '2.md: has more than 80000 bytes',
      '3.md: has more than 80000 bytes',
    ]);
    const text = `${newName('Over')} ${randomBytes(5000).toString('hex')}`;
    const over = await imported(
      'a.zip',
      zipOf({ 'one.md': text, 'two.md': text, 'three.md': text }, { overlaps: true }),
    );
    expect(over).to.deep.equal({
      ...counts(1, 0, 0),
      errors: ['two', 'three'].map((name, at) => ({
        line: at + 2,
        error: `${name}.md: lies over other files of the archive`,
      })),
    });
    const linked = zipOf({ 'linked.md': '/etc/passwd' }, { mode: 0o120777 });
    expect((await imported('a.zip', linked)).errors[0].error).to.equal('linked.md: is a symbolic link');
  });

  it('refuses a file that is none of the kinds, is not what its name says, or too large', async () => {
    const zip = zipOf({ 'a.md': 'text' });
    const many = Array.from({ length: 201 }, (_, index) => ({ title: `${index}`, content: 'x' }));
    const refused: [string, string | Buffer, string][] = [
      ['articles.md', '# Title', 'must be JSON lines'],
      ['articles', '{}', 'must be JSON lines'],
      ['articles.zip', 'no archive', 'no ZIP archive'],
      ['articles.zip', zip.subarray(0, -10), 'no ZIP archive'],
      ['articles.tgz', zip, 'not gzipped'],
      ['articles.tgz', gzipSync('no tar'), 'cut off'],
      ['articles.tgz', gzipSync(Buffer.alloc(2_000_000)), 'more than 200000 bytes'],
      ['articles.jsonl', linesOf(...many), 'more than 200 articles'],
      [
        'articles.zip',
        zipOf(Object.fromEntries(many.map(({ title }) => [`${title}.md`, 'x']))),
        'more than 200 entries',
      ],
    ];
    for (const [name, file, word] of refused) {
      const { status, body } = await send(name, file);
      expect([status, body.details?.[0]?.path], `${name}: ${body.error}`).to.deep.equal([422, '/file']);
      expect(body.error).to.contain(word);
    }
    expect((await send('articles.jsonl', Buffer.alloc(9 * 1024 * 1024, ' '))).status).to.equal(413);
    expect((await app.post('articles/import', {})).status).to.equal(415);
  });

  it('takes what is compressed to megabytes: any byte may be a line break', async () => {
    const noise = Buffer.alloc(6_000_000, '\r'.padStart(200, 'x'));
    const { created } = await imported(
      'a.zip',
      zipOf({ 'noise.bin': noise, [`${newName('text')}.md`]: newName('Text') }, { method: 0 }),
    );
    expect(created).to.equal(1);
  });

  it('counts each article once when two import the same at the same time', async () => {
    const lineOf = () => ({ title: newName('Twin'), content: 'Same.', path: newName('twin') });
    const file = linesOf(...Array.from({ length: 120 }, lineOf));
    // Neither writes before both have begun.
    const letGo = await hold(app.databaseUrl, 'LOCK TABLE articles IN SHARE MODE');
    const underWay = [imported('a.jsonl', file), imported('a.jsonl', file)];
    await untilWaiting(app, 2);
    await letGo();
    const both = await Promise.all(underWay);
    const sum = (what: string) => both.reduce((total, one) => total + one[what], 0);
    expect([sum('created'), sum('updated'), sum('unchanged')]).to.deep.equal([120, 0, 120]);
    const words = await app.query<{ passages: number }>(
      `SELECT w.passages, (SELECT count(*) FROM article_passages) AS all FROM article_words w WHERE word = '' AND language = 'en'`,
    );
    const [{ count }] = (await app.query(`SELECT count(*) FROM article_passages WHERE language = 'en'`)) as [
      { count: number },
    ];
    expect(words[0]!.passages).to.equal(count);
  });

  it('is done once under a key', async () => {
    const file = linesOf({ title: newName('Keyed'), content: newName('x') });
    const [first, again] = [await imported('a.jsonl', file, {}, 'once'), await imported('a.jsonl', file, {}, 'once')];
    expect(again).to.deep.equal(first);
    expect(first).to.deep.equal(counts(1, 0, 0));
    expect(await imported('a.jsonl', file)).to.deep.equal(counts(0, 0, 1));
  });
});
