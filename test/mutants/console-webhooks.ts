import type { Mutant } from './mutant.ts';

const [webhooks, deliveries] = ['test/browser/webhooks.test.ts', 'test/browser/deliveries.test.ts'];

/** What the console shows of webhooks and deliveries. */
export const consoleWebhooks: readonly Mutant[] = [
  {
    file: 'web/console/pages/webhooks/index.ts',
    text: "{ path: '/console/webhooks/:id', administrators: true,",
    replacement: "{ path: '/console/webhooks/:id',",
    test: webhooks,
    only: 'are nothing for agents',
    harm: 'Agents are shown a page of errors, in place of the sentence that it is not for them.',
  },
  {
    file: 'web/console/pages/webhooks/delivery-log.tsx',
    text: 'useReloadOn(() => isAtBegin, reload);',
    replacement: 'useReloadOn(() => true, reload);',
    test: deliveries,
    only: 'are shown part by part',
    harm: 'Whoever reads old deliveries is thrown back to the newest by each event.',
  },
  {
    file: 'web/console/pages/webhooks/states.tsx',
    text: 'return next === null || next - Date.now() / 1000 < soonSeconds;',
    replacement: 'return next === 0;',
    test: deliveries,
    only: 'are sent again as a new one',
    harm: 'A delivery that was sent again seems to be under way for ever.',
  },
  {
    file: 'web/console/pages/webhooks/delivery-log.tsx',
    text: "const names = ['state', 'event', 'conversation_id', 'since', 'until'] as const;",
    replacement: "const names = ['state', 'event', 'since', 'until'] as const;",
    test: deliveries,
    only: 'are found by state',
    harm: 'The log shows the deliveries of all conversations as those of one.',
  },
  {
    file: 'web/console/pages/webhooks/attempt.tsx',
    text: '<Code label={label} text={isIndented && indented !== null ? indented : body} />',
    replacement: '<Code label={label} text={indented ?? body} />',
    test: deliveries,
    only: 'show each attempt',
    harm: 'Nobody can compare the body that was signed with what a receiver got.',
  },
  {
    file: 'web/console/pages/webhooks/recovery.tsx',
    text: 'setQuery({ recovery: id });',
    replacement: 'setQuery({ recovery: null });',
    test: webhooks,
    only: 'recover what did not arrive',
    harm: 'Whoever starts a recovery does not learn how far it is.',
  },
];
