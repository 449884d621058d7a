import { useRef, useState } from 'preact/hooks';
import { draftKey, readDraft, writeDraft } from './kept-drafts.ts';

/** The content of a form that is kept over navigation and reload until it is saved or discarded. */
export interface Draft<Value extends object> {
  value: Value;
  set: (changes: Partial<Value>) => void;
  /** Whether it differs from what is saved. */
  isChanged: boolean;
  /** Whether fields that the browser's storage must not hold were changed: leaving the page loses them. */
  hasUnkept: boolean;
  /** Whether it was written before the form was opened. */
  isRestored: boolean;
  discard: () => void;
  /** Forgets changes that are saved; what was entered since stays. */
  saved: (sent: Value) => void;
}

/**
 * A draft of the person in the account by this name. It holds changed fields only: the others follow what is saved, so that
 * an old draft does not take back what somebody else has changed. `unkept` names secret fields, which stay in memory.
 */
export function useDraft<Value extends object>(
  name: string,
  initial: Value,
  unkept: readonly (keyof Value)[] = [],
): Draft<Value> {
  const key = draftKey(name);
  const [changes, setChanges] = useState<Partial<Value>>(() => readDraft(key) ?? {});
  const [isRestored, setRestored] = useState(() => differences(changes, initial).length > 0);
  const latest = useRef({ initial, changes });
  latest.current.initial = initial;
  const put = (next: Partial<Value>): void => {
    latest.current.changes = next;
    setChanges(next);
    const kept = Object.entries(next).filter(([field]) => !unkept.includes(field as keyof Value));
    writeDraft(key, kept.length === 0 ? null : Object.fromEntries(kept));
  };
  const changed = differences(changes, initial);
  return {
    value: { ...initial, ...changes },
    isChanged: changed.length > 0,
    hasUnkept: changed.some(([field]) => unkept.includes(field as keyof Value)),
    isRestored,
    set: (entered) => {
      const { initial: saved, changes: before } = latest.current;
      put(Object.fromEntries(differences({ ...before, ...entered }, saved)) as Partial<Value>);
    },
    discard: () => {
      setRestored(false);
      put({});
    },
    saved: (sent) => {
      setRestored(false);
      const rest = Object.entries(latest.current.changes).filter(
        ([field, value]) => value !== sent[field as keyof Value],
      );
      put(Object.fromEntries(rest) as Partial<Value>);
    },
  };
}

function differences<Value extends object>(changes: Partial<Value>, initial: Value): [string, unknown][] {
  return Object.entries(changes).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(initial[field as keyof Value]),
  );
}
