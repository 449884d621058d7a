import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');

async function forwarded(config: Record<string, unknown>): Promise<string[]> {
  const sim = await simulate(bot, { config });
  await sim.customer('Hello');
  await sim.human.resolves();
  await sim.customer('Hello again');
  return sim.runs().flatMap(({ event, calls }) => calls.map(({ name }) => `${name} ${event}`));
}

test('forwards everything that it hears', async () => {
  const all = ['message_created', 'conversation_resolved', 'conversation_opened', 'message_created'];
  assert.deepEqual(
    await forwarded({}),
    all.map((event) => `forward ${event}`),
  );
});

test('forwards the events of its settings alone', async () => {
  assert.deepEqual(await forwarded({ events: ['conversation_resolved'] }), ['forward conversation_resolved']);
});
