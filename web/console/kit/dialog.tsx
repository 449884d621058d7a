import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Store, useStore } from '../../shared/store.ts';
import { session } from '../session.ts';
import { Toasts } from './toast.tsx';

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** The ids of those that are shown, the topmost last. */
const open = new Store<readonly string[]>([]);

/** A dialog above the page: the browser keeps the focus in it, and Escape closes it. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isTopmost = useStore(open).at(-1) === id;
  // The browser hides a dialog at once and says so in a later task: who pressed a key in between opened it anew, and it would
  // be taken for the old one. Before hiding it the browser says so at once, where it can.
  const hasEnded = useRef(false);
  const end = (): void => {
    if (hasEnded.current) return;
    hasEnded.current = true;
    onClose();
  };
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    open.set([...open.value, id]);
    return () => {
      open.set(open.value.filter((one) => one !== id));
      // Nothing outside takes the focus before the dialog is gone.
      queueMicrotask(() => giveFocusBack(before));
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onBeforeToggle={({ newState }) => newState === 'closed' && end()}
      onClose={end}
    >
      <div class="head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => element.current?.close()}>
          ×
        </button>
      </div>
      {children}
      {isTopmost && <Toasts />}
    </dialog>
  );
}

/** Focuses what had the focus, or the heading where that is gone or takes none. Whatever has the focus by now keeps it. */
export function giveFocusBack(before: Element | null): void {
  const isTaken = (): boolean => document.activeElement !== null && document.activeElement !== document.body;
  if (isTaken()) return;
  if (before instanceof HTMLElement && before.isConnected) before.focus();
  if (!isTaken()) document.querySelector('h1')?.focus({ preventScroll: true });
}

interface Question {
  text: string;
  answer: (yes: boolean) => void;
}

const question = new Store<Question | null>(null);

// Whoever comes next was not asked.
let askedWhom: string | null = null;
session.watch((now) => {
  const who = now.state === 'in' ? `${now.profile.id} ${now.account?.id}` : null;
  if (who !== askedWhom) question.value?.answer(false);
  askedWhom = who;
});

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

/**
 * Where questions are asked, and where toasts are shown while no dialog is: outside of the topmost one the browser lets
 * nobody read or press anything.
 */
export function Dialogs() {
  const asked = useStore(question);
  const isAlone = useStore(open).length === 0;
  return (
    <>
      {asked && <QuestionDialog {...asked} />}
      {isAlone && <Toasts />}
    </>
  );
}

function QuestionDialog({ text, answer }: Question) {
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
