import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { sentenceOf } from '../../shared/service-error.ts';
import { confirm } from './dialog.tsx';
import { toast } from './toast.tsx';

interface Props {
  /** What the button does; a refusal is shown as the service says it. */
  act: () => Promise<unknown>;
  children: ComponentChildren;
  /** Said when it is done. */
  done?: string;
  /** Asked before: for what cannot be undone. */
  question?: string;
  kind?: 'primary' | 'danger';
  /** The accessible name, where the text says too little. */
  label?: string;
  disabled?: boolean;
}

/** A button that does something at the service, once at a time. */
export function Action({ act, children, done, question, kind, label, disabled = false }: Props) {
  const [isBusy, setBusy] = useState(false);
  async function run(): Promise<void> {
    if (question !== undefined && !(await confirm(question))) return;
    setBusy(true);
    try {
      await act();
      if (done !== undefined) toast(done);
    } catch (error) {
      toast(sentenceOf(error), 'error');
    }
    setBusy(false);
  }
  return (
    <button
      type="button"
      class={kind}
      aria-label={label}
      aria-busy={isBusy}
      disabled={disabled || isBusy}
      onClick={() => void run()}
    >
      {children}
    </button>
  );
}
