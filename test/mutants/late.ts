import type { Mutant } from './mutant.ts';

const chatPage = 'test/browser/chat-page.test.ts';
const focus = 'test/browser/focus.test.ts';
const play = 'test/browser/play.test.ts';

/** What shows on slow machines alone: something comes late, and takes back what somebody has done meanwhile. */
export const late: readonly Mutant[] = [
  {
    file: 'web/play/play-page.tsx',
    text: 'made === taken && made === choices.current.made;',
    replacement: 'made === made || taken === 0;',
    test: play,
    only: 'what was chosen last',
    harm: 'The receiver seems to go back to how it answered before.',
  },
  {
    file: 'web/play/play-page.tsx',
    text: 'mode={chosen ?? state.mode}',
    replacement: 'mode={state.mode}',
    test: play,
    only: 'what was chosen last',
    harm: 'A choice jumps back while it is on its way, and the next key chooses nothing.',
  },
  {
    file: 'web/play/play-page.tsx',
    text: "    setWho('asking');\n    await",
    replacement: '    await',
    test: play,
    only: 'knows who is signed in already',
    harm: 'Whoever signs out is told that they are not signed in.',
  },
  {
    file: 'web/widget/use-chat.ts',
    text: 'import { useLayoutEffect, useState }',
    replacement: 'import { useEffect as useLayoutEffect, useState }',
    test: chatPage,
    only: 'however late the browser paints',
    harm: 'A chat that the service answered quickly stays without its name, its messages or its refusal.',
  },
  {
    file: 'web/widget/chat.ts',
    text: '    if (visit !== this.#visit) throw new Refusal(0);\n',
    replacement: '',
    test: chatPage,
    only: 'nothing of the one before',
    harm: 'A new contact sees what the one before has said.',
  },
  {
    file: 'web/widget/page/chat-page.tsx',
    text: '<Operator member={member}',
    replacement: '<Operator key={conversation?.id} member={member}',
    test: chatPage,
    only: 'leaves the buttons',
    harm: 'A button goes away under the finger of who presses it.',
  },
  {
    file: 'web/console/app.tsx',
    text: 'import { useEffect, useLayoutEffect }',
    replacement: 'import { useEffect, useEffect as useLayoutEffect }',
    test: 'test/browser/console.test.ts',
    only: 'does not wait for its first page',
    harm: 'Whoever presses a link at once is led to the first page instead.',
  },
  {
    file: 'web/console/kit/saved-choice.tsx',
    text: 'import { useLayoutEffect, useRef, useState }',
    replacement: 'import { useEffect as useLayoutEffect, useRef, useState }',
    test: 'test/browser/fields.test.ts',
    only: 'follow at once',
    harm: 'A choice is shown as taken back while it is on its way.',
  },
  {
    file: 'web/console/session.ts',
    text: '  isRenewing = true;\n  live.stop();\n',
    replacement: '',
    test: focus,
    only: 'its sign-in is slow',
    harm: 'A new access token that is shown once is gone before it can be read.',
  },
  {
    file: 'web/console/session.ts',
    text: 'it is not to be opened again.\n  live.stop();\n',
    replacement: 'it is not to be opened again.\n',
    test: focus,
    only: 'while somebody signs out',
    harm: 'Whoever signs out is told in between to sign in again to go on.',
  },
  {
    file: 'web/console/pages/knowledge/try-search.tsx',
    text: '<Answer key={JSON.stringify([question, tag, language])} question',
    replacement: '<Answer question',
    test: 'test/browser/knowledge.test.ts',
    only: 'what the search finds',
    harm: 'What was found for one question is shown for another.',
  },
  {
    file: 'web/console/pages/conversations/serving.tsx',
    text: "  await call('POST conversations/:id/assignments', { id, body: { assignee_id: null } });\n  return",
    replacement: '  return',
    test: 'test/browser/conversation.test.ts',
    only: 'what somebody has just taken',
    harm: 'A bot is said to answer again, and is silent.',
  },
  {
    file: 'web/console/pages/bots/plugins.tsx',
    text: 'setChanges((count) => count + 1);',
    replacement: 'setChanges(changes + 1);',
    test: 'test/browser/plugins.test.ts',
    only: 'was on its way',
    harm: 'A plugin that was installed is not in the list.',
  },
];
