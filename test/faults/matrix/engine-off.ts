import type { Fault } from './fault.ts';
import { ok, status } from './manners.ts';
import { until } from './patience.ts';

const writers = 6;
const hourSeconds = 3_600;
/** Longer than the engine is off: what failed before waits for longer than that. */
const wait = status(503, { 'retry-after': String(2 * hourSeconds) });

export const engineOff: Fault = {
  id: 'F21',
  what: 'the engine off for an hour while messages are written, one receiver asking for two hours and one away; then "retry now"',
  run: async (trial) => {
    const { services, scale, client } = trial;
    await services.startWeb();
    const engine = await services.startEngine();
    const there = await trial.receiver('there', () => ok);
    const asking = await trial.receiver('asking', () => ok);
    const away = await trial.receiver('away', () => ok);
    const producer = await trial.producer(writers);
    await producer.write(writers);
    await trial.settle();
    const failing = async (id: number): Promise<number> =>
      (
        await trial.rows(
          `SELECT FROM deliveries WHERE state = 'pending' AND failures > 0 AND lease_token IS NULL
             AND endpoint_kind = 'webhook' AND endpoint_id = $1`,
          [id],
        )
      ).length;
    const isOpen = async (): Promise<boolean> =>
      (await client.need('GET', `webhooks/${away.id}`)).circuit.state === 'open';

    asking.receiver.conduct = () => wait;
    await away.receiver.close();
    await producer.write(writers);
    await until('every conversation waits', async () => (await failing(asking.id)) === writers);
    await until('the circuit opens', isOpen);
    await services.stop(engine);
    asking.receiver.conduct = () => ok;
    await away.receiver.open();
    const [before, asked] = [trial.arrivals, asking.receiver.arrivals.length];
    await producer.write(scale.pick(60, 1_200));
    await trial.pass(hourSeconds);
    trial.check(trial.arrivals === before, `${trial.arrivals - before} deliveries were made without an engine`);

    await services.startEngine();
    const wanted = producer.writes.length;
    await until('the backlog arrives', () => there.receiver.arrivals.length >= wanted);
    const early = asking.receiver.arrivals.length - asked;
    trial.check(early === 0, `${early} deliveries came to a receiver that had asked to wait`);
    // From here on no time is passed over.
    const { count } = await client.need('POST', `webhooks/${asking.id}/retry`);
    trial.check(count === writers, `${count} failing deliveries were retried, not ${writers}`);
    await client.need('POST', `webhooks/${away.id}/retry`);
    await until('everything is delivered', async () => (await trial.pending()) === 0);
  },
};
