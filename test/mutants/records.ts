import type { Mutant } from './mutant.ts';

export const records: readonly Mutant[] = [
  {
    file: 'src/records/conversation-batch.ts',
    text: `    'human_silence = said.human_silence',
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
    file: 'src/records/conversation.ts',
    text: `  if (row && !row.unchanged) return findConversation(executor, accountId, id);
`,
    replacement: '',
    test: 'test/api/accounts/conversations.test.ts',
    only: 'had to wait',
    harm: 'Who waited for a locked conversation goes on with an assignee or bot that has just been replaced.',
  },
  {
    file: 'src/records/message.ts',
    text: "AND sender_kind = 'agent_bot' AND NOT private",
    replacement: "AND sender_kind = 'agent_bot'",
    test: 'test/api/accounts/bot-silence.test.ts',
    only: 'comes with the eleventh',
    harm: "A bot's private notes count as a loop, and the customer is left without it.",
  },
];
