import type { Mutant } from './mutant.ts';

export const records: readonly Mutant[] = [
  {
    file: 'src/records/held-changes.ts',
    text: `  { name: 'human_silence', type: 'text', valueOf: ({ humanSilence }) => humanSilence },
`,
    replacement: '',
    test: 'test/api/accounts/agents.test.ts',
    only: 'a removed agent leaves',
    harm: 'When an agent is deleted, the bot stays silent in the conversations that nobody has any more.',
  },
  {
    file: 'src/records/message.ts',
    text: 'return message?.conversationId === conversationId ? message : null;',
    replacement: 'return message ?? null;',
    test: 'test/api/accounts/messages.test.ts',
    harm: 'An agent edits messages of conversations that it may not see.',
  },
  {
    file: 'src/records/locked-conversations.ts',
    text: 'if (row?.unchanged) return',
    replacement: 'if (row) return',
    test: 'test/api/accounts/conversations.test.ts',
    only: 'had to wait',
    harm: 'Who waited for a locked conversation goes on with an assignee or bot that has just been replaced.',
  },
  {
    file: 'src/records/held-conversations.ts',
    text: `        Object.assign(held.conversation, copy);
`,
    replacement: '',
    test: 'test/events/unit-of-work.test.ts',
    only: 'when a savepoint is undone',
    harm: 'What a refused part of a transaction changed on a conversation is committed with the rest.',
  },
  {
    file: 'src/records/held-conversations.ts',
    text: `      this.#held.clear();
`,
    replacement: '',
    test: 'test/events/unit-of-work.test.ts',
    only: 'when a savepoint is undone',
    harm: 'A conversation whose lock was let go is written back as it was, over what others changed meanwhile.',
  },
  {
    file: 'src/records/message.ts',
    text: "AND sender_kind = 'agent_bot' AND NOT private",
    replacement: "AND sender_kind = 'agent_bot'",
    test: 'test/api/accounts/bot-silence.test.ts',
    only: 'comes with the eleventh',
    harm: "A bot's private notes count as a loop, and the customer is left without it.",
  },
  {
    file: 'src/records/kept-counts.ts',
    text: 'DO UPDATE SET total = kept.total + excluded.total,',
    replacement: 'DO UPDATE SET total = excluded.total,',
    test: 'test/domain/upkeep/conversation-counts.test.ts',
    harm: 'Lists count the conversations of the last seconds alone.',
  },
];
