import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Store, useStore } from '../../shared/store.ts';

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog above the page: the browser keeps the focus in it, and Escape closes it. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <div class="head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => element.current?.close()}>
          ×
        </button>
      </div>
      {children}
    </dialog>
  );
}

interface Question {
  text: string;
  answer: (yes: boolean) => void;
}

const question = new Store<Question | null>(null);

/** Asks the person before something that cannot be undone. */
export function confirm(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    question.set({
      text,
      answer: (yes) => {
        question.set(null);
        resolve(yes);
      },
    });
  });
}

/** Where questions are asked. */
export function Dialogs() {
  const asked = useStore(question);
  if (!asked) return null;
  const { text, answer } = asked;
  return (
    <Dialog title="Are you sure?" onClose={() => answer(false)}>
      <p>{text}</p>
      <div class="actions">
        <button type="button" class="danger" onClick={() => answer(true)}>
          Yes
        </button>
        <button type="button" onClick={() => answer(false)}>
          No
        </button>
      </div>
    </Dialog>
  );
}
