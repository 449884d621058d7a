import { expect } from 'chai';
import { articleOf } from '../../../src/domain/articles/markdown-article.ts';

const read = (...lines: string[]) => {
  const found = articleOf('returns.md', `---\n${lines.join('\n')}\n---\nContent.`);
  return 'problem' in found ? found.problem : found.article;
};
const base = { title: 'returns', content: 'Content.', path: 'returns.md' };

describe('the front matter of an article', () => {
  it('is YAML: quotes, comments, lists and texts of several lines', () => {
    expect(read('title: "Refunds" # short')).to.deep.equal({ ...base, title: 'Refunds' });
    expect(read("title: 'It''s \"so\"'")).to.deep.equal({ ...base, title: 'It\'s "so"' });
    expect(read('tags: ["a, b", c]')).to.deep.equal({ ...base, tags: ['a, b', 'c'] });
    expect(read('tags:', '  - a # first', '  - "b: c"')).to.deep.equal({ ...base, tags: ['a', 'b: c'] });
    expect(read('summary: >', '  More', '  than a line', 'title: >-', '  Refunds', '  and returns')).to.deep.equal({
      ...base,
      title: 'Refunds and returns',
    });
    expect(read('author: { name: Kim }', 'date: 2026-01-01', 'language: de')).to.deep.equal({
      ...base,
      language: 'de',
    });
  });

  it('keeps titles and tags as they are written, also where they look like numbers', () => {
    expect(read('title: 007', 'tags: [2026-01-01, 1.0, yes]', 'published: false')).to.deep.equal({
      ...base,
      title: '007',
      tags: ['2026-01-01', '1.0', 'yes'],
      published: false,
    });
    expect(read('url:', 'tags: one', '# nothing', '')).to.deep.equal({ ...base, url: null, tags: ['one'] });
  });

  it('may have lines that end as on Windows, and a mark of its bytes', () => {
    expect(articleOf('x.md', '\uFEFF---\r\ntitle: A\r\n---\r\nB.\r\nC.')).to.deep.equal({
      article: { title: 'A', content: 'B.\nC.', path: 'x.md' },
    });
  });

  it('is refused in a sentence where it is no YAML, or says no names', () => {
    expect(read('title: "Refunds')).to.match(/^the front matter is no YAML: line 2: /);
    expect(read('- a list')).to.equal('the front matter is no YAML of names and values');
    expect(read('a: &a x', 'tags: [*a, [x]]', 'title: { a: b }')).to.deep.equal({ ...base, tags: [{}, {}], title: {} });
    expect(read(`title: ${'['.repeat(4000)}`)).to.match(/^the front matter is no YAML/);
    expect(read(`title: ${'x'.repeat(9000)}`)).to.equal(
      'the front matter has no end within 8192 characters: a line of three hyphens is missing',
    );
  });
});
