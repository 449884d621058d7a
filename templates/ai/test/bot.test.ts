import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');
const kb = [{ title: 'Opening hours', text: 'We are open on weekdays from 9 to 18.' }];

test('answers from the knowledge base', async () => {
  const sim = await simulate(bot, { kb, llm: ['From 9 to 18 on weekdays.'] });
  await sim.customer('When are you open?');
  sim.expectReply('From 9 to 18 on weekdays.');
});

test('gives the model the passages and the conversation', async () => {
  let asked = '';
  const llm = (input: unknown) => {
    asked = JSON.stringify(input);
    return 'Yes.';
  };
  const sim = await simulate(bot, { kb, llm });
  await sim.customer('Are you open on weekdays?');
  sim.expectReply('Yes.');
  assert.match(asked, /from 9 to 18/);
  assert.match(asked, /"role":"user","content":"Are you open on weekdays\?"/);
});

test('hands over what the knowledge base does not tell', async () => {
  const sim = await simulate(bot, { kb, llm: ['UNKNOWN'] });
  await sim.customer('Are you open on Mars?');
  sim.expectReply(/colleague/);
  const silent = await simulate(bot, { kb: [] });
  await silent.customer('Anything?');
  silent.expectReply(/colleague/);
});
