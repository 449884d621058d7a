import assert from 'node:assert';
import { test } from 'node:test';
import { chooseAgent, presentAgents } from '../choose.ts';

test('chooses the agent with the fewest conversations, of several the next in turn', () => {
  const agents = [
    { id: 1, load: 2 },
    { id: 2, load: 1 },
    { id: 3, load: 1 },
  ];
  assert.deepEqual(
    [0, 1, 2].map((turn) => chooseAgent(agents, { most: 5, turn })),
    [2, 3, 2],
  );
  assert.equal(chooseAgent(agents, { most: 1, turn: 0 }), null);
  assert.equal(chooseAgent([], { most: 1, turn: 0 }), null);
});

test('knows who is there, by the clock of the time zone', () => {
  const agents = [
    { agent_id: 1 },
    { agent_id: 2, days: [1, 2], opens: 9, closes: 17.5 },
    { agent_id: 3, opens: 18 },
    { agent_id: 4, days: [0] },
  ];
  const idsAt = (moment: string) =>
    presentAgents(agents, new Date(moment), 'Europe/Berlin').map(({ agent_id: id }) => id);
  // Mondays in winter.
  assert.deepEqual(idsAt('2026-01-05T08:00:00Z'), [1, 2]);
  assert.deepEqual(idsAt('2026-01-05T16:29:00Z'), [1, 2]);
  assert.deepEqual(idsAt('2026-01-05T16:30:00Z'), [1]);
  assert.deepEqual(idsAt('2026-01-05T17:00:00Z'), [1, 3]);
  // A Sunday there, and still Saturday in UTC.
  assert.deepEqual(idsAt('2026-01-03T23:30:00Z'), [1, 4]);
});
