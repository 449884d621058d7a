import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { sentenceOf } from '../../shared/service-error.ts';
import { confirm, giveFocusBack } from './dialog.tsx';
import { Elapsed } from './elapsed.tsx';
import { toast } from './toast.tsx';

interface Props {
  /** Runs at a click. A refusal is shown as a toast. */
  act: () => Promise<unknown>;
  children: ComponentChildren;
  /** Said when it is done. */
  done?: string;
  /** Asked before: for what cannot be undone. */
  question?: string;
  kind?: 'primary' | 'danger' | 'quiet';
  /** The accessible name, where the text says too little. */
  label?: string;
  disabled?: boolean;
}

/** A button that does something at the service, once at a time. */
export function Action({ act, children, done, question, kind, label, disabled = false }: Props) {
  const [since, setSince] = useState<number | null>(null);
  const isBusy = since !== null;
  async function run(button: HTMLButtonElement): Promise<void> {
    if (question !== undefined && !(await confirm(question))) return;
    setSince(Date.now());
    try {
      await act();
      if (done !== undefined) toast(done);
    } catch (error) {
      toast(sentenceOf(error), 'error');
    }
    setSince(null);
    // A button that is busy has no focus, and what was deleted has none any more.
    if (question !== undefined) setTimeout(() => giveFocusBack(button));
  }
  return (
    <button
      type="button"
      class={kind}
      aria-label={label}
      aria-busy={isBusy}
      disabled={disabled || isBusy}
      onClick={({ currentTarget }) => void run(currentTarget)}
    >
      {children}
      {since !== null && <Elapsed since={since} />}
    </button>
  );
}
