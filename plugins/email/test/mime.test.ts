import assert from 'node:assert';
import { test } from 'node:test';
import { headerText, textOfBytes } from '../decode.ts';
import { readMime } from '../mime.ts';

const lines = (...all: string[]): string => all.join('\r\n');

test('reads texts, files and nested parts', () => {
  const mail = readMime(
    lines(
      'From: "Ada L" <Ada@example.org>',
      'Subject: =?utf-8?B?SMOkbGxv?= =?utf-8?Q?_du?=',
      'References: <a@x>',
      ' <b@x>',
      'Content-Type: multipart/mixed; boundary="out"',
      '',
      'preamble',
      '--out',
      'Content-Type: multipart/alternative; boundary=in',
      '',
      '--in',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'H=C3=A4l=',
      'lo',
      '--in',
      'Content-Type: text/html',
      '',
      '<p>Hello</p>',
      '--in--',
      '--out',
      "Content-Disposition: attachment; filename*0*=utf-8''%C3%A4; filename*1=.txt",
      'Content-Transfer-Encoding: base64',
      '',
      'YQ==',
      '--out',
      'Content-Type: message/delivery-status',
      '',
      'Action: failed',
      '--out--',
      'epilogue',
    ),
  );
  assert.deepEqual(mail.from, { address: 'ada@example.org', name: 'Ada L' });
  assert.deepEqual([mail.subject, mail.text, mail.html], ['Hällo du', 'Hällo', '<p>Hello</p>']);
  assert.deepEqual(mail.headers.get('references'), ['<a@x> <b@x>']);
  assert.deepEqual(mail.files, [
    { file_name: 'ä.txt', data: 'YQ==' },
    { file_name: 'file-2', data: btoa('Action: failed') },
  ]);
  assert.deepEqual(mail.reports, ['Action: failed']);
});

test('reads other encodings', () => {
  assert.equal(textOfBytes('F\u00fcr 5 \u0080', 'windows-1252'), 'Für 5 €');
  assert.equal(textOfBytes('\u00d0\u00d2', 'KOI8-R'), 'пр');
  assert.equal(textOfBytes('\u00c3\u00a4', 'x-unknown'), 'ä');
  assert.equal(headerText('plain \u00c3\u00a4 =?iso-8859-1?q?=FC?='), 'plain ä ü');
  assert.equal(headerText('100% =?x'), '100% =?x');
});

test('survives mails that are none', () => {
  for (const text of ['', '\r\n', 'no mail', 'From: x\n\n', 'Content-Type: multipart/mixed; boundary=b\n\n--b'])
    assert.equal(readMime(text).from, null);
  const deep = Array.from({ length: 500 }, (_, at) => `Content-Type: multipart/mixed; boundary=${at}\n\n--${at}`);
  assert.deepEqual(readMime(deep.join('\n')).files, []);
  const many = `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nx\n'.repeat(5_000)}`;
  assert.ok(readMime(many).text.length < 1_000);
  const begun = performance.now();
  for (const text of ['=?', '=?a?q?', ' \n ', '"; a=', '--b\n'])
    readMime(
      `Subject: ${text.repeat(20_000)}\nContent-Type: text/plain; ${text.repeat(20_000)}\n\n${text.repeat(20_000)}`,
    );
  assert.ok(performance.now() - begun < 2_000);
});
