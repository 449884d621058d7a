import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';
import { ok, slow, status } from './manners.ts';
import { residentMb } from './services.ts';
import type { Trial } from './trial.ts';

const failedOnce = 0.03;
const pauseMs = 100;
/** Memory that a process may take more at the end than after the first half, beyond what its collector moves. */
const growthMb = 60;

async function memoryOf({ services }: Trial): Promise<number> {
  const processes = [...services.engines, ...(services.web ? [services.web] : [])];
  const figures = await Promise.all(processes.map(residentMb));
  return Math.max(...figures.map((figure) => figure ?? 0));
}

/** Steady traffic for SOAK_MINUTES (twenty in the full profile): what grows shows. */
export const soak: Fault = {
  id: 'soak',
  what: 'steady traffic (4 s; twenty minutes in the full profile), a receiver that fails now and then, no fault; memory stays',
  run: async (trial) => {
    const { services, scale } = trial;
    await services.startWeb();
    await services.startEngine();
    await services.startEngine();
    await trial.receiver('well', () => slow(5));
    await trial.receiver('failing-now-and-then', (_, count) =>
      count === 1 && scale.random() < failedOnce ? status(500) : ok,
    );
    const producer = await trial.producer(20);
    const halfMs = scale.pick(2_000, 30_000 * Number(process.env['SOAK_MINUTES'] ?? 20));
    const writeFor = async (ms: number): Promise<void> => {
      for (const until = Date.now() + ms; Date.now() < until; await sleep(pauseMs)) await producer.write(4);
    };
    await writeFor(halfMs);
    const before = await memoryOf(trial);
    await writeFor(halfMs);
    const after = await memoryOf(trial);
    const grown = Math.round(after - before);
    trial.check(grown <= growthMb, `the largest process took ${grown} MB more in the second half`);
  },
};
