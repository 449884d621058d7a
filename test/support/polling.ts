import { setTimeout as sleep } from 'node:timers/promises';

const [shortestMs, longestMs] = [20, 150];
/** Part of the time that has passed, by which a poll may be late. */
const part = 0.05;

/** Waits before the next look at something that has not happened for so long: looking costs computing, which others wait for. */
export async function pauseAfter(passedMs: number): Promise<void> {
  await sleep(Math.min(longestMs, Math.max(shortestMs, part * passedMs)));
}
