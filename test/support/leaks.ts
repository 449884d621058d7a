import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 50;
const patienceMs = 10_000;
// What a test opens and has to close; standard input and output are pipes or terminals of the runner's own.
const ownedResources = new Set([
  'ProcessWrap',
  'TCPSocketWrap',
  'TCPServerWrap',
  'Worker',
  'FSEventWrap',
  'StatWatcher',
]);

const closes: (() => Promise<void>)[] = [];

/** Has the run close at its end something that its files share. */
export function closeAtEnd(close: () => Promise<void>): void {
  closes.push(close);
}

/**
 * Returns as counted kinds (`2 × TCPServerWrap`) what keeps this process alive, when all that its files share is closed.
 * Waits a little for handles that are closing.
 */
export async function findLeaks(): Promise<string[]> {
  for (const close of closes) await close();
  let leaks = countOwned();
  for (let waited = 0; leaks.length > 0 && waited < patienceMs; waited += pollMs) {
    await sleep(pollMs);
    leaks = countOwned();
  }
  return leaks;
}

function countOwned(): string[] {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (ownedResources.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} × ${kind}`);
}
