import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate, type Simulation } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');
const hour = 3600;

async function resolved(): Promise<Simulation> {
  const sim = await simulate(bot);
  await sim.customer('My parcel has come, thanks');
  sim.expectSilence();
  await sim.human.resolves();
  return sim;
}

test('asks an hour after the resolution, and stores the score', async () => {
  const sim = await resolved();
  await sim.advance(hour - 1);
  sim.expectSilence();
  await sim.advance(1);
  sim.expectReply(/How did we do/);
  await sim.customer('4');
  sim.expectReply('Thank you!');
  assert.equal(sim.conversation.custom_attributes['csat_score'], 4);
  assert.equal(sim.conversation.status, 'resolved');
});

test('asks once', async () => {
  const sim = await resolved();
  await sim.advance(hour);
  await sim.customer('5');
  await sim.advance(30 * 24 * hour);
  sim.expectSilence();
});

test('gives the conversation to people when the answer is no score', async () => {
  const sim = await resolved();
  await sim.advance(hour);
  await sim.customer('It was terrible');
  sim.expectSilence();
  assert.equal(sim.conversation.status, 'open');
});

test('does not ask when the conversation was opened again', async () => {
  const sim = await resolved();
  await sim.advance(hour / 2);
  await sim.customer('One more thing');
  await sim.advance(hour);
  sim.expectSilence();
});

test('does not ask once a person has taken over', async () => {
  const sim = await resolved();
  await sim.human.takesOver();
  await sim.advance(hour);
  sim.expectSilence();
});

test('does not ask where a person has led the conversation, though that person resolved it', async () => {
  const sim = await simulate(bot);
  await sim.customer('Where is my parcel?');
  await sim.human.says('It comes tomorrow');
  await sim.human.resolves();
  await sim.advance(hour);
  sim.expectSilence();
});

test('asks where the person has given the conversation back before resolving it', async () => {
  const sim = await simulate(bot);
  await sim.customer('Where is my parcel?');
  await sim.human.says('It comes tomorrow');
  await sim.human.givesBack();
  await sim.human.resolves();
  await sim.advance(hour);
  sim.expectReply(/How did we do/);
});

test('keeps the average of the account', async () => {
  const sim = await resolved();
  await sim.advance(hour);
  await sim.customer('2');
  assert.deepEqual(sim.runs().at(-2)?.logs[0]?.fields, { score: 2, average: 2 });
});
