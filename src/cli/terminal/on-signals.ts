/** Returns a signal that SIGINT and SIGTERM abort, so that work in progress is completed or cleaned up; a second one ends the process. */
export function onSignals(): { stopped: AbortSignal; ignoreSignals: () => void } {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals): void => stopping.abort(new Error(`${signal} stopped it`));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, stop);
  return {
    stopped: stopping.signal,
    ignoreSignals: () => {
      for (const signal of signals) process.off(signal, stop);
    },
  };
}
