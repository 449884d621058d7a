import type { Mutant } from './mutant.ts';

export const deliveries: readonly Mutant[] = [
  {
    file: 'src/deliveries/queue/claim.ts',
    text: 'WHERE l.id = ANY ($1) AND l.lease_token = $2',
    replacement: 'WHERE l.id = ANY ($1)',
    test: 'test/faults/leases.test.ts',
    only: 'stalls between lease and take',
    harm: 'A process that stalls between lease and take makes a delivery twice.',
  },
  {
    file: 'src/deliveries/queue/claim.ts',
    text: `CASE WHEN w.active AND d.id > coalesce((SELECT t.through FROM backlog_tasks t WHERE t.account_id = d.account_id
        AND t.endpoint_kind = 'webhook' AND t.endpoint_id = d.endpoint_id AND t.task = 'cancel'), 0) THEN w.url END AS url,`,
    replacement: 'w.url,',
    test: 'test/faults/circuit.test.ts',
    only: 'is switched off during an attempt',
    harm: 'What was under way when a webhook was switched off is retried for days.',
  },
  {
    file: 'src/deliveries/core/slots.ts',
    text: '.toSorted((one, other) => this.#servedAt(one.share) - this.#servedAt(other.share))',
    replacement: '.toSorted((one, other) => one.share.id - other.share.id)',
    test: 'test/faults/turns.test.ts',
    harm: 'Under load, busy endpoints with low ids starve the others.',
  },
  {
    file: 'src/deliveries/core/slots.ts',
    text: `    add(this.#toReceiver, endpoint.id, -1);
`,
    replacement: '',
    test: 'test/deliveries/slots.test.ts',
    harm: 'Nothing is delivered any more to an endpoint once it has had as many deliveries as it may have at once.',
  },
  {
    file: 'src/deliveries/queue/finish.ts',
    text: 'claims = 0, failures',
    replacement: 'failures',
    test: 'test/faults/lost-claims.test.ts',
    harm: 'Deliveries to a receiver that is down for a while are given up as defective.',
  },
  {
    file: 'src/deliveries/queue/lease.ts',
    text: 'ORDER BY l.due_at LIMIT share.wanted FOR UPDATE SKIP LOCKED)',
    replacement: 'ORDER BY l.due_at LIMIT share.wanted FOR UPDATE)',
    test: 'test/faults/leases.test.ts',
    only: 'without waiting for it',
    harm: 'One locked lane keeps back the deliveries of all other endpoints.',
  },
  {
    file: 'src/deliveries/queue/probes.ts',
    text: "'circuit_probe_at <= now()'",
    replacement: "'true'",
    test: 'test/faults/circuit.test.ts',
    only: 'an open circuit',
    harm: 'Several processes probe a receiver that does not answer, at once.',
  },
  {
    file: 'src/deliveries/queue/due-endpoints.ts',
    text: 'FROM page OFFSET $4 - 1)',
    replacement: 'FROM page OFFSET $4)',
    test: 'test/faults/leases.test.ts',
    only: 'ten thousand due lanes',
    harm: 'With more than a thousand busy endpoints, those with high ids are never served.',
  },
  {
    file: 'src/deliveries/core/retry.ts',
    text: 'Math.min(maxRetryAfterMs[kind], Math.max(0, wait))',
    replacement: 'Math.max(0, wait)',
    test: 'test/deliveries/retry.test.ts',
    harm: 'A receiver that asks for a year of patience gets none of its events any more.',
  },
  {
    file: 'src/deliveries/post.ts',
    text: 'attempt: claimed.failures + 1,',
    replacement: 'attempt: claimed.attempt,',
    test: 'test/faults/defects.test.ts',
    only: 'a delivery that never leaves a result',
    harm: "A service that crashes again and again uses up its deliveries' attempts.",
  },
  {
    file: 'src/deliveries/core/claims.ts',
    text: 'return claims > maxClaims;',
    replacement: 'return claims >= maxClaims;',
    test: 'test/faults/defects.test.ts',
    only: 'a delivery that never leaves a result',
    harm: 'A delivery is given up one claim too early.',
  },
  {
    file: 'src/deliveries/finish-batch.ts',
    text: `    if (batch.length > 1) {
      for (const entry of batch) await this.#write([entry]);
      return;
    }
`,
    replacement: '',
    test: 'test/faults/lost-claims.test.ts',
    harm: 'One result that cannot be written takes up to 255 others with it, which are then delivered again.',
  },
  {
    file: 'src/deliveries/queue/hold.ts',
    text: ' AND d.event_id <= coalesce(holder.event_id, ${afterAll})',
    replacement: '',
    test: 'test/faults/leases.test.ts',
    only: 'head waits for its retry',
    harm: 'While a delivery waits for its retry and another stands behind it, the engine spins and takes a whole processor.',
  },
  {
    file: 'src/deliveries/pump.ts',
    text: 'while (this.#underWay.size > 0) await Promise.all(this.#underWay);',
    replacement: 'await Promise.all(this.#underWay);',
    test: 'test/faults/leases.test.ts',
    only: 'a stop waits',
    harm: 'At a stop, deliveries that have just begun are cut, and made again later.',
  },
  {
    file: 'src/deliveries/core/retry.ts',
    text: "if (scheduled === undefined) return { step: 'exhausted', reason: 'attempts_used_up' };",
    replacement: "if (scheduled === undefined) return { step: 'retry', delayMs: hour };",
    test: 'test/deliveries/simulation.test.ts',
    harm: 'A delivery to a receiver that is gone for good is tried for ever.',
  },
  {
    file: 'src/deliveries/queue/hold.ts',
    text: 'h.failures < ${holdAttempts}',
    replacement: 'h.failures <= ${holdAttempts}',
    test: 'test/deliveries/lane-model.test.ts',
    harm: 'A failing delivery holds back the later ones of its conversation for one attempt more than is promised.',
  },
  {
    file: 'src/deliveries/core/verdict.ts',
    text: 'if (!hasFailed || address === called) return verdict;',
    replacement: 'if (!hasFailed) return verdict;',
    test: 'test/deliveries/simulation.test.ts',
    harm: 'What fails is tried again at once, without its schedule.',
  },
];
