import assert from 'node:assert';
import { test } from 'node:test';
import { reminderFor } from '../reminder.ts';

test('names the conversation, and who has it', () => {
  assert.equal(
    reminderFor({ id: 7, meta: { assignee: null } }, { minutes: 30 }),
    'Conversation 7 has waited 30 minutes for a first answer (not assigned).',
  );
  const assigned = { id: 7, meta: { assignee: { name: 'Ada <b> & Co' } } };
  assert.equal(
    reminderFor(assigned, { minutes: 5, console: 'https://desk.example/console/' }),
    '<https://desk.example/console/conversations/7|Conversation 7> has waited 5 minutes for a first answer (assigned to Ada &lt;b&gt; &amp; Co).',
  );
});
