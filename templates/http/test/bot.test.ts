import { join } from 'node:path';
import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

const bot = join(import.meta.dirname, '..');
const secrets = { API_KEY: 'sesame' };
const url = 'https://api.example.com/tickets/17';

test('tells the state of a ticket', async () => {
  const sim = await simulate(bot, { secrets, fetch: [{ url, reply: { body: { state: 'solved' } } }] });
  await sim.customer('Where is 17?');
  sim.expectReply('Ticket 17 is solved.');
});

test('says that it does not know a ticket', async () => {
  const sim = await simulate(bot, { secrets, fetch: [{ url, reply: { status: 404 } }] });
  await sim.customer('17');
  sim.expectReply(/do not know/);
});

test('hands over when the host answers garbage', async () => {
  const sim = await simulate(bot, { secrets, fetch: [{ url, reply: { body: '<html>' } }] });
  await sim.customer('17');
  sim.expectReply(/colleague/);
});
