import { onSignals } from '../terminal/on-signals.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';

/** How long work shows how far it is, and notices that it is to end. */
export interface Showing {
  /** Shows the part that is done, from 0 to 1, with a text; throws once the work is to end. */
  progress: (part: number, text: string) => void;
  /** Aborted by SIGINT and SIGTERM. */
  stopped: AbortSignal;
  /** Takes the bar away, before something is printed. */
  hide: () => void;
}

/** Calls work that takes long with a progress bar, and with a signal upon which it ends and cleans up. */
export async function withProgress<Result>(work: (showing: Showing) => Promise<Result>): Promise<Result> {
  const bar = new ProgressBar();
  const { stopped, ignoreSignals } = onSignals();
  const progress = (part: number, text: string): void => {
    stopped.throwIfAborted();
    bar.show(part, text);
  };
  try {
    return await work({ progress, stopped, hide: () => bar.end() });
  } finally {
    bar.end();
    ignoreSignals();
  }
}
