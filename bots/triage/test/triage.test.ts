import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');

test('gives labels, priority and team by words, and hands over', async () => {
  const sim = await simulate(bot);
  await sim.customer('I was CHARGED twice, and the page shows an error!');
  sim.expectSilence();
  const { labels, priority, team, status } = sim.conversation;
  assert.deepEqual(
    { labels, priority, team: team?.name, status },
    {
      labels: ['billing', 'fault'],
      priority: 'high',
      team: 'Billing',
      status: 'open',
    },
  );
});

test('counts whole words only', async () => {
  const sim = await simulate(bot);
  await sim.customer('Democracy is a good thing');
  assert.deepEqual([sim.conversation.labels, sim.conversation.team], [[], null]);
  assert.match(sim.notes()[0] ?? '', /No rule/);
});

test('the most urgent rule wins', async () => {
  const rules = [
    { words: ['help'], priority: 'low' },
    { words: ['now'], priority: 'urgent', label: 'Hurry' },
  ];
  const sim = await simulate(bot, { config: { rules } });
  await sim.customer('Help me now');
  assert.deepEqual([sim.conversation.priority, sim.conversation.labels], ['urgent', ['hurry']]);
});

test('sorts a conversation once, as people have it from then on', async () => {
  const sim = await simulate(bot);
  await sim.customer('Can I have a quote?');
  await sim.customer('Urgent: it is broken');
  assert.deepEqual([sim.conversation.labels, sim.conversation.priority], [['sales'], 'low']);
});

test('is not stopped by a text that grows', async () => {
  const sim = await simulate(bot);
  await sim.customer('\uFDFA'.repeat(140_000));
  assert.deepEqual(
    sim.runs().map(({ outcome }) => outcome),
    ['ok'],
  );
});
