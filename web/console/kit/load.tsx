import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../../shared/service-error.ts';

/** State of a load. `value` stays while it is loaded again. */
export interface Loaded<Value> {
  value: Value | null;
  error: string | null;
  isLoading: boolean;
  reload: () => Promise<void>;
  /** Shows another value at once, such as the answer of a change; of a change of what was shown before, nothing. */
  set: (value: Value) => void;
}

/** Loads something whenever one of `inputs` changes, and when asked to. */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[] = [],
): Loaded<Value> {
  const [state, setState] = useState<Pick<Loaded<Value>, 'value' | 'error' | 'isLoading'>>({
    value: null,
    error: null,
    isLoading: true,
  });
  const running = useRef<AbortController | null>(null);
  const asked = useMemo(() => ({}), inputs);
  const latest = useRef({ load, asked });
  latest.current = { load, asked };
  const reload = useCallback(async () => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    const settle = (outcome: Pick<Loaded<Value>, 'error'> & { value?: Value }): void => {
      if (running.current !== own) return;
      running.current = null;
      setState((before) => ({ ...before, ...outcome, isLoading: false }));
    };
    setState((before) => ({ ...before, isLoading: true }));
    try {
      settle({ value: await latest.current.load(own.signal), error: null });
    } catch (error) {
      settle({ error: sentenceOf(error) });
    }
  }, []);
  useEffect(() => {
    void reload();
    return () => {
      running.current?.abort();
      running.current = null;
    };
  }, [asked]);
  const set = useCallback(
    (value: Value) => {
      if (latest.current.asked !== asked) return;
      setState({ value, error: null, isLoading: false });
      // A load in progress may return an older value than this one, or a newer one.
      if (running.current) void reload();
    },
    [asked],
  );
  return { ...state, reload, set };
}

/** Shows what was loaded; until then that it is being loaded, and where it failed the service's sentence. */
export function Show<Value>({ of, children }: { of: Loaded<Value>; children: (value: Value) => ComponentChildren }) {
  const { value, error, isLoading, reload } = of;
  return (
    <>
      {error !== null && (
        <div class="note error" role="alert">
          <p>{error}</p>
          <button type="button" onClick={() => void reload()}>
            Try again
          </button>
        </div>
      )}
      {value === null && isLoading && <p class="waiting" role="status" aria-label="Loading" />}
      {value !== null && <div aria-busy={isLoading}>{children(value)}</div>}
    </>
  );
}
