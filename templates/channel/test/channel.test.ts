import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulateChannel, type ScriptedReply } from 'switchboard/testing';

const directory = join(import.meta.dirname, '..');
const url = 'https://api.example.com/messages';
const answering = (reply: ScriptedReply) =>
  simulateChannel(directory, { secrets: { API_KEY: 'sesame' }, fetch: [{ url, reply }] });

test('brings in messages and receipts', async () => {
  const channel = await answering({});
  const message = { type: 'message', id: 'm-1', from: '42', name: 'Ada', text: 'Hello' };
  assert.deepEqual(await channel.receives({ json: message }), [
    { type: 'incoming', source_id: '42', external_id: 'm-1', content: 'Hello', name: 'Ada' },
  ]);
  assert.deepEqual(await channel.receives({ json: { type: 'receipt', id: 'm-2', to: '42', state: 'read' } }), [
    { type: 'status', external_id: 'm-2', status: 'read' },
  ]);
});

test('sends messages', async () => {
  const channel = await answering({ body: { id: 'm-2' } });
  assert.deepEqual(await channel.sends({ content: 'Hi', source_id: '42' }), { type: 'sent', external_id: 'm-2' });
  const [request] = channel.requests();
  assert.equal(request?.headers.authorization, 'Bearer sesame');
  assert.deepEqual(JSON.parse(request?.body ?? ''), { to: '42', text: 'Hi' });
});

test('waits, gives up, and fails', async () => {
  const busy = await answering({ status: 429 });
  assert.deepEqual(await busy.sends({ content: 'Hi' }), { type: 'later', reason: 'Rate limited', seconds: 30 });
  const blocked = await answering({ status: 403 });
  assert.deepEqual(await blocked.sends({ content: 'Hi' }), { type: 'refused', reason: 'The customer has blocked us' });
  const broken = await answering({ status: 500 });
  await assert.rejects(broken.sends({ content: 'Hi' }), /The API answered 500/);
});
