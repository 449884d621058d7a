import type { Mutant } from './mutant.ts';

export const entities: readonly Mutant[] = [
  {
    file: 'src/entities/conversation-batch.ts',
    text: `    'human_silence = said.human_silence',
`,
    replacement: '',
    test: 'test/api/agents.test.ts',
    only: 'a removed agent leaves',
    harm: 'When an agent is deleted, the bot stays silent in the conversations that nobody has any more.',
  },
  {
    file: 'src/entities/message.ts',
    text: 'return message?.conversationId === conversationId ? message : null;',
    replacement: 'return message ?? null;',
    test: 'test/api/messages.test.ts',
    harm: 'An agent edits messages of conversations that it may not see.',
  },
  {
    file: 'src/entities/conversation.ts',
    text: `  if (row && !row.unchanged) return findConversation(executor, accountId, id);
`,
    replacement: '',
    test: 'test/api/conversations.test.ts',
    only: 'had to wait',
    harm: 'Who waited for a locked conversation goes on with an assignee or bot that has just been replaced.',
  },
  {
    file: 'src/entities/message.ts',
    text: "AND sender_kind = 'agent_bot' AND NOT private",
    replacement: "AND sender_kind = 'agent_bot'",
    test: 'test/api/bot-silence.test.ts',
    only: 'comes with the eleventh',
    harm: "A bot's private notes count as a loop, and the customer is left without it.",
  },
];
