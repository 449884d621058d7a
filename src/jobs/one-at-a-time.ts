/**
 * The work, never twice at once: who asks for it while it is under way gets another run, begun after that one, together with
 * everybody else who asks meanwhile. So nothing is missed that became due behind a run.
 */
export function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> | null = null;
  let next: Promise<Result> | null = null;
  const run = (): Promise<Result> => {
    next = null;
    const begun = work();
    const ended = begun
      .catch(() => undefined)
      .finally(() => {
        if (running === ended) running = null;
      });
    running = ended;
    return begun;
  };
  return () => (running ? (next ??= running.then(run)) : run());
}
