import { setTimeout as wait } from 'node:timers/promises';
import { ServiceRefusal } from '../lib/service-client.ts';

const busyPauseMs = 2000;
const maxBusyPauses = 30;

/** Asks again where the service is busy, or the token's requests of a minute are used up. */
export async function patiently<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let pauses = 0; ; pauses += 1) {
    try {
      return await ask();
    } catch (error) {
      const isBusy = error instanceof ServiceRefusal && (error.status === 429 || error.status === 503);
      if (!isBusy || pauses === maxBusyPauses) throw error;
      await wait(busyPauseMs);
    }
  }
}
