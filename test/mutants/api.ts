import type { Mutant } from './mutant.ts';

export const api: readonly Mutant[] = [
  {
    file: 'src/api/accounts/agent-bot-records.ts',
    text: 'const hidden = { outgoing_url: null, config: {}, secret_names: [],',
    replacement: 'const hidden = { outgoing_url: null, secret_names: [],',
    test: 'test/api/platform/platform-bots.test.ts',
    harm: "Every account reads the settings of the platform's bots.",
  },
  {
    file: 'src/api/public/widget.ts',
    text: `    publicOnly: true,
`,
    replacement: '',
    test: 'test/api/public/widget-messages.test.ts',
    harm: "Visitors read their agents' private notes.",
  },
  {
    file: 'src/api/platform/accounts.ts',
    text: 'deleteAgent(within(transact, { id, name }), seat.id)',
    replacement: 'deleteAgent(within(transact, { id, name }), body.user_id)',
    test: 'test/api/platform/platform-users.test.ts',
    only: 'leave the seat that they took',
    harm: 'Removing a user from an account removes another agent, or nobody.',
  },
  {
    file: 'src/api/service/health.ts',
    text: 'if (!services.started() || !services.accepting()',
    replacement: 'if (!services.accepting()',
    test: 'test/boot/start.test.ts',
    only: 'is ready only',
    harm: 'A load balancer sends requests before the first administrator exists.',
  },
  {
    file: 'src/api/accounts/invitations.ts',
    text: '<p>${escaped(seat.name)} (',
    replacement: '<p>${seat.name} (',
    test: 'test/api/accounts/invitations.test.ts',
    only: 'invitations',
    harm: 'A name runs as a script in the page of the invitation.',
  },
  {
    file: 'src/api/accounts/inboxes.ts',
    text: '(closed || open ? none : hours)',
    replacement: '(closed ? none : hours)',
    test: 'test/api/accounts/inboxes.test.ts',
    only: 'open or closed all day',
    harm: 'A day that is open all day keeps hours, and is told with both.',
  },
];
