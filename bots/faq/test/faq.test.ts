import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');

test('answers a question by its keywords', async () => {
  const sim = await simulate(bot);
  await sim.customer('What are your OPENING hours?');
  sim.expectReply('We are here Monday to Friday from 9:00 to 18:00.');
  assert.deepEqual(sim.conversation.labels, ['faq']);
});

test('answers the question with the most keywords', async () => {
  const questions = [
    { keywords: ['price'], answer: 'Cheap.' },
    { keywords: ['price', 'shipping'], answer: 'Free.' },
  ];
  const sim = await simulate(bot, { config: { questions } });
  await sim.customer('What is the price of shipping?');
  sim.expectReply('Free.');
});

test('hands over when the customer asks for a person, and is silent from then on', async () => {
  const sim = await simulate(bot);
  await sim.customer('I want a human!');
  sim.expectReply(/getting a colleague/);
  assert.deepEqual([sim.conversation.status, sim.conversation.silence], ['open', 'handed_off']);
  await sim.customer('When do you open?');
  sim.expectSilence();
});

test('hands over what it does not know', async () => {
  const sim = await simulate(bot, { config: { unknown_message: 'One moment.' } });
  await sim.customer('Opened by mistake');
  sim.expectReply('One moment.');
});

test('is silent once a person has taken over', async () => {
  const sim = await simulate(bot);
  await sim.human.takesOver();
  await sim.customer('When do you open?');
  sim.expectSilence();
});

test('is not stopped by a text that grows', async () => {
  const sim = await simulate(bot);
  await sim.customer('\uFDFA'.repeat(140_000));
  assert.deepEqual(
    sim.runs().map(({ outcome }) => outcome),
    ['ok'],
  );
});
