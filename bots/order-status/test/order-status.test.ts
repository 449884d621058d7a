import assert from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulate, type ScriptedFetch } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');
const url = 'https://api.shop.example/orders/A-17';
const secrets = { SHOP_KEY: 'sesame' };

function shop(reply: ScriptedFetch['reply']): { secrets: typeof secrets; fetch: ScriptedFetch[] } {
  return { secrets, fetch: [{ url, reply }] };
}

test('tells the state of an order', async () => {
  const sim = await simulate(bot, shop({ status: 200, body: { state: 'on its way' } }));
  await sim.customer('Where is a-17, please?');
  sim.expectReply('Order A-17 is on its way.');
  assert.deepEqual(sim.conversation.labels, ['order-status']);
  assert.equal(sim.requests()[0]?.headers['authorization'], 'Bearer sesame');
  assert.ok(!sim.transcript().includes('sesame'));
});

test('says that it does not know an order', async () => {
  const sim = await simulate(bot, shop({ status: 404 }));
  await sim.customer('A-17');
  sim.expectReply(/do not know an order A-17/);
});

test('asks for the number, and hands over when it never comes', async () => {
  const sim = await simulate(bot, { secrets });
  await sim.customer('Where is my parcel?');
  sim.expectReply(/looks like A-1042/);
  await sim.customer('The blue one');
  sim.expectReply(/looks like A-1042/);
  await sim.customer('What number?');
  sim.expectReply(/colleague/);
  assert.equal(sim.conversation.status, 'open');
});

test('begins to count anew after a number', async () => {
  const sim = await simulate(bot, shop({ body: { state: 'delivered' } }));
  for (const text of ['Hello', 'Hm', 'A-17', 'And the other?']) await sim.customer(text);
  sim.expectReply(/looks like/);
});

for (const [what, reply] of [
  ['fails', { status: 500 }],
  ['answers garbage', { body: '<html>' }],
  ['redirects', { status: 302, headers: { location: 'https://elsewhere.example' } }],
  [
    'does not answer',
    () => {
      throw new Error('reset');
    },
  ],
] as const satisfies readonly (readonly [string, ScriptedFetch['reply']])[]) {
  test(`hands over when the shop ${what}`, async () => {
    const sim = await simulate(bot, shop(reply));
    await sim.customer('A-17');
    sim.expectReply('A colleague will look into it.');
    assert.equal(sim.conversation.silence, 'handed_off');
  });
}

test('hands over without the key of the shop', async () => {
  const sim = await simulate(bot);
  await sim.customer('A-17');
  sim.expectReply(/colleague/);
});

test('says nothing when a person takes over while the shop is asked', async () => {
  const sim = await simulate(bot, {
    secrets,
    fetch: [{ url, reply: async () => (await sim.human.takesOver(), { body: { state: 'sent' } }) }],
  });
  await sim.customer('A-17');
  sim.expectSilence();
  assert.equal(sim.runs()[0]?.outcome, 'superseded');
});
