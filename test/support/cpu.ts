const tries = 3;
const sample = JSON.stringify(
  Array.from({ length: 20_000 }, (_, id) => ({ id, name: `name ${id}`, on: id % 2 === 0 })),
);
/** What reading and writing the sample three times takes on the machine for which bounds are chosen. */
const sampleMs = 16;

/**
 * Milliseconds of this thread's computing time that the work takes: what others on the machine take is not counted, and on
 * a slower machine it is as if this one had done it. Work that takes longer than `allowedMs` is done again, twice at most,
 * and the shortest time counts: a collection of garbage or a first compilation is not the work's own.
 */
export async function computingMs(work: () => unknown, allowedMs: number): Promise<number> {
  let least = Infinity;
  for (let left = tries; left > 0 && least > allowedMs; left--) {
    const took = await threadMs(work);
    least = Math.min(least, took > allowedMs ? took / (await slowness()) : took);
  }
  return least;
}

async function threadMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** How many times longer than there this machine computes now; at least 1. */
async function slowness(): Promise<number> {
  const took = await threadMs(() => {
    for (let times = 0; times < 3; times++) JSON.stringify(JSON.parse(sample));
  });
  return Math.max(1, took / sampleMs);
}
