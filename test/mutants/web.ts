import type { Mutant } from './mutant.ts';

const list = 'test/browser/conversations.test.ts';
const one = 'test/browser/conversation.test.ts';

export const web: readonly Mutant[] = [
  {
    file: 'web/console/kit/live.ts',
    text: '    if (current.isStale) reloadSoon();\n',
    replacement: '',
    test: list,
    only: 'misses nothing',
    harm: 'What happens while a list is being read is not shown until something else happens.',
  },
  {
    file: 'web/console/pages/conversations/filters.tsx',
    text: 'setQuery({ q: asked, page: null });',
    replacement: 'setQuery({ q: asked });',
    test: list,
    only: 'goes on by pages',
    harm: 'Who filters on a later page sees nothing, though there are matches.',
  },
  {
    file: 'web/console/pages/conversations/composer.tsx',
    text: 'conversation_id: conversationId, body, key }',
    replacement: 'conversation_id: conversationId, body }',
    test: one,
    only: 'sends replies and notes',
    harm: 'A customer gets a reply twice whose sending was not answered.',
  },
  {
    file: 'web/console/pages/conversations/composer.tsx',
    text: "isPrivate: sentKind === 'note'",
    replacement: "isPrivate: sentKind !== 'note'",
    test: one,
    only: 'sends replies and notes',
    harm: 'Customers read the notes of their agents.',
  },
  {
    file: 'web/console/pages/conversations/transcript.ts',
    text: "event.event === 'message_created' ? 'new' : 'all'",
    replacement: "'new'",
    test: one,
    only: 'goes back to the first message',
    harm: 'A deleted message stays on the screen.',
  },
  {
    file: 'web/console/pages/conversations/transcript.ts',
    text: 'let page = await this.#read({ before: at + 1 });',
    replacement: 'let page = await this.#read({ before: at });',
    test: one,
    only: 'goes back to the first message',
    harm: 'Of messages within one second some are never shown.',
  },
  {
    file: 'web/shared/trace/trace.ts',
    text: 'isAdministrator ? this.#readDeliveries() : { known: [], end: 0 }',
    replacement: 'this.#readDeliveries()',
    test: one,
    only: 'is for agents',
    harm: 'Agents see a refusal in place of what came of a message.',
  },
  {
    file: 'web/shared/trace/older.ts',
    text: 'return runs.filter((run) => run.event.id === event.id);',
    replacement: 'return runs;',
    test: one,
    only: 'goes back to the first message',
    harm: 'Runs for other messages are shown as what came of this one.',
  },
  {
    file: 'web/console/pages/conversations/assign-dialog.tsx',
    text: '...(agent === before.agent ? {} : { assignee_id: idOf(agent) }),',
    replacement: 'assignee_id: idOf(agent),',
    test: one,
    only: 'assigns, labels',
    harm: 'Who chooses a team takes the conversation from the agent to whom somebody has just given it.',
  },
];
