import { createContext } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';

/** A form with text that is not saved. */
export interface UnsavedForm {
  /** Forgets the draft, where the form has one. */
  discard: () => void;
}

type Forms = Set<UnsavedForm>;

/** Forms of the dialog that a form is in; the set is of no use outside of dialogs. */
export const DialogForms = createContext<Forms>(new Set());

// Forms whose text would be lost with the page.
const losable: Forms = new Set();

/** Whether leaving the page loses something that was entered. */
export function hasUnsaved(): boolean {
  return losable.size > 0;
}

/** Has the browser ask before a tab is closed, or a page is loaded anew, that has unsaved text. */
export function warnBeforeUnload(): void {
  addEventListener('beforeunload', (event) => {
    if (hasUnsaved()) event.preventDefault();
  });
}

/**
 * Returns a function that marks whether the form has unsaved text, and whether leaving the page loses it. A form that is gone
 * has none.
 */
export function useUnsaved(discard: () => void): (state: { isChanged: boolean; isLosable: boolean }) => void {
  const ofDialog = useContext(DialogForms);
  const own = useRef({ discard });
  own.current.discard = discard;
  const mark = ({ isChanged, isLosable }: { isChanged: boolean; isLosable: boolean }): void => {
    put(ofDialog, own.current, isChanged);
    put(losable, own.current, isChanged && isLosable);
  };
  useEffect(() => () => mark({ isChanged: false, isLosable: false }), []);
  return mark;
}

function put(forms: Forms, form: UnsavedForm, isIn: boolean): void {
  if (isIn) forms.add(form);
  else forms.delete(form);
}
