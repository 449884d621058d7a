import type { Mutant } from './mutant.ts';

const chatPage = 'test/browser/chat-page.test.ts';
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
];
