import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');
const kb = [{ title: 'Opening hours', text: 'We are open on weekdays from 9 to 18.' }];
const search = (query: string) => ({ tool_calls: [{ name: 'search', arguments: { query } }] });

test('answers from what its search finds', async () => {
  const sim = await simulate(bot, { kb, llm: [search('opening hours'), 'From 9 to 18 on weekdays.'] });
  await sim.customer('When are you there?');
  sim.expectReply('From 9 to 18 on weekdays.');
});

test('gives the model the conversation, and then the passages', async () => {
  const asked: string[] = [];
  const llm = (input: unknown) => {
    asked.push(JSON.stringify(input));
    return asked.length === 1 ? search('open weekdays') : 'Yes.';
  };
  const sim = await simulate(bot, { kb, llm });
  await sim.customer('Are you open on weekdays?');
  sim.expectReply('Yes.');
  assert.match(String(asked[0]), /"role":"user","content":"Are you open on weekdays\?"/);
  assert.match(String(asked[1]), /"role":"tool".*from 9 to 18/);
});

test('hands off what the knowledge base does not tell', async () => {
  const sim = await simulate(bot, { kb, llm: [search('Mars'), 'UNKNOWN'] });
  await sim.customer('Are you open on Mars?');
  sim.expectReply(/colleague/);
  const silent = await simulate(bot, { kb });
  await silent.customer('Anything?');
  silent.expectReply(/colleague/);
});

test('hands off when the model goes on searching', async () => {
  const sim = await simulate(bot, { kb, llm: () => search('hours') });
  await sim.customer('When are you open?');
  sim.expectReply(/colleague/);
});
