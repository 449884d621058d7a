import type { Fault } from './fault.ts';
import { slow } from './manners.ts';

/** Many engines on one queue, and nothing else. */
export const manyEngines: Fault = {
  id: 'F6',
  what: 'several engines on one queue (3; 8 in the full profile), no fault',
  run: async (trial) => {
    const { services, scale } = trial;
    await services.startWeb();
    const count = scale.pick(3, 8);
    await Promise.all(Array.from({ length: count }, () => services.startEngine({ env: { DATABASE_POOL_MAX: '6' } })));
    for (let number = 1; number <= 4; number += 1) {
      await trial.receiver(`receiver ${number}`.replace(' ', '-'), () => slow(Math.floor(scale.random() * 10)));
    }
    const producer = await trial.producer(40);
    await producer.write(scale.pick(200, 10_000));
  },
};
