import { useRef, useState } from 'preact/hooks';
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

/** Loads the first part of a list by cursors whenever one of `inputs` changes. */
export function useParts<Row>(
  load: (cursor: string | undefined, signal?: AbortSignal) => Promise<Part<Row>>,
  inputs: readonly unknown[],
): Growing<Row> {
  const loaded = useLoad((signal) => load(undefined, signal), inputs);
  const shown = useRef(loaded.value);
  shown.current = loaded.value;
  async function more(): Promise<void> {
    const { value, set } = loaded;
    if (!value?.meta.next_cursor) return;
    const next = await load(value.meta.next_cursor);
    // Another filter, or a newer first part: this one belongs to neither.
    if (shown.current === value) set({ payload: [...value.payload, ...next.payload], meta: next.meta });
  }
  return { ...loaded, more };
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
