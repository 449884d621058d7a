/** A server-sent event. */
export interface ServerEvent {
  name: string;
  data: string;
}

interface Listener {
  event: (event: ServerEvent) => void;
  /** Gets the cursor behind what was read: with it the next stream goes on. */
  place?: (cursor: string) => void;
}

interface Source extends Listener {
  /** Opens the stream. */
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
  /** The stream is open. */
  opened: () => Promise<void> | void;
  /** The stream could not be opened, or has ended; it is opened again. `error` is null where the service ended it. */
  closed: (error: unknown) => void;
  /** The least pause in ms that the service asked for with an error. */
  leastPauseMs?: (error: unknown) => number;
}

const firstPauseMs = 500;
const lastPauseMs = 20_000;
/** The service sends a heartbeat every 15 seconds. */
const silenceMs = 40_000;
/** A dead connection answers never. */
const openMs = 15_000;
const watchMs = 5_000;

/**
 * Follows a stream of server-sent events until the signal ends it: opens it again, at growing distances, whenever it breaks or
 * falls silent. An EventSource tells neither heartbeats nor statuses.
 */
export async function followEvents(source: Source, until: AbortSignal): Promise<void> {
  let pauseMs = firstPauseMs;
  while (!until.aborted) {
    const error = await readOnce(source, until, () => (pauseMs = firstPauseMs));
    if (until.aborted) return;
    source.closed(error);
    // Never the same for all browsers that a restart has cut.
    await pause(pauseMs * (0.5 + Math.random() / 2), until, source.leastPauseMs?.(error));
    pauseMs = Math.min(pauseMs * 2, lastPauseMs);
  }
}

/** Reads a stream to its end. Returns why it ended, or null. */
async function readOnce(source: Source, until: AbortSignal, lives: () => void): Promise<unknown> {
  const own = new AbortController();
  const stop = (): void => own.abort();
  let patienceMs = openMs;
  let lastSign = Date.now();
  // A computer that slept has a dead connection: time counts, not the run of a timer.
  const look = (): void => {
    if (Date.now() - lastSign > patienceMs) stop();
  };
  const timer = setInterval(look, watchMs);
  addEventListener('online', look);
  document.addEventListener('visibilitychange', look);
  until.addEventListener('abort', stop);
  try {
    const stream = await source.open(own.signal);
    until.throwIfAborted();
    lastSign = Date.now();
    patienceMs = silenceMs;
    await source.opened();
    lives();
    await readEvents(stream, { ...source, isOver: () => until.aborted, sign: () => (lastSign = Date.now()) });
    return null;
  } catch (error) {
    return error;
  } finally {
    clearInterval(timer);
    removeEventListener('online', look);
    document.removeEventListener('visibilitychange', look);
    until.removeEventListener('abort', stop);
    stop();
  }
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  listener: Listener & { isOver: () => boolean; sign: () => void },
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done || listener.isOver()) return;
    listener.sign();
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) if (!listener.isOver()) tell(block, listener);
  }
}

function tell(block: string, { event, place }: Listener): void {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    fields.set(name, fields.has(name) && name === 'data' ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get('data');
  if (data !== undefined) event({ name: fields.get('event') ?? 'message', data });
  const id = fields.get('id');
  if (id !== undefined) place?.(id);
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
