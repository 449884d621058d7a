import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Claimed } from '../../src/deliveries/lanes/claim.ts';
import { finishAndGoOn } from '../../src/deliveries/lanes/finish.ts';
import { releaseLanes } from '../../src/deliveries/lanes/lease.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { Bench, claimDue, holdAttempts, leaseSeconds } from '../faults/lease-bench.ts';
import { dueAtOf, headOf, type ModelDelivery } from './lane-model.ts';

const minuteMs = 60_000;
const lanes = 60;
const perLane = 4;

type Drawn = Pick<ModelDelivery, 'state' | 'dueAt' | 'failures'>;
const drawn = fc.record<Drawn>({
  state: fc.constantFrom('pending', 'pending', 'pending', 'delivered'),
  dueAt: fc.constantFrom(-minuteMs, minuteMs, 2 * minuteMs),
  failures: fc.nat(holdAttempts + 1),
});

describe('the model of a lane', () => {
  let bench: Bench;
  let token: string;
  let laneIds: number[];
  let deliveryIds: Map<number, number[]>;

  before(async () => {
    bench = await Bench.start();
    token = systemRandom.uuid();
    const webhook = await bench.webhook();
    laneIds = await bench.deliveries(webhook, lanes);
    for (const id of laneIds) await bench.deliveries(webhook, perLane - 1, id);
    const rows = await bench.rows('SELECT id, lane_id FROM deliveries ORDER BY event_id');
    const byLane = Map.groupBy(rows, ({ lane_id: laneId }) => Number(laneId));
    deliveryIds = new Map([...byLane].map(([lane, deliveries]) => [lane, deliveries.map(({ id }) => Number(id))]));
  });

  after(() => bench.app.stop());

  async function draw(): Promise<Map<number, ModelDelivery[]>> {
    const samples = fc.sample(fc.array(drawn, { minLength: perLane, maxLength: perLane }), lanes);
    const rows = laneIds.flatMap((lane, at) =>
      (deliveryIds.get(lane) ?? []).map((id, place) => ({ id, lane, eventId: id, ...samples[at]![place]! })),
    );
    await bench.rows(
      `UPDATE deliveries d SET state = r.state, failures = r.failures, lease_token = NULL,
         next_attempt_at = now() + make_interval(secs => r.due_ms / 1000.0)
       FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[]) AS r (id, state, failures, due_ms) WHERE d.id = r.id`,
      [
        rows.map(({ id }) => id),
        ...(['state', 'failures', 'dueAt'] as const).map((key) => rows.map((row) => row[key])),
      ],
    );
    await bench.rows('UPDATE lanes SET lease_token = $1, due_at = now()', [token]);
    return Map.groupBy(
      rows.map((row) => ({ ...row, claims: 0, attempt: 0 })),
      ({ lane }) => lane,
    );
  }

  async function claimAll(): Promise<Claimed[]> {
    await bench.rows('UPDATE lanes SET lease_token = NULL');
    const shares = await bench.shares(lanes);
    const { heads, idle } = await claimDue(bench.sql, { shares, leaseSeconds, token, holdAttempts, isHeld: false });
    expect(heads.length + idle.length).to.equal(lanes);
    return heads;
  }

  it('delivers what a claim takes', async () => {
    for (let round = 0; round < 5; round++) {
      const model = await draw();
      const heads = await claimAll();
      const taken = new Map(heads.map(({ laneId, deliveryId }) => [laneId, deliveryId]));
      for (const [lane, rows] of model)
        expect(taken.get(lane), JSON.stringify(rows)).to.equal(headOf(rows, 0, holdAttempts)?.eventId);
    }
  });

  it('goes on with what a claim would take next', async () => {
    for (let round = 0; round < 5; round++) {
      const model = await draw();
      const heads = await claimAll();
      const results = heads.map((claimed) => ({ ...bench.resultOf(claimed), goesOn: true }));
      const written = await finishAndGoOn(bench.sql, results, { holdAttempts, leaseSeconds: 1 });
      expect(written).to.have.lengthOf(heads.length);
      for (const { laneId, deliveryId, isDue, next } of written) {
        const left = (model.get(laneId) ?? []).filter(({ eventId }) => eventId !== deliveryId);
        const expected = headOf(left, 0, holdAttempts)?.eventId ?? null;
        expect(next?.deliveryId ?? null, JSON.stringify(left)).to.equal(expected);
        expect(isDue, JSON.stringify(left)).to.equal(expected !== null);
      }
    }
  });

  it('is due again when a lane that is given back is', async () => {
    const model = await draw();
    const leases = laneIds.map((laneId) => ({ laneId, token }));
    await bench.transaction((sql) => releaseLanes(sql, leases, holdAttempts));
    const rows = await bench.rows('SELECT id, extract(epoch FROM due_at - now())::float8 / 60 AS minutes FROM lanes');
    for (const { id, minutes } of rows) {
      const dueAt = dueAtOf(model.get(Number(id)) ?? [], holdAttempts);
      const expected = dueAt === null ? null : Math.max(0, dueAt / minuteMs);
      expect(minutes === null ? null : Math.round(Number(minutes)), `lane ${String(id)}`).to.equal(expected);
    }
  });
});
