import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate, type ScriptedAnswer } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');
const kb = [
  { title: 'Opening hours', text: 'We are open on weekdays from 9 to 18.', url: 'https://help.acme.example/hours' },
];

function answer(text: string, citations = [1]): ScriptedAnswer {
  return { tool_calls: [{ name: 'answer', arguments: { text, citations, confident: true } }] };
}

test('quotes the knowledge base where there is no model', async () => {
  const sim = await simulate(bot, { kb });
  await sim.customer('When are you open?');
  sim.expectReply('We are open on weekdays from 9 to 18.\n\n[1] Opening hours: https://help.acme.example/hours');
});

test('hands over what the knowledge base does not know', async () => {
  const sim = await simulate(bot, { kb, config: { handoff_message: 'One moment, please.' } });
  await sim.customer('Do you sell lamps?');
  sim.expectReply('One moment, please.');
  assert.equal(sim.conversation.status, 'open');
  await sim.customer('When are you open?');
  sim.expectSilence();
});

test('lets the model word the answer', async () => {
  const sim = await simulate(bot, { kb, llm: [answer('From 9 to 18 [1].')] });
  await sim.customer('When are you open?');
  sim.expectReply('From 9 to 18 [1].\n\n[1] Opening hours: https://help.acme.example/hours');
});

test('hands over at a keyword before anything else', async () => {
  const sim = await simulate(bot, { kb, llm: [], config: { handoff_keywords: ['real person'], handoff_message: '' } });
  await sim.customer('When are you open? Or a REAL   person!');
  sim.expectSilence();
  assert.deepEqual(
    sim
      .runs()
      .at(-1)
      ?.calls.map(({ name }) => name),
    ['history'],
  );
  assert.match(sim.notes()[0] ?? '', /real person/);
});

test('hands over in place of one reply too many, and counts anew in the next session', async () => {
  const sim = await simulate(bot, { kb, config: { max_exchanges: 2, handoff_message: 'A colleague comes.' } });
  for (const session of [1, 2]) {
    for (const count of [1, 2]) {
      await sim.customer('When are you open?');
      sim.expectReply(/9 to 18/);
      assert.equal(sim.conversation.silence, null, `${session} ${count}`);
    }
    await sim.customer('When are you open?');
    sim.expectReply('A colleague comes.');
    assert.equal(sim.conversation.silence, 'handed_off');
    await sim.human.resolves();
  }
});

test('answers alone where it is told to, and not at all without a model then', async () => {
  const knowledge = { scope: 'none' };
  const sim = await simulate(bot, { kb, config: { knowledge }, llm: [answer('Hello!', [])] });
  await sim.customer('Hi');
  sim.expectReply('Hello!');
  const silent = await simulate(bot, { kb, config: { knowledge, handoff_message: '' } });
  await silent.customer('When are you open?');
  silent.expectSilence();
  assert.equal(silent.conversation.status, 'open');
});

test('hands over what has no words, whatever was asked before', async () => {
  for (const knowledge of [{ scope: 'all' }, { scope: 'none' }]) {
    const config = { knowledge, handoff_message: '' };
    const sim = await simulate(bot, { kb, config, llm: [answer('From 9 to 18 [1].')] });
    await sim.customer('When are you open?');
    assert.equal(sim.replies().length, 1);
    await sim.customer('');
    sim.expectSilence();
    assert.match(sim.notes()[0] ?? '', /no words/);
    assert.equal(sim.conversation.status, 'open');
  }
});

test('greets, searches in words of the model, and says in the customer’s language that it leaves', async () => {
  const german = [{ title: 'Rückgabe', text: 'Waren nehmen wir 30 Tage lang zurück.', language: 'de' }];
  const search = { tool_calls: [{ name: 'search', arguments: { queries: ['Waren zurück'] } }] };
  const talk = { tool_calls: [{ name: 'talk', arguments: { text: 'Bonjour !' } }] };
  const sim = await simulate(bot, { kb: german, llm: [talk, search, answer('Pendant 30 jours [1].')] });
  await sim.customer('Bonjour');
  sim.expectReply('Bonjour !');
  await sim.customer('Puis-je renvoyer un article ?');
  sim.expectReply('Pendant 30 jours [1].\n\n[1] Rückgabe');
});

test('alone reacts to small talk of many kinds, each once, and stays', async () => {
  const sim = await simulate(bot, { kb });
  await sim.customer('hahaha');
  sim.expectReply('Just write if there is anything else I can help you with.');
  await sim.customer('oh sorry');
  sim.expectSilence();
  await sim.customer('Anybody here?');
  sim.expectReply('Hello! How can I help you?');
  await sim.customer('Schönen Feierabend noch');
  sim.expectReply('Gern geschehen! Kann ich sonst noch etwas für Sie tun?');
  await sim.customer('When are you open on weekdays?');
  sim.expectReply(/9 to 18/);
});

test('alone gives those to people who want to get in touch, unless an article tells how', async () => {
  const hotline = {
    title: 'Hotline',
    text: 'Call our service team from 9 to 18: 0800 4711.',
    url: 'https://help.acme.example/call',
  };
  const sim = await simulate(bot, { kb });
  await sim.customer('Could somebody phone me?');
  sim.expectReply('I am passing you on to a colleague, who will answer you here.');
  const told = await simulate(bot, { kb: [hotline] });
  await told.customer('Can I call your service team?');
  told.expectReply(/0800 4711/);
});

test('alone offers the articles of both questions where one goes on with another', async () => {
  const both = [
    ...kb,
    { title: 'Parking', text: 'Parking on weekdays is free for guests.', url: 'https://help.acme.example/parking' },
  ];
  const sim = await simulate(bot, { kb: both });
  await sim.customer('When are you open on weekdays?');
  sim.expectReply(/9 to 18/);
  await sim.customer('And parking for guests?');
  sim.expectReply(/^This may help:\nParking/);
  sim.expectReply(/Opening hours/);
});
