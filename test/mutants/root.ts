import type { Mutant } from './mutant.ts';

export const root: readonly Mutant[] = [
  {
    file: 'src/app/compose.ts',
    text: 'if (servesEngine) heard({',
    replacement: 'heard({',
    test: 'test/api/accounts/webhooks.test.ts',
    only: 'a process that serves requests alone',
    harm: 'A web process makes deliveries, which nobody waits for when it ends.',
  },
  {
    file: 'src/app/stop.ts',
    text: `  phase.accepting = false;
`,
    replacement: '',
    test: 'test/boot/start.test.ts',
    only: 'told to stop',
    harm: 'A load balancer goes on sending requests to a service that is stopping.',
  },
  {
    file: 'src/deliveries/to-webhook.ts',
    text: "isGone ? made.verdict : { ...made.verdict, state: 'pending' as const, delayMs: 0 }",
    replacement: 'isGone ? made.verdict : { ...made.verdict, delayMs: 0 }',
    test: 'test/faults/moved-endpoints.test.ts',
    harm: "An event that met the old address's 410 is never sent to the new one.",
  },
  {
    file: 'src/deliveries/learning.ts',
    text: 'while (await transact(database, scope, (tx) => wakeLanes(tx.em, endpoint)));',
    replacement: 'await transact(database, scope, (tx) => wakeLanes(tx.em, endpoint));',
    test: 'test/faults/leases.test.ts',
    only: 'a backlog of however many',
    harm: 'Of a long backlog most waits for hours after its receiver is back.',
  },
  {
    file: 'src/schemas.ts',
    text: 'const maxWhollyChecked = 4096;',
    replacement: 'const maxWhollyChecked = 4_096_000;',
    test: 'test/fault-sentences.test.ts',
    only: 'a large value',
    harm: 'One large request stops the process for seconds.',
  },
  {
    file: 'src/postgres/migrate.ts',
    text: `      await em.execute('SELECT pg_advisory_xact_lock(7237001)');
`,
    replacement: '',
    test: 'test/boot/start.test.ts',
    only: 'several first ones at once on an empty',
    harm: 'Of several processes that start at once on an empty database, some end.',
  },
  {
    file: 'src/app/alarms.ts',
    text: "{ name: 'do-what-is-due', everyMs: sweepMs",
    replacement: "{ name: 'do-what-is-due', everyMs: pruneMs",
    test: 'test/api/accounts/sla-policies.test.ts',
    only: 'by the clock',
    harm: 'A broken promise is told an hour late.',
  },
  {
    file: 'src/app/connections.ts',
    text: 'retriesLocks: true',
    replacement: 'retriesLocks: false',
    test: 'test/faults/busy.test.ts',
    only: 'make a bot wait',
    harm: 'A sweep or a result that waits too long for a lock is given up.',
  },
  {
    file: 'src/config.ts',
    text: "return readFileSync(file, 'utf8').trim();",
    replacement: "return readFileSync(file, 'utf8');",
    test: 'test/config.test.ts',
    only: 'from a file',
    harm: 'A secret from a file does not fit because of the line end in it.',
  },
  {
    file: 'src/app/seed.ts',
    text: `    await em.execute(lockStatement);
`,
    replacement: '',
    test: 'test/boot/start.test.ts',
    only: 'when it is held up',
    harm: 'Two first starts at once make two accounts, or one of them ends.',
  },
];
