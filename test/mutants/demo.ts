import type { Mutant } from './mutant.ts';

export const demo: readonly Mutant[] = [
  {
    file: 'src/app/mechanisms.ts',
    text: 'openEndpoints: config.demo ? [receiverEndpoint(config.secretKey)] : [],',
    replacement: 'openEndpoints: [],',
    test: 'test/demo/receiver.test.ts',
    only: 'has verified what the first start said',
    harm: 'The webhook of the demonstration data never arrives.',
  },
  {
    file: 'src/demo/signature.ts',
    text: 'return given.some((one) => areEqual(one, expected));',
    replacement: 'return given.length > 0 && expected !== "";',
    test: 'test/demo/receiver.test.ts',
    only: 'does not believe',
    harm: 'The receiver calls posts verified that nobody signed.',
  },
  {
    file: 'src/demo/serve-play.ts',
    text: 'if (administered.length === 0 && !platformAdmin)',
    replacement: 'if (memberships.length === 0 && !platformAdmin)',
    test: 'test/demo/receiver.test.ts',
    only: 'is for administrators',
    harm: 'Agents read every event of the account.',
  },
  {
    file: 'src/demo/serve-play.ts',
    text: 'viewer.isPlatformAdmin || id === null || viewer.accounts.has(id)',
    replacement: 'viewer.isPlatformAdmin || id === null || viewer.accounts.size > 0',
    test: 'test/demo/receiver.test.ts',
    only: 'is for administrators',
    harm: 'Administrators of one account read the events of another.',
  },
  {
    file: 'src/demo/receiver.ts',
    text: 'for (const waiting of this.#held) waiting.abort();',
    replacement: '',
    test: 'test/demo/receiver.test.ts',
    only: 'lets go of who waits',
    harm: 'A receiver that hangs holds up the end of the service.',
  },
  {
    file: 'src/demo/play.ts',
    text: 'await stage.clear();',
    replacement: '',
    test: 'test/boot/demo.test.ts',
    only: 'leaves nothing behind',
    harm: 'Each demo leaves contacts and a webhook in the account.',
  },
];
