import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Store, useStore } from '../../shared/store.ts';
import { session } from '../session.ts';
import { Toasts } from './toast.tsx';
import { DialogForms, type UnsavedForm } from './unsaved.ts';

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** Ids of the dialogs that are shown, the topmost last. */
const open = new Store<readonly string[]>([]);

/** A dialog above the page: the browser keeps the focus in it, and Escape closes it, after a question where text is unsaved. */
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
  const forms = useRef(new Set<UnsavedForm>()).current;
  async function leave(): Promise<void> {
    if (forms.size > 0 && !(await confirmDiscard())) return;
    for (const form of forms) form.discard();
    element.current?.close();
  }
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
      onKeyDown={(event) => {
        // The browser would close it, and at a second Escape would not even ask the page.
        if (event.key !== 'Escape' || event.isComposing || forms.size === 0) return;
        event.preventDefault();
        if (isTopmost) void leave();
      }}
      onCancel={(event) => {
        if (forms.size === 0) return;
        event.preventDefault();
        void leave();
      }}
    >
      <div class="head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => void leave()}>
          ×
        </button>
      </div>
      <DialogForms.Provider value={forms}>{children}</DialogForms.Provider>
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
  title: string;
  text: string;
  yes: string;
  no: string;
  answer: (yes: boolean) => void;
}

const question = new Store<Question | null>(null);

// A question to one person is not answered by the next.
let askedWhom: string | null = null;
session.watch((now) => {
  const who = now.state === 'in' ? `${now.profile.id} ${now.account?.id}` : null;
  if (who !== askedWhom) question.value?.answer(false);
  askedWhom = who;
});

/** Asks the person before something that cannot be undone. */
export function confirm(text: string): Promise<boolean> {
  return ask({ title: 'Are you sure?', text, yes: 'Yes', no: 'No' });
}

/** Asks the person before entered text is thrown away. */
export function confirmDiscard(): Promise<boolean> {
  return ask({
    title: 'Discard your changes?',
    text: 'Your changes are not saved.',
    yes: 'Discard',
    no: 'Keep editing',
  });
}

function ask(asked: Omit<Question, 'answer'>): Promise<boolean> {
  question.value?.answer(false);
  return new Promise((resolve) => {
    question.set({
      ...asked,
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

function QuestionDialog({ title, text, yes, no, answer }: Question) {
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <p>{text}</p>
      <div class="actions">
        <button type="button" class="danger" onClick={() => answer(true)}>
          {yes}
        </button>
        <button type="button" onClick={() => answer(false)}>
          {no}
        </button>
      </div>
    </Dialog>
  );
}
