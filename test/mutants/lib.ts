import type { Mutant } from './mutant.ts';

export const lib: readonly Mutant[] = [
  {
    file: 'src/outbound/connections.ts',
    text: 'if (active > 0 || performance.now()',
    replacement: 'if (performance.now()',
    test: 'test/outbound/outbound-http.test.ts',
    only: 'takes longer than connections are kept idle',
    harm: 'Every minute, calls that are under way are cut.',
  },
  {
    file: 'src/postgres/errors.ts',
    text: "new Set(['40001', '40P01'])",
    replacement: "new Set(['40001'])",
    test: 'test/events/transaction.test.ts',
    harm: 'Two changes that meet in a deadlock answer 500 to one of the callers.',
  },
  {
    file: 'src/lib/shared-clock.ts',
    text: '{ toldMs: told,',
    replacement: '{ toldMs: told + (this.#last ? told - this.#last.toldMs : 0),',
    test: 'test/lib/shared-clock.test.ts',
    harm: 'The time of a machine whose clock is off goes further astray every minute.',
  },
  {
    file: 'src/lib/shared-clock.ts',
    text: 'this.#steadyMs() - last.steadyMs',
    replacement: 'this.#own.now().getTime() - last.ownMs',
    test: 'test/faults/matrix.test.ts',
    only: 'F14, ',
    harm: 'After somebody has set the clock of a machine, receivers refuse what it signs, for a minute.',
  },
  {
    file: 'src/lib/storable.ts',
    text: 'text.slice(0, maxChars).toWellFormed()',
    replacement: 'text.toWellFormed().slice(0, maxChars)',
    test: 'test/lib/storable.test.ts',
    harm: 'A long answer that is cut through an emoji cannot be stored, and its delivery never ends.',
  },
  {
    file: 'src/http/route/json-text.ts',
    text: '/\\d{16}/',
    replacement: '/\\d{17}/',
    test: 'test/http/json-text.test.ts',
    harm: 'A number such as 9007199254740993 changes silently.',
  },
  {
    file: 'src/outbound/addresses.ts',
    text: 'const customerBytes = 8;',
    replacement: 'const customerBytes = 16;',
    test: 'test/outbound/addresses.test.ts',
    harm: 'A guesser with an IPv6 network has as many tries as it has addresses.',
  },
  {
    file: 'src/outbound/exchange.ts',
    text: `if (this.#ended) return wire.abort(new Error('The exchange is over.'));
`,
    replacement: '',
    test: 'test/outbound/outbound-http.test.ts',
    only: 'waited for a connection beyond',
    harm: 'A call that was given up while it waited for a connection is made all the same.',
  },
  {
    file: 'src/lib/mail.ts',
    text: `    await Promise.all(this.#underWay);
`,
    replacement: '',
    test: 'test/api/accounts/invitations.test.ts',
    only: 'a service that stops sends',
    harm: 'Invitations that are being sent when the service stops are lost.',
  },
  {
    file: 'src/outbound/host-resolver.ts',
    text: 'known !== undefined && performance.now() < known.expiresAt',
    replacement: 'known !== undefined',
    test: 'test/outbound/host-resolver.test.ts',
    harm: 'A receiver that moves to another address is never found again.',
  },
  {
    file: 'src/lib/composition.ts',
    text: 'unevaluatedProperties === false ? { additionalProperties: false } : {}',
    replacement: '{}',
    test: 'test/lib/composition.test.ts',
    only: 'is closed where the composition is',
    harm: 'Answers and events may hold what no schema names, and nobody notices.',
  },
];
