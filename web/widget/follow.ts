import { Refusal } from './refusal.ts';
import type { WidgetEvent } from './service.ts';

interface Follower {
  /** Opens the stream. Errors: Refusal. */
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
  /** The stream is open: what happened before it is to be read now. */
  opened: () => Promise<void>;
  /** The stream is not open, or not any more; it is opened again. */
  closed: (refusal: Refusal) => void;
  heard: (event: WidgetEvent) => void;
}

// The service shows every 15 s that it lives.
const silenceMs = 40_000;
const firstWaitMs = 500;
const longestWaitMs = 20_000;

/** Follows the stream until the signal ends it: opens it again, at growing distances, whenever it breaks. */
export async function follow(follower: Follower, until: AbortSignal): Promise<void> {
  let waitMs = firstWaitMs;
  while (!until.aborted) {
    const refusal = await readOnce(follower, until, () => (waitMs = firstWaitMs));
    if (until.aborted) return;
    follower.closed(refusal);
    await pause(waitMs * (0.5 + Math.random() / 2), until, refusal.retryAfter * 1000);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
}

/** Reads the stream to its end; returns why it ended. */
async function readOnce(follower: Follower, until: AbortSignal, lives: () => void): Promise<Refusal> {
  const silence = new AbortController();
  const stop = () => silence.abort();
  until.addEventListener('abort', stop);
  let timer = setTimeout(stop, silenceMs);
  try {
    const reader = (await follower.open(silence.signal)).getReader();
    await follower.opened();
    lives();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Refusal(0);
      clearTimeout(timer);
      timer = setTimeout(stop, silenceMs);
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) tell(block, follower);
    }
  } catch (error) {
    return error instanceof Refusal ? error : new Refusal(0);
  } finally {
    clearTimeout(timer);
    until.removeEventListener('abort', stop);
    stop();
  }
}

function tell(block: string, { heard }: Follower): void {
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data !== undefined) heard(JSON.parse(data) as WidgetEvent);
}

/** Waits; less when the network comes back, or somebody looks at the page again, but `leastMs` in any case. */
export function pause(ms: number, until?: AbortSignal, leastMs = 0): Promise<void> {
  return new Promise((resolve) => {
    const from = Date.now();
    const wake = () => Date.now() - from < leastMs || end();
    const seen = () => document.hidden || wake();
    const timer = setTimeout(end, Math.max(ms, leastMs));
    function end(): void {
      clearTimeout(timer);
      removeEventListener('online', wake);
      document.removeEventListener('visibilitychange', seen);
      until?.removeEventListener('abort', end);
      resolve();
    }
    addEventListener('online', wake);
    document.addEventListener('visibilitychange', seen);
    until?.addEventListener('abort', end);
  });
}
