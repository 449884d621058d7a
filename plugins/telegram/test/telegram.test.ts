import assert from 'node:assert';
import { test } from 'node:test';
import { partsOf, split } from '../parts.ts';
import { fileOf, nameOf, readUpdate, textOf } from '../updates.ts';

const thread = { in_reply_to: null, references: [], created_at: 1_700_000_000 };
const chat = { id: 42, type: 'private' };
const message = { message_id: 7, chat, date: 1_700_000_000, from: { first_name: 'Ada', last_name: 'L' } };

test('reads messages and edits of private chats only', () => {
  assert.deepEqual(readUpdate({ update_id: 1, message }), { message, isEdit: false });
  assert.deepEqual(readUpdate({ update_id: 2, edited_message: message }), { message, isEdit: true });
  assert.equal(readUpdate({ update_id: 3 }), null);
  assert.equal(readUpdate({ update_id: 4, message: { ...message, chat: { id: -1, type: 'group' } } }), null);
});

test('finds names, texts and files', () => {
  assert.equal(nameOf(message), 'Ada L');
  assert.equal(nameOf({ from: { username: 'ada' } }), 'ada');
  assert.equal(textOf({ ...message, caption: 'Look' }), 'Look');
  assert.equal(textOf({ ...message, location: { latitude: 1.5, longitude: 2 } }), '📍 1.5, 2');
  const photo = [{ file_id: 'small' }, { file_id: 'large' }];
  assert.deepEqual(fileOf({ ...message, photo }), { id: 'large', name: null });
  assert.deepEqual(fileOf({ ...message, document: { file_id: 'd', file_name: 'a.pdf' } }), { id: 'd', name: 'a.pdf' });
  assert.equal(fileOf(message), null);
});

test('divides long texts between words, and never within a character', () => {
  assert.deepEqual(split('short'), ['short']);
  const [first = '', second = ''] = split(`${'a'.repeat(4000)} ${'b'.repeat(200)}`);
  assert.equal(first, 'a'.repeat(4000));
  assert.equal(second, 'b'.repeat(200));
  const faces = split(`a${'🙂'.repeat(3000)}`);
  assert.ok(faces.every((part) => part.length <= 4096 && part.isWellFormed()));
  assert.equal(faces.join(''), `a${'🙂'.repeat(3000)}`);
});

test('sends choices as a keyboard, and files with a caption', () => {
  const base = {
    id: 1,
    content: 'Which?',
    source_id: '42',
    conversation_id: 1,
    sender: null,
    attachments: [],
    ...thread,
  };
  const items = [{ title: 'Basic', value: 'b' }];
  const [asked] = partsOf({ ...base, content_type: 'input_select', content_attributes: { items } });
  assert.match(asked?.fields.reply_markup as string, /"keyboard":\[\[\{"text":"Basic"\}\]\]/);
  const about = { file_type: 'image', content_type: 'image/png', file_size: 10 } as const;
  const file = { id: 5, file_name: 'a.png', url: '[file 5]', ...about };
  const parts = partsOf({ ...base, content_type: 'text', content_attributes: {}, attachments: [file] });
  assert.deepEqual(parts, [{ method: 'sendPhoto', fields: { photo: { file: 5, name: 'a.png' }, caption: 'Which?' } }]);
});
