import { expect } from 'chai';
import { divide } from '../../../src/domain/articles/passages.ts';
import { plainText } from '../../../src/domain/articles/plain-text.ts';

const shown = (markdown: string) => divide(markdown).map(({ headings, text }) => [headings.join(' > '), text] as const);

describe('the passages of an article', () => {
  it('are the parts below its headings, with the headings above them', () => {
    const markdown = 'First.\n\n# One\n\nA.\n\n## *Two* #\n\nB.\n\n# Three\n## Empty\n## Four\nC.';
    expect(shown(markdown)).to.deep.equal([
      ['', 'First.'],
      ['One', 'A.'],
      ['One > Two', 'B.'],
      ['Three > Four', 'C.'],
    ]);
  });

  it('know underlined headings, and neither rules nor lists nor tables for such', () => {
    expect(shown('Title\n=====\nA.\n\nPart\n---\nB.')).to.deep.equal([
      ['Title', 'A.'],
      ['Title > Part', 'B.'],
    ]);
    expect(shown('A.\n\n---\n\nB.')).to.have.length(1);
    expect(shown('- item\n---\nB.')).to.have.length(1);
    expect(shown('of\ntwo lines\n---\nB.')).to.have.length(1);
  });

  it('leave code as it is', () => {
    expect(shown('# Code\n\n```sh\n# no heading\n```\n\nAfter.')).to.deep.equal([
      ['Code', '```sh\n# no heading\n```\n\nAfter.'],
    ]);
    expect(shown('~~~\n```\n# no heading\n~~~\n# Heading\nText.')).to.deep.equal([
      ['', '~~~\n```\n# no heading\n~~~'],
      ['Heading', 'Text.'],
    ]);
  });

  it('of long sections end at paragraphs, lines, words, and at last anywhere, and lose nothing', () => {
    const paragraph = 'word '.repeat(150).trim();
    for (const long of [
      Array.from({ length: 9 }, () => paragraph).join('\n\n'),
      Array.from({ length: 9 }, () => paragraph).join('\n'),
      Array.from({ length: 9 }, () => paragraph).join(' '),
      'x'.repeat(7000),
    ]) {
      const texts = divide(long).map(({ text }) => text);
      expect(Math.max(...texts.map((text) => text.length))).to.be.at.most(1500);
      expect(texts.join('').replaceAll(/\s/g, '')).to.equal(long.replaceAll(/\s/g, ''));
    }
  });

  it('are 200 at most, and lose nothing', () => {
    const sections = Array.from({ length: 1234 }, (_, index) => `# Heading ${index}\n\nText ${index}.`);
    const passages = divide(sections.join('\n\n'));
    expect(passages.length).to.be.at.most(200);
    const all = passages.map(({ heading, text }) => `${heading}\n${text}`).join('\n');
    for (let index = 0; index < sections.length; index++) {
      expect(all).to.match(new RegExp(`Heading ${index}\\b`));
      expect(all).to.contain(`Text ${index}.`);
    }
  });

  it('are one at least', () => {
    expect(divide('# Only a heading')).to.deep.equal([{ heading: null, headings: [], text: '# Only a heading' }]);
  });
});

describe('the plain text of Markdown', () => {
  for (const [markdown, plain] of [
    ['## A *bold* __word__ and snake_case', 'A bold word and snake_case'],
    ['> - [a link](https://example.com "title") ![picture](x.png)', 'a link picture'],
    ['| a | b |\n|---|:-:|\n| c | d |', 'a   b  \n c   d'],
    ['```js\ncode()\n```', 'code()'],
    ['1. one <b>two</b> <https://example.com> 3 < 4', 'one  two   3 < 4'],
    ['\\*not bold\\*', '*not bold*'],
  ] as const)
    it(`of ${JSON.stringify(markdown)}`, () => {
      expect(plainText(markdown).replaceAll(/^ +| +$/gm, '')).to.equal(plain.replaceAll(/^ +| +$/gm, ''));
    });
});
