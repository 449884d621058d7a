import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');
const config = { timezone: 'Europe/Berlin' };

test('gives the conversation to people while they are there', async () => {
  const sim = await simulate(bot, { config, now: '2026-01-05T08:00:00Z' });
  await sim.customer('Hello');
  sim.expectSilence();
  assert.equal(sim.conversation.status, 'open');
});

test('says when people are back, once, and sets the conversation aside until then', async () => {
  // Friday, 18:00 in Berlin.
  const sim = await simulate(bot, { config, now: '2026-01-09T17:00:00Z' });
  await sim.customer('Hello');
  sim.expectReply(/answer on Monday.* 09:00\.$/);
  assert.equal(sim.conversation.status, 'snoozed');
  assert.deepEqual(sim.conversation.snoozed_until, new Date('2026-01-12T08:00:00Z'));
  await sim.customer('Anybody there?');
  sim.expectSilence();
  assert.equal(sim.conversation.status, 'snoozed');
  await sim.advance(3 * 24 * 3600);
  assert.equal(sim.conversation.status, 'open');
});

test('follows the clocks when they change before the opening', async () => {
  // Saturday; summer time begins on Sunday, 29 March.
  const sim = await simulate(bot, { config, now: '2026-03-28T12:00:00Z' });
  await sim.customer('Hello');
  assert.deepEqual(sim.conversation.snoozed_until, new Date('2026-03-30T07:00:00Z'));
});

test('opens on the same day when somebody writes early', async () => {
  const sim = await simulate(bot, { now: '2026-01-05T06:30:00Z' });
  await sim.customer('Good morning');
  assert.deepEqual(sim.conversation.snoozed_until, new Date('2026-01-05T09:00:00Z'));
});

test('is silent once a person has taken over', async () => {
  const sim = await simulate(bot, { now: '2026-01-10T12:00:00Z' });
  await sim.human.takesOver();
  await sim.customer('Hello');
  sim.expectSilence();
});
