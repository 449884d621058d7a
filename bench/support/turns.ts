import { load, summary, type Ask, type Round } from './load.ts';

/** Sixteen clients, in rounds short enough for a shared machine to be the same in each pair. */
const connections = 16;
const rounds = 3;
const roundMs = 2_000;

/** Something that answers requests, and which to send. */
export interface Target {
  url: string;
  next: () => Ask;
}

/** Loads two targets in turns, the first pair to warm up; answers what each came to. */
export async function inTurns(ours: Target, other: Target) {
  const results: { ours: Round[]; other: Round[] } = { ours: [], other: [] };
  for (let round = 0; round <= rounds; round++) {
    results.ours.push(await load(ours.url, { connections, roundMs, next: ours.next }));
    results.other.push(await load(other.url, { connections, roundMs, next: other.next }));
  }
  return { ours: summary(results.ours), other: summary(results.other) };
}
