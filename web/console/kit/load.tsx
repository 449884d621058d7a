import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../../shared/service-error.ts';

/** What is loaded: `value` stays while it is loaded again. */
export interface Loaded<Value> {
  value: Value | null;
  error: string | null;
  isLoading: boolean;
  reload: () => Promise<void>;
  /** Shows another value at once, such as the answer of a change. */
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
  const reload = useCallback(async () => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const value = await load(own.signal);
      if (running.current === own) setState({ value, error: null, isLoading: false });
    } catch (error) {
      if (running.current === own) setState((before) => ({ ...before, error: sentenceOf(error), isLoading: false }));
    }
  }, inputs);
  useEffect(() => {
    void reload();
    return () => {
      running.current?.abort();
      running.current = null;
    };
  }, [reload]);
  const set = useCallback((value: Value) => setState({ value, error: null, isLoading: false }), []);
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
