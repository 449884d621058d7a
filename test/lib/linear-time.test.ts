import { expect } from 'chai';
import { cleanTitle } from '../../plugins/ai-bot/clean-text.ts';
import { findKeyword } from '../../plugins/ai-bot/keywords.ts';
import { extract } from '../../plugins/ai-bot/extract.ts';
import { withoutHtml } from '../../plugins/ai-bot/html.ts';
import { languageOf } from '../../plugins/ai-bot/language.ts';
import { removeLinks } from '../../plugins/ai-bot/links.ts';
import { lines } from '../../plugins/ai-bot/lines.ts';
import { answerOffline } from '../../plugins/ai-bot/offline.ts';
import { personWishOf } from '../../plugins/ai-bot/person-wish.ts';
import { isShort } from '../../plugins/ai-bot/questions.ts';
import { smallTalkOf } from '../../plugins/ai-bot/small-talk.ts';
import { headerText } from '../../plugins/email/decode.ts';
import { textOfHtml } from '../../plugins/email/html.ts';
import { readReport } from '../../plugins/email/kinds.ts';
import { readMime } from '../../plugins/email/mime.ts';
import { fold } from '../../plugins/email/quoted.ts';
import { nameOf } from '../../src/cli/chatwoot/files.ts';
import { isEmail, titleOf } from '../../src/cli/chatwoot/read/settings.ts';
import { questionsOf } from '../../src/domain/articles/questions.ts';
import { withoutQuestionWords, splitQuestion } from '../../src/domain/articles/question-words.ts';
import { comparable } from '../../src/domain/articles/languages.ts';
import { articleOf } from '../../src/domain/articles/markdown-article.ts';
import { divide } from '../../src/domain/articles/passages.ts';
import { plainText } from '../../src/domain/articles/plain-text.ts';
import { linesOf } from '../../src/domain/articles/quoted-mail.ts';
import { fillTemplate, readTemplate } from '../../src/domain/bots/tools/url-template.ts';
import { safeName } from '../../src/lib/text/file-name.ts';
import { checkIfMatch } from '../../src/http/conditional/entity-tag.ts';
import { parseJsonBody } from '../../src/http/route/body/json-text.ts';
import { printable } from '../../src/lib/text/printable.ts';
import { storableJson, storableText } from '../../src/lib/text/storable.ts';
import { explainRefusal } from '../../src/models/explain-refusal.ts';
import { callerNetwork } from '../../src/outbound/addresses.ts';
import { readUrl } from '../../src/outbound/url.ts';
import { Redaction } from '../../src/runs/doors/redaction.ts';
import { matchesRecord } from '../../src/runs/replayer.ts';
import { inAuthorsFiles, withoutMap } from '../../src/sandbox/source-map.ts';
import { splitLinks } from '../../web/widget/links.ts';
import { isLinear } from '../support/growth.ts';

interface Reader {
  read: (text: string) => unknown;
  /** Characters that it is given at most. */
  most: number;
  /** Texts to put before and behind a run, beside those that all get. */
  around?: readonly (readonly [string, string])[];
  /** Texts to repeat, beside those that all get. */
  runs?: readonly string[];
}

const emptyMail = { from: null, subject: '', text: '', html: '', headers: new Map<string, string[]>(), files: [] };
const [content, query, header] = [150_000, 10_000, 16_384];
const redaction = new Redaction();
redaction.add('key', 'aaaaaaaaab');

/** Lines and beginnings of lines that mails have. */
const mails = [
  'On Monday, Kim wrote:\n',
  'On Monday, Kim\n<kim@a.test> wrote:\n',
  'on a',
  'wrote:',
  'wrote: ',
  'schrieb',
  'am schrieb ',
  'From: a\n',
  'From: a\nTo: b\n',
  'thanks\n',
  'mit viele liebe ',
  '> ',
  '>\n',
  '-- \n',
  're: ',
  'fwd: a\n',
  'confidential ',
  'vertraulich',
  'sent from ',
  'forwarded message ',
  'a? ',
  'can i ',
];

/** Every function that reads text from outside on the event loop, in a bot or in a customer's page. */
const readers: Record<string, Reader> = {
  withoutQuestionWords: { read: (text) => withoutQuestionWords(splitQuestion(text), 'en'), most: query },
  comparable: { read: comparable, most: query },
  plainText: {
    read: plainText,
    most: content,
    around: [
      ['[', ']'],
      ['![](', ')'],
      ['<a', '>'],
      ['<https:', '>'],
      ['# ', ''],
    ],
  },
  divide: {
    read: divide,
    most: content,
    around: [
      ['# ', '#'],
      ['```\n', ''],
      ['a\n', '='],
      ['a\n-', 'a'],
    ],
  },
  articleOf: {
    read: (text) => articleOf('a.md', text),
    most: content,
    around: [
      ['---\nkey:', '\u2028\n---\n'],
      ['---\nkey: [', ']\n---\n'],
      ['---\nkey:\n -', '\u2028\n---\n'],
      ['---\nkey: "', '"\n---\n'],
    ],
  },
  'articleOf, its name': {
    read: (text) => articleOf(text, ''),
    most: header,
    around: [
      ['a.', '.md'],
      ['.d', ''],
    ],
  },
  safeName: {
    read: safeName,
    most: header,
    around: [
      ['a.', 'a'],
      ['a/', 'a'],
    ],
  },
  titleOf: { read: titleOf, most: 255 },
  isEmail: {
    read: isEmail,
    most: 255,
    around: [
      ['a@', ''],
      ['a@b', '.'],
    ],
  },
  nameOf: {
    read: nameOf,
    most: 2048,
    around: [
      ['https://example.test/', 'a'],
      ['https://example.test/?filename=', ''],
    ],
  },
  storableText: { read: (text) => storableText(text, content), most: content },
  storableJson: { read: (text) => storableJson({ text }), most: content },
  parseJsonBody: {
    read: (text) => parseJsonBody(Buffer.from(text)),
    most: content,
    around: [
      ['"', '"'],
      ['[', ']'],
      ['[1', ']'],
      ['{"', '":1}'],
    ],
  },
  'parseJsonBody, a text': { read: (text) => parseJsonBody(Buffer.from(JSON.stringify(text))), most: content },
  printable: { read: printable, most: content },
  checkIfMatch: {
    read: (text) => attempt(() => checkIfMatch(text, 'W/"a"')),
    most: header,
    around: [
      ['"', ''],
      ['W/"', '"'],
      ['"",', '"'],
    ],
  },
  callerNetwork: {
    read: callerNetwork,
    most: header,
    around: [
      ['::1%', '\n%'],
      ['::', 'g'],
    ],
  },
  readUrl: {
    read: (text) => readUrl(text, { httpsOnly: true }),
    most: 2048,
    around: [
      ['https://', ''],
      ['https://a/', ''],
    ],
  },
  explainRefusal: {
    read: (message) =>
      explainRefusal({ status: 400, message }, { baseUrl: 'https://a.test', apiKey: 'aaaaaaaaab' } as never),
    most: content,
  },
  redaction: { read: (text) => redaction.apply({ text }), most: content },
  matchesRecord: {
    read: (text) => matchesRecord(text, text),
    most: content,
    around: [
      ['[secret ', ']'],
      ['[secret a]', 'a'],
    ],
  },
  withoutMap: {
    read: withoutMap,
    most: content,
    around: [['\n//# sourceMappingURL=data:application/json;base64,', '\n!']],
  },
  inAuthorsFiles: {
    read: (text) => inAuthorsFiles(text, ''),
    most: 20_000,
    around: [
      ['bot.js:', 'a'],
      ['bot.js:1:', 'a'],
    ],
  },
  findKeyword: { read: (text) => findKeyword(text, ['aaaaab', '. .', 'talk to a human']), most: content },
  extract: {
    read: (text) => extract({ text }, 'a question with words'),
    most: 20_000,
    around: [
      ['. ', 'a'],
      ['.)', 'a'],
    ],
  },
  questionsOf: {
    read: questionsOf,
    most: query,
    around: [
      ['> ', ''],
      ['On ', ' wrote:'],
      ['Is ', '?'],
      ['Hello, ', 'can i '],
      ['a\nThanks\n', ''],
    ],
  },
  'linesOf, a mail': {
    read: linesOf,
    most: query,
    around: [
      ['a\n', ' a?'],
      ['a\n', '> a'],
      ['on aaaaaaa\nb wrote:', 'a'],
      ['on aaaaaaa wrote:', 'a'],
      ['von meinem ', ' gesendet'],
      ['-- Original ', 'a'],
      ['Subject: fwd: ', 'a'],
    ],
    runs: mails,
  },
  'questionsOf, a mail': { read: questionsOf, most: query, around: [['a\n', '\nis it?']], runs: mails },
  personWishOf: { read: personWishOf, most: content, runs: ['want me to ', 'per person ', 'für eine '] },
  isShort: { read: isShort, most: content },
  answerOffline: {
    read: (said) => answerOffline({ said, passages: [passageOf(said.slice(0, 20_000))], before: [] }, lines.en),
    most: content,
    runs: ['and ', 'a?" ', 'a   b\n'],
  },
  cleanTitle: { read: (title) => cleanTitle({ title }, []), most: 255 },
  fillTemplate: {
    read: (text) => fillTemplate('https://a.test/{a}?b={b}', new Map(['a', 'b'].map((name) => [name, text]))),
    most: 8_192,
    runs: ['../', 'qz0zq', '%2e'],
  },
  readTemplate: { read: readTemplate, most: 2_048, around: [['https://a/', '{a}']], runs: ['{a}', '{'] },
  smallTalkOf: { read: smallTalkOf, most: content },
  languageOf: { read: (text) => languageOf([text], ['en']), most: content },
  withoutHtml: {
    read: withoutHtml,
    most: 20_000,
    around: [
      ['<a ', '>'],
      ['<script>', ''],
      ['<script', ''],
      ['<!--', '-->'],
      ['<', ''],
    ],
  },
  removeLinks: {
    read: (text) => removeLinks(text, ['https://example.test/a']),
    most: 20_000,
    around: [
      ['https://', 'a'],
      ['[', '](a)'],
      ['[a](', ')'],
      ['[a](b ', ')'],
      ['a.', ''],
      ['a@', '.com'],
      ['mailto:', ''],
    ],
  },
  textOfHtml: { read: textOfHtml, most: content, runs: ['<style></style>', '<style>', '<!-- ', '&a;'] },
  fold: { read: fold, most: content, runs: mails },
  headerText: { read: headerText, most: header, runs: ['=?a?q?', '=?a?q?a?= '] },
  readMime: {
    read: readMime,
    most: content,
    around: [
      ['From: a', 'a'],
      ['From: <', 'a'],
      ['Content-Type: multipart/mixed; boundary=b\n\n', ''],
      ['Content-Transfer-Encoding: quoted-printable\n\n=', 'a'],
    ],
    runs: ['a:\n', '--b\n'],
  },
  readReport: {
    read: (text) => readReport({ ...emptyMail, reports: [text] }, 'a@a.test'),
    most: content,
    around: [
      ['Diagnostic-Code:', 'a'],
      ['Diagnostic-Code: a', ';'],
      ['Message-ID:', '<a>'],
    ],
    runs: ['Action:', 'Message-ID:\n', '<message.1.'],
  },
  splitLinks: {
    read: splitLinks,
    most: content,
    around: [
      ['https://', 'a'],
      ['https://a', ''],
      ['https://[', ']'],
    ],
  },
};

const punctuation = Array.from('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~');
const letters = ['a', '0', 'ß', 'İ', '漢', 'ก', '\u{1f600}'];
const spaces = [' ', '\t', '\n', '\r', '\u00a0', '\u2028'];
// The last four grow when they are made compatible, by up to eighteen.
const odd = ['\0', '\u001b', '\u0301', '\u200d', '\u202e', '\ud800', '\udc00', '⁗', '…', 'ﬃ', 'ﷺ'];
const repeated = [
  'https://a ',
  'www.a.b ',
  'a.',
  '<a',
  '<a>',
  '](',
  '[](',
  '[a](b) ',
  '",',
  '\\u0000',
  '[secret ',
  '# a\n',
  'a\n\n',
  '. ',
];
const contexts = [
  ['', ''],
  ['a', 'a'],
] as const;

describe('Texts from outside', () => {
  for (const [name, { read, most, around = [], runs: own = [] }] of Object.entries(readers)) {
    it(`are read in time linear in their length by ${name}`, () => {
      const runs = [...punctuation, ...letters, ...spaces, ...odd, ...repeated, ...own];
      for (const run of runs)
        for (const context of [...contexts, ...around])
          for (const unit of new Set([run, run.normalize('NFKC')])) {
            const isFine = isLinear((size) => reading(unit, size, context), most);
            expect(isFine, `a run of ${JSON.stringify(unit)} between ${JSON.stringify(context)}`).to.equal(true);
          }
    });

    function reading(unit: string, size: number, [before, behind]: readonly [string, string]): () => unknown {
      const text = before + unit.repeat(Math.ceil(size / unit.length)) + behind;
      // Flat: a text that is still a rope of its parts is joined by its first reader.
      const flat = Buffer.from(text, 'utf16le').toString('utf16le');
      return () => read(flat);
    }
  }
});

function passageOf(text: string) {
  const found = {
    id: 1,
    title: 'a',
    url: null,
    language: 'en',
    heading: null,
    score: 1,
    answers: true,
    question: text,
  };
  return { ...found, text, words: ['a', 'and'], matches: { words: 2, of: 2 } };
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Refused, which is an answer as well.
  }
}
