import { setTimeout as sleep } from 'node:timers/promises';

const lookMs = 50;
/** How long nothing at all may change before a wait is given up. A busy machine makes everything slow, but stops nothing. */
const standstillMs = 120_000;

/** What a wait looks at: whether it is over, and what shows that there is progress. */
export interface Look {
  done: boolean;
  /** Anything that changes as long as the service comes on. */
  progress: string | number;
}

/** Waits as long as there is progress; rejects with the last progress when there is none for two minutes. */
export async function patiently(what: string, look: () => Promise<Look> | Look): Promise<void> {
  let last: string | number | null = null;
  let changedAt = performance.now();
  for (;;) {
    const { done, progress } = await look();
    if (done) return;
    if (progress !== last) changedAt = performance.now();
    if (performance.now() - changedAt > standstillMs)
      throw new Error(`${what}: nothing changes any more (${progress})`);
    last = progress;
    await sleep(lookMs);
  }
}

let moves = 0;

/** Says that something has come on: an arrival, an answer, a process. */
export function moved(): void {
  moves += 1;
}

/** Waits until it is so, as long as anything comes on. */
export function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  return patiently(what, async () => ({ done: await isSo(), progress: moves }));
}
