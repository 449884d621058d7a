import type { Mutant } from './mutant.ts';

export const upkeep: readonly Mutant[] = [
  {
    file: 'src/deliveries/queue/prune.ts',
    text: "d.state = 'pending' OR d.finished_at",
    replacement: 'd.finished_at',
    test: 'test/jobs/sweeps.test.ts',
    only: 'retention',
    harm: 'Deliveries that are still owed are deleted with their old events.',
  },
  {
    file: 'src/domain/upkeep/idempotency-keys.ts',
    text: `between the read and the lock.
  return findKept(executor, request, now);`,
    replacement: `between the read and the lock.
  return null;`,
    test: 'test/http/idempotency.test.ts',
    only: 'looked before the first committed',
    harm: 'A repeat that arrives while the first request commits is done again.',
  },
  {
    file: 'src/records/locked-conversations.ts',
    text: "FOR UPDATE ${skipLocked ? 'SKIP LOCKED' : ''})",
    replacement: "${skipLocked ? 'SKIP LOCKED' : ''})",
    test: 'test/api/accounts/teams.test.ts',
    only: 'deleted while a message is sent',
    harm: 'Deleting a team while a customer writes fails, or undoes what the message changed.',
  },
  {
    file: 'src/domain/contacts/erasure.ts',
    text: 'c.deletion_requested_at < $1',
    replacement: 'c.deletion_requested_at > $1',
    test: 'test/api/accounts/erasure.test.ts',
    only: 'very many conversations',
    harm: 'The deletion of a contact that a crash cut short is never finished.',
  },
  {
    file: 'src/domain/labels/renames.ts',
    text: 'ON CONFLICT DO NOTHING',
    replacement:
      'ON CONFLICT (account_id, label_id, conversation_id) DO UPDATE SET previous_title = excluded.previous_title',
    test: 'test/api/accounts/labels.test.ts',
    only: 'follows one that a crash',
    harm: 'After two renames running, integrations are told of a title that they never heard of.',
  },
  {
    file: 'src/domain/upkeep/sweep.ts',
    text: 'after = found.at(-1) ?? null;',
    replacement: 'after = due.at(-1) ?? null;',
    test: 'test/jobs/sweeps.test.ts',
    only: 'passes by a page',
    harm: 'A page full of rows that failed keeps a sweep at its beginning for ever.',
  },
  {
    file: 'src/domain/endpoints/health.ts',
    text: 'if (!row || row.url !== endpoint.url) return null;',
    replacement: 'if (!row) return null;',
    test: 'test/faults/moved-endpoints.test.ts',
    only: 'does not answer for what fails',
    harm: 'Failures of an address that was replaced open the circuit of the new one.',
  },
  {
    file: 'src/deliveries/core/circuit.ts',
    text: "'unanswered' ? health.unansweredAttempts + 1 : 0;",
    replacement: "'unanswered' ? health.unansweredAttempts + 1 : health.unansweredAttempts;",
    test: 'test/deliveries/circuit.test.ts',
    harm: 'Three timeouts with answers between them open the circuit of a receiver that is up.',
  },
  {
    file: 'src/domain/webhooks.ts',
    text: '{ id, accountId: tx.account.id, url, active: true },',
    replacement: '{ id, accountId: tx.account.id, active: true },',
    test: 'test/faults/moved-endpoints.test.ts',
    harm: "A late 410 of a webhook's old address switches off the new one.",
  },
  {
    file: 'src/deliveries/queue/backlogs.ts',
    text: `d.id <= $4 LIMIT 1) d
  WHERE l.account_id = $1 AND l.endpoint_kind = $2 AND`,
    replacement: `d.id <= $4 LIMIT 1) d
  WHERE l.account_id = $1 AND $2::text IS NOT NULL AND`,
    test: 'test/api/accounts/webhooks.test.ts',
    only: 'has the same number',
    harm: 'Switching off a webhook cancels what the bot of the same number is still to be told.',
  },
  {
    file: 'src/domain/webhooks.ts',
    text: 'if (switched || hasMoved) Object.assign(webhook, unknownHealth);',
    replacement: 'if (switched) Object.assign(webhook, unknownHealth);',
    test: 'test/faults/circuit.test.ts',
    only: 'with a clean record',
    harm: 'A webhook with a new address still waits for the circuit of the dead one.',
  },
  {
    file: 'src/deliveries/queue/wake.ts',
    text: 'AND due_at > now() AND lease_token IS NULL',
    replacement: 'AND due_at > now()',
    test: 'test/faults/moved-endpoints.test.ts',
    only: 'still under way at the one before',
    harm: 'A webhook whose address changes during an attempt gets the same event twice at once.',
  },
  {
    file: 'src/domain/platform/sealed-word.ts',
    text: `  if (any && !opens(box, any.secret)) return false;
`,
    replacement: '',
    test: 'test/boot/secret-key.test.ts',
    only: 'release 0.1.0 sealed',
    harm: 'An older installation starts with a wrong SECRET_KEY, and every delivery fails.',
  },
];
