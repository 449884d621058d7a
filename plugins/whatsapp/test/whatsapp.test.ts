import assert from 'node:assert';
import { test } from 'node:test';
import { inPart, isOurs } from '../callback-data.ts';
import { reasonOf, troubleOf } from '../errors.ts';
import { partsOf, split } from '../parts.ts';
import { fileOf, nameOf, readWebhook, textOf, type WhatsAppMessage } from '../webhooks.ts';

const thread = { in_reply_to: null, references: [], created_at: 1_700_000_000 };
const base = {
  id: 1,
  content: 'Which?',
  source_id: '4915',
  conversation_id: 1,
  sender: null,
  attachments: [],
  ...thread,
};
const message = { id: 'wamid.1', type: 'text', from: '4915', text: { body: 'Hi' } };

test('reads all messages and statuses of its number, and of no other', () => {
  const value = (phone: string) => ({
    metadata: { phone_number_id: phone },
    contacts: [{ profile: { name: ' Ada ' }, wa_id: '4915' }],
    messages: [message, { ...message, id: 'wamid.2' }],
    statuses: [{ id: 'wamid.0', status: 'read' }],
  });
  const changes = [
    { field: 'messages', value: value('1') },
    { field: 'messages', value: value('2') },
    { field: 'account_update', value: value('1') },
  ];
  const found = readWebhook({ entry: [{ changes }, {}] }, '1');
  assert.deepEqual(
    found.messages.map(({ message: { id }, name, phoneNumber }) => [id, name, phoneNumber]),
    [
      ['wamid.1', 'Ada', '+4915'],
      ['wamid.2', 'Ada', '+4915'],
    ],
  );
  assert.equal(found.statuses.length, 1);
  assert.deepEqual(readWebhook(null, '1'), { messages: [], statuses: [] });
});

test('knows customers who hide their number', () => {
  const hidden = { id: 'wamid.1', type: 'text', from_user_id: 'DE.42' };
  const value = { metadata: { phone_number_id: '1' }, contacts: [{ user_id: 'DE.42' }], messages: [hidden] };
  const [found] = readWebhook({ entry: [{ changes: [{ field: 'messages', value }] }] }, '1').messages;
  assert.deepEqual([found?.sourceId, found?.phoneNumber, found?.name], ['DE.42', undefined, undefined]);
});

test('has words for every kind of message', () => {
  const said = (fields: Partial<WhatsAppMessage>): string => textOf({ ...message, ...fields });
  assert.equal(said({}), 'Hi');
  assert.equal(said({ type: 'reaction', reaction: { emoji: '👍' } }), 'Reacted with 👍');
  assert.equal(said({ type: 'reaction', reaction: {} }), 'Removed a reaction');
  assert.equal(said({ type: 'location', location: { latitude: 1.5, longitude: 2, name: 'Pier' } }), '📍 1.5, 2\nPier');
  assert.equal(said({ type: 'interactive', interactive: { list_reply: { title: 'Pro' } } }), 'Pro');
  assert.equal(said({ type: 'image', image: { id: 'm', caption: 'Look' } }), 'Look');
  assert.equal(
    said({ type: 'contacts', contacts: [{ name: { formatted_name: 'B' }, phones: [{ phone: '+1' }] }] }),
    'B: +1',
  );
  assert.match(said({ type: 'poll' }), /of the kind poll/);
  assert.match(said({ type: 'toString' }), /of the kind toString/);
});

test('names files', () => {
  const file = fileOf({ ...message, type: 'document', document: { id: 'm', filename: 'a.pdf' } });
  assert.equal(file && nameOf(file), 'a.pdf');
  assert.equal(nameOf({ kind: 'audio', id: '42', mime_type: 'audio/ogg; codecs=opus' }), 'audio-42.ogg');
  assert.equal(fileOf({ ...message, type: 'image' }), null);
});

test('sends few choices as buttons, more as a list, and others as lines', () => {
  const asked = (count: number, title = 'Choice') => {
    const items = Array.from({ length: count }, (_, index) => ({ title: `${title} ${index}`, value: `v${index}` }));
    return partsOf({ ...base, content_type: 'input_select', content_attributes: { items } })[0]?.body as {
      type: string;
      interactive?: { type: string };
      text?: { body: string };
    };
  };
  assert.equal(asked(3).interactive?.type, 'button');
  assert.equal(asked(10).interactive?.type, 'list');
  assert.equal(asked(3, 'A title of 21 chars').interactive?.type, 'list');
  assert.match(asked(11).text?.body ?? '', /^Which\?\n1\. Choice 0\n/);
  assert.equal(asked(2, 'A title that is longer than rows').type, 'text');
});

test('sends templates, and says what one lacks', () => {
  const of = (template: unknown) => partsOf({ ...base, content_type: 'text', content_attributes: { template } });
  const [part] = of({ name: 'order', language: 'en_US', parameters: ['17'] });
  assert.deepEqual(part?.body, {
    type: 'template',
    template: {
      name: 'order',
      language: { code: 'en_US' },
      components: [{ type: 'body', parameters: [{ type: 'text', text: '17' }] }],
    },
  });
  assert.throws(() => of({ name: 'order' }), /language/);
});

test('sends files with a caption, as what WhatsApp takes', () => {
  const file = (type: string, bytes: number) =>
    ({ id: 5, file_name: 'a', url: '[file 5]', file_type: 'file', content_type: type, file_size: bytes }) as const;
  const kindsOf = (type: string, bytes = 10) =>
    partsOf({ ...base, content_type: 'text', content_attributes: {}, attachments: [file(type, bytes)] }).map(
      ({ body }) => body.type,
    );
  assert.deepEqual(kindsOf('image/png'), ['image']);
  assert.deepEqual(kindsOf('image/png', 6_000_000), ['document']);
  assert.deepEqual(kindsOf('audio/ogg'), ['text', 'audio']);
  assert.deepEqual(kindsOf('application/zip'), ['document']);
});

test('divides long texts, and never within a character', () => {
  const faces = split(`a${'🙂'.repeat(3000)}`);
  assert.ok(faces.every((part) => part.length <= 4096 && part.isWellFormed()));
  assert.equal(faces.join(''), `a${'🙂'.repeat(3000)}`);
});

test('finds its own data only', () => {
  assert.deepEqual(isOurs(inPart({ message: 7, part: 1, of: 2 })), { message: 7, part: 1, of: 2 });
  for (const data of [undefined, '', '7', 'switchboard:x:1:1', 'switchboard:1:1:1:1']) assert.equal(isOurs(data), null);
});

test('tells passing errors from final ones', () => {
  const kind = (status: number, code: number, headers = {}) => troubleOf({ status, headers }, { code, message: 'm' });
  assert.equal(kind(400, 131_026)?.kind, 'refused');
  assert.equal(kind(401, 190)?.kind, 'token');
  assert.deepEqual(kind(400, 131_056), { kind: 'later', reason: 'm (131056)', seconds: 6 });
  assert.deepEqual(kind(429, 1, { 'retry-after': '30' }), { kind: 'later', reason: 'm (1)', seconds: 30 });
  assert.equal(troubleOf({ status: 503, headers: {} }, undefined)?.kind, 'later');
  assert.equal(troubleOf({ status: 200, headers: {} }, undefined), null);
  assert.match(reasonOf({ code: 131_047 }), /only a template/);
});
