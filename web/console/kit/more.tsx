import { useMemo, useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../../shared/service-error.ts';
import { toast } from './toast.tsx';
import { useLoad, type Loaded } from './load.tsx';

/** A part of a list by cursors, as the service answers it. */
export interface Part<Row> {
  payload: Row[];
  meta: { next_cursor: string | null };
}

/** A list by cursors: its first part, and those that were asked for behind it. */
export interface Growing<Row> extends Loaded<Part<Row>> {
  more: () => Promise<void>;
}

/**
 * Loads the first part of a list by cursors whenever one of `inputs` changes. What is loaded again reaches as far as what is
 * shown: nobody who has gone on is thrown back to the beginning.
 */
export function useParts<Row>(
  load: (cursor: string | undefined, signal?: AbortSignal) => Promise<Part<Row>>,
  inputs: readonly unknown[],
): Growing<Row> {
  const wanted = useMemo(() => ({ parts: 1 }), inputs);
  const loaded = useLoad((signal) => readParts(load, wanted.parts, signal), inputs);
  const shown = useRef(loaded.value);
  shown.current = loaded.value;
  async function more(): Promise<void> {
    const { value, set, reload } = loaded;
    if (!value?.meta.next_cursor) return;
    wanted.parts += 1;
    try {
      const next = await load(value.meta.next_cursor);
      // Behind a first part that was loaded meanwhile something else may follow.
      if (shown.current === value) set(joined(value, next));
      else await reload();
    } catch (error) {
      if (shown.current === value) wanted.parts -= 1;
      throw error;
    }
  }
  return { ...loaded, more };
}

async function readParts<Row>(
  load: (cursor: string | undefined, signal?: AbortSignal) => Promise<Part<Row>>,
  parts: number,
  signal: AbortSignal,
): Promise<Part<Row>> {
  let all = await load(undefined, signal);
  for (let read = 1; read < parts && all.meta.next_cursor !== null; read += 1) {
    all = joined(all, await load(all.meta.next_cursor, signal));
  }
  return all;
}

function joined<Row>(one: Part<Row>, next: Part<Row>): Part<Row> {
  return { payload: [...one.payload, ...next.payload], meta: next.meta };
}

/** The button that goes on in a list by cursors, as long as there is more. */
export function More<Row>({ of }: { of: Growing<Row> }) {
  const [isBusy, setBusy] = useState(false);
  if (!of.value?.meta.next_cursor) return null;
  async function run(): Promise<void> {
    setBusy(true);
    await of.more().catch((error: unknown) => toast(sentenceOf(error), 'error'));
    setBusy(false);
  }
  return (
    <button type="button" disabled={isBusy} onClick={() => void run()}>
      Show more
    </button>
  );
}
