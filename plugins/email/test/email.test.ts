import assert from 'node:assert';
import { test } from 'node:test';
import { textOfHtml } from '../html.ts';
import { kindOf, ownId, ownIds, readReport } from '../kinds.ts';
import { addressIn, headersOf, threadOf, type Mail } from '../mail.ts';
import { mailOf } from '../outgoing.ts';
import { readPostmark, readPostmarkStatus } from '../postmark.ts';
import { fold } from '../quoted.ts';

const address = 'support@example.com';
const plain: Mail = {
  from: { address: 'ada@example.org' },
  subject: 'Order',
  text: 'Hello',
  html: '',
  headers: new Map(),
  files: [],
  reports: [],
};
const withHeader = (name: string, value: string): Mail => ({ ...plain, headers: headersOf([[name, value]]) });

test('tells people from machines', () => {
  const automatic: [string, string][] = [
    ['Auto-Submitted', 'auto-generated'],
    ['auto-submitted', 'Auto-Replied; x=y'],
    ['Precedence', 'Bulk'],
    ['List-Unsubscribe', '<mailto:x>'],
    ['X-Auto-Response-Suppress', 'DR, OOF'],
    ['X-Autoreply', 'yes'],
    ['Return-Path', '<>'],
  ];
  for (const [name, value] of automatic) assert.equal(kindOf(withHeader(name, value), address), 'automatic', name);
  const personal: [string, string][] = [
    ['Auto-Submitted', 'no'],
    ['Precedence', 'normal'],
    ['X-Auto-Response-Suppress', 'None'],
    ['Return-Path', '<ada@example.org>'],
  ];
  for (const [name, value] of personal) assert.equal(kindOf(withHeader(name, value), address), 'personal', name);
  assert.equal(kindOf({ ...plain, from: { address: 'Support@Example.com' } }, address), 'own');
  assert.equal(kindOf({ ...plain, from: { address: 'mailer-daemon@example.org' } }, address), 'report');
  assert.equal(kindOf(withHeader('Content-Type', 'multipart/report; report-type=x'), address), 'report');
});

test('finds its own mails in reports, and no others', () => {
  const id = ownId({ message: 7, hash: 'a'.repeat(64), address });
  assert.equal(id, `<message.7.${'a'.repeat(24)}@example.com>`);
  assert.deepEqual(ownIds(`x ${id} ${id} <message.7.${'a'.repeat(24)}@evil.example>`, address), [id]);
  const report = (text: string): Mail => ({ ...plain, reports: [`${text}\nMessage-ID: ${id}`] });
  assert.deepEqual(
    readReport(
      report(
        'Final-Recipient: rfc822; Ada@example.org\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 full',
      ),
      address,
    ),
    {
      id,
      recipients: ['ada@example.org'],
      reason: '552 full (5.2.2)',
    },
  );
  assert.equal(readReport(report('Action: delayed\nStatus: 4.2.2'), address), null);
  assert.equal(readReport(plain, address), null);
});

test('folds what is quoted below, and keeps answers between quotes', () => {
  const quote = 'On Mon, 1 Jan 2026, Support <support@example.com> wrote:\n> Hello';
  assert.deepEqual(fold(`Thanks\r\n\r\n${quote}`), { text: 'Thanks', quoted: quote });
  assert.equal(fold('Danke\n\nAm 01.01.2026 um 10:00 schrieb Support <s@example.com>:\n> Hallo').text, 'Danke');
  assert.equal(fold('Yes\n\n-----Original Message-----\nFrom: S').text, 'Yes');
  assert.equal(fold('Yes\n\n________________________________\nFrom: Support\nSent: Monday').text, 'Yes');
  assert.equal(fold('Yes\n\nFrom: Support\nSent: Monday\nHello').text, 'Yes');
  const wrapped = 'Yes\n\nOn Mon, 1 Jan 2026 at 10:00, Support\n<support@example.com> wrote:\n> Hello';
  assert.equal(fold(wrapped).text, 'Yes');
  const between = `See below\n${quote}\nMy answer\n> More`;
  assert.deepEqual(fold(between), { text: between, quoted: '' });
  assert.deepEqual(fold(quote), { text: quote, quoted: '' });
  assert.deepEqual(fold('No quote'), { text: 'No quote', quoted: '' });
  assert.equal(fold(`x\n${'On '.repeat(50_000)}`).quoted, '');
});

test('reads the words of HTML, each character once', () => {
  assert.equal(textOfHtml('<p>One &amp; two</p><p>Three<br>four</p><style>p{}</style>'), 'One & two\n\nThree\nfour');
  assert.equal(textOfHtml('1 < 2 &#8364;&#x41;&bogus; <!-- no --><script>x</script>'), '1 < 2 €A&bogus;');
  assert.equal(textOfHtml(`a${'<style>'.repeat(20_000)}`), 'a');
});

test('finds addresses and threads', () => {
  assert.equal(addressIn('Ada <Ada@Example.org>'), 'ada@example.org');
  assert.equal(addressIn('nobody'), null);
  const headers = headersOf([
    ['In-Reply-To', '<c@x>'],
    ['References', '<a@x>\r\n <b@x> <c@x>'],
  ]);
  assert.deepEqual(threadOf({ headers }), ['<c@x>', '<b@x>', '<a@x>']);
});

test('reads mails and bounces of Postmark', () => {
  const read = readPostmark({
    FromFull: { Email: 'Ada@example.org' },
    Attachments: [{ Name: 'a.txt', Content: '' }, {}],
  });
  assert.deepEqual(read.files, [
    { file_name: 'a.txt', hook: '/Attachments/0/Content' },
    { file_name: 'file-2', hook: '/Attachments/1/Content' },
  ]);
  const about = { Metadata: { 'switchboard-message': '7' } };
  assert.deepEqual(readPostmarkStatus({ RecordType: 'Delivery', ...about }, address), {
    message: 7,
    status: 'delivered',
    sentTo: [],
  });
  assert.equal(readPostmarkStatus({ RecordType: 'Bounce', Type: 'AutoResponder', ...about }, address), null);
  assert.equal(readPostmarkStatus({ RecordType: 'Bounce', Type: 'HardBounce' }, address), null);
  assert.equal(readPostmarkStatus({ RecordType: 'Bounce', Type: 'HardBounce', ...about }, address)?.status, 'failed');
});

test('answers in the thread, and says which mails nobody wrote', () => {
  const message = {
    id: 7,
    content: 'Yes',
    content_type: 'text' as const,
    content_attributes: {},
    attachments: [],
    source_id: 'ada@example.org',
    in_reply_to: { external_id: '<b@x>', mail: { subject: 'Order', references: ['<a@x>'] } },
    references: ['<b@x>'],
    created_at: 1_700_000_000,
    conversation_id: 1,
    sender: { id: 1, name: 'Grace', type: 'User' },
  };
  const sending = { id: '<own@x>', address, provider: 'postmark' };
  const sent = mailOf(message, sending);
  assert.equal(sent.subject, 'Re: Order');
  assert.deepEqual(sent.references, ['<a@x>', '<b@x>', '<own@x>']);
  assert.equal(sent.headers?.['auto-submitted'], undefined);
  assert.equal(sent.headers?.['x-pm-metadata-switchboard-message'], '7');
  const bot = mailOf({ ...message, sender: { id: 1, name: 'Bot', type: 'AgentBot' } }, sending);
  assert.equal(bot.headers?.['auto-submitted'], 'auto-replied');
  const first = mailOf({ ...message, in_reply_to: null, references: [], content: 'News\nBcc: x' }, sending);
  assert.equal(first.subject, 'News Bcc: x');
  assert.throws(() => mailOf({ ...message, source_id: 'x' }, sending), /no|not an address/);
});
