import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../../shared/service-error.ts';
import { ChoiceField } from './form.tsx';
import { toast } from './toast.tsx';

interface Props<Value extends string> {
  label: string;
  hint?: string;
  /** The stored value. */
  value: Value;
  options: readonly (readonly [value: Value, text: string])[];
  /** Stores a choice; where it is refused, the field shows what is stored again, and the service's sentence is told. */
  save: (value: Value) => Promise<unknown>;
}

/** A field for one of several values, each stored as soon as it is chosen. */
export function SavedChoice<Value extends string>({ value, save, ...field }: Props<Value>) {
  // Shown until what is stored is shown, which may be told later than that it was stored.
  const [chosen, setChosen] = useState<Value | null>(null);
  const [waiting, setWaiting] = useState(0);
  // Choices are stored one after the other: the last one holds.
  const latest = useRef<Promise<void>>(Promise.resolve());
  // Before anybody can choose again, which it would else take back.
  useLayoutEffect(() => {
    if (waiting === 0) setChosen(null);
  }, [value]);
  async function store(wanted: Value): Promise<void> {
    try {
      await save(wanted);
    } catch (error) {
      setChosen((now) => (now === wanted ? null : now));
      toast(sentenceOf(error), 'error');
    }
    setWaiting((count) => count - 1);
  }
  function choose(wanted: Value): void {
    setChosen(wanted);
    setWaiting((count) => count + 1);
    latest.current = latest.current.then(() => store(wanted));
  }
  return (
    <div aria-busy={waiting > 0}>
      <ChoiceField {...field} value={chosen ?? value} onChange={choose} />
    </div>
  );
}
