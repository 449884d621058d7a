import assert from 'node:assert';
import { test } from 'node:test';
import { cut } from '../cut.ts';
import { ownHash, ownId, readReport, replyAddressOf } from '../kinds.ts';
import { headersOf, idsIn, isAddress, isContactEmail, type Mail } from '../mail.ts';
import { textOfHtml } from '../html.ts';
import { mailOf } from '../outgoing.ts';
import { readPostmarkStatus } from '../postmark.ts';
import { readSes } from '../ses.ts';

const address = 'support@example.com';
const [earlier, late] = [
  ownId({ message: 6, hash: 'b'.repeat(64), address }),
  ownId({ message: 7, hash: 'a'.repeat(64), address }),
];
const plain: Mail = {
  from: { address: 'ada@example.org' },
  subject: 'Order',
  text: 'Hello',
  html: '',
  headers: new Map(),
  files: [],
  reports: [],
};
const message = {
  id: 7,
  content: 'Yes',
  content_type: 'text' as const,
  content_attributes: {},
  attachments: [],
  source_id: 'ada@example.org',
  in_reply_to: { external_id: 'postmark:1', mail: { subject: 'Order', references: ['a b', '<a@x>'] } },
  references: ['ses:1', '<b@x>', 'postmark:1'],
  created_at: 1_700_000_000,
  conversation_id: 1,
  sender: null,
};

test('names no mail that has no id', () => {
  const sent = mailOf(message, { id: late, address, provider: 'ses' });
  assert.equal(sent.in_reply_to, undefined);
  assert.deepEqual(sent.references, ['<a@x>', '<b@x>', late]);
  assert.equal(sent.subject, 'Re: Order');
  const long = { ...message, content: '\n'.repeat(35_000) };
  assert.throws(() => mailOf(long, { id: late, address, provider: 'ses' }), /too long for a mail/);
});

test('cuts texts between letters, and keeps what can be stored', () => {
  assert.equal(cut('ab', 5), 'ab');
  assert.equal(cut('a\u{1f600}b', 2), 'a');
  assert.equal(cut('a\u{1f600}b', 3), 'a\u{1f600}');
  assert.equal(cut('a\0b\u0007\ud800\t\n', 9), 'a\uFFFDb\uFFFD\uFFFD\t\n');
  assert.deepEqual(idsIn({ headers: headersOf([['references', '<a\0@x> <b@x>']]) }, 'references'), ['<b@x>']);
});

test('knows addresses that a contact can have', () => {
  for (const one of ['ada@example.org', "o'neil+x@a-b.example.org", 'a_b@x.co'])
    assert.ok(isAddress(one) && isContactEmail(one), one);
  for (const one of [
    'root@localhost',
    'a..b@docomo.ne.jp',
    'a.@docomo.ne.jp',
    'jürgen@example.org',
    'a@b.-c',
    'a@müller.de',
  ])
    assert.ok(isAddress(one) && !isContactEmail(one), one);
  assert.ok(!isAddress('a\0@example.org'));
});

test('finds the mail that a report returns, not one before it in the thread', () => {
  const idOf = (...reports: string[]) => readReport({ ...plain, reports }, address)?.id;
  const thread = `In-Reply-To: ${earlier}\r\nReferences: ${earlier}\r\n ${late}\r\n ${earlier}\r\n`;
  assert.equal(idOf(`${thread}Message-ID:\r\n ${late}\r\nSubject: x`), late);
  assert.equal(idOf('Action: failed', `References: ${earlier}\nX-Original-Message-ID: ${late}`), late);
  // A provider has replaced the id: the last reference is the mail itself.
  assert.equal(idOf(`Message-ID: <1@provider.example>\nReferences: ${earlier} ${late}`), late);
  assert.equal(readReport({ ...plain, text: `References: ${earlier}\nMessage-Id: ${late}` }, address)?.id, late);
  const folded = readReport(
    { ...plain, reports: [`Diagnostic-Code: smtp;\r\n 550 gone\r\nMessage-ID: ${late}`] },
    address,
  );
  assert.equal(folded?.reason, '550 gone');
  const headers = [
    { name: 'References', value: `${earlier} ${late}` },
    { name: 'Message-ID', value: late },
  ];
  const arrived = (recipients?: unknown) =>
    readSes(
      { Message: JSON.stringify({ notificationType: 'Delivery', mail: { headers }, delivery: { recipients } }) },
      address,
    );
  const status = { external_id: late, status: 'delivered' };
  assert.deepEqual(arrived(['Ada <Ada@example.org>', 7]), { status, sentTo: ['ada@example.org'] });
  assert.deepEqual(arrived('ada@example.org'), { status, sentTo: [] });
  assert.deepEqual(arrived(), { status, sentTo: [] });
});

test('lets no stranger divert answers', () => {
  const asking = (replyTo: string) => replyAddressOf({ ...plain, headers: headersOf([['Reply-To', replyTo]]) });
  assert.deepEqual(asking('Home <home@Example.org>'), { address: 'home@example.org', isTrusted: true });
  assert.deepEqual(asking('eve@evil.example'), { address: 'eve@evil.example', isTrusted: false });
  assert.equal(asking('ada@example.org'), null);
  const received = (status?: string) => {
    const content = btoa('From: ada@example.org\nReply-To: home@example.org\n\nHello');
    const Message = JSON.stringify({ notificationType: 'Received', receipt: { dmarcVerdict: { status } }, content });
    const found = readSes({ Message }, address);
    return 'mail' in found && replyAddressOf(found.mail)?.isTrusted;
  };
  assert.deepEqual([received('PASS'), received('GRAY'), received()], [true, false, false]);
});

test('reports of Postmark bring the id of the mail', () => {
  const { headers = {} } = mailOf(message, { id: late, address, provider: 'postmark' });
  const fields = ['message', 'hash'].map((name) => [
    `switchboard-${name}`,
    headers[`x-pm-metadata-switchboard-${name}`] ?? '',
  ]);
  const Metadata = Object.fromEntries(fields) as Record<string, string>;
  assert.equal(Metadata['switchboard-hash'], ownHash(late));
  assert.deepEqual(readPostmarkStatus({ RecordType: 'Delivery', Metadata, Recipient: 'Ada@example.org' }, address), {
    message: 7,
    external_id: late,
    status: 'delivered',
    sentTo: ['ada@example.org'],
  });
  const capitals = { 'Switchboard-Message': '7', 'Switchboard-Hash': ownHash(late) };
  assert.equal(readPostmarkStatus({ RecordType: 'Delivery', Metadata: capitals }, address)?.external_id, late);
  const wrong = { ...Metadata, 'switchboard-hash': 'x>' };
  assert.equal(readPostmarkStatus({ RecordType: 'Delivery', Metadata: wrong }, address)?.external_id, undefined);
});

test('finds the end of what HTML hides', () => {
  // Letters that are longer in lower case move nothing.
  assert.equal(textOfHtml(`${'İ'.repeat(50)}<style>x</title></STYLE>a<p>b`), `${'İ'.repeat(50)}a\nb`);
});
