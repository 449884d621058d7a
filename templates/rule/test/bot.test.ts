import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');

test('greets the customer by name', async () => {
  const sim = await simulate(bot, { contact: { name: 'Kim' }, config: { greeting: 'Welcome' } });
  await sim.customer('Hello!');
  sim.expectReply('Welcome, Kim! How can I help?');
  assert.deepEqual(sim.conversation.labels, ['greeted']);
});

test('hands over what it does not know, and is silent from then on', async () => {
  const sim = await simulate(bot);
  await sim.customer('My parcel is broken');
  sim.expectReply(/colleague/);
  assert.equal(sim.conversation.status, 'open');
  await sim.customer('Hello?');
  sim.expectSilence();
});

test('is silent once a person has taken over', async () => {
  const sim = await simulate(bot);
  await sim.human.takesOver();
  await sim.customer('Hello!');
  sim.expectSilence();
});
