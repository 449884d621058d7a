import { useLayoutEffect, useState } from 'preact/hooks';
import { Field } from './form.tsx';

interface Props<Value> {
  label: string;
  value: Value | null;
  /** Gets null for an empty field. */
  onChange: (value: Value | null) => void;
  hint?: string;
  problem?: string | undefined;
}

/** A field for an id: it counts when it is left, or with Enter, as half a number is another one. */
export function IdField(props: Props<string>) {
  return <TextField {...props} inputMode="numeric" />;
}

/** A field for a text, which counts when it is left, or with Enter. */
export function TextField({
  value,
  onChange,
  inputMode = 'text',
  ...field
}: Props<string> & { inputMode?: 'numeric' | 'text' }) {
  const [text, setText] = useDraft(value ?? '');
  return (
    <Field {...field}>
      {(control) => (
        <input
          {...control}
          inputMode={inputMode}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value.trim() || null)}
        />
      )}
    </Field>
  );
}

/** A field for a moment, in Unix seconds, shown in the time zone of the browser. */
export function MomentField({ value, onChange, ...field }: Props<number>) {
  const [text, setText] = useDraft(value === null ? '' : localText(value));
  return (
    <Field {...field}>
      {(control) => (
        <input
          {...control}
          type="datetime-local"
          step={1}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onChange={({ currentTarget }) => onChange(secondsOf(currentTarget.value))}
        />
      )}
    </Field>
  );
}

// Entered text survives a redraw of the page, by an event for example.
function useDraft(value: string) {
  const draft = useState(value);
  const [, setText] = draft;
  useLayoutEffect(() => setText(value), [value]);
  return draft;
}

/** A number in the query of the address; null without one. What is none goes to the service, whose sentence is shown. */
export function numberIn(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  return text === null ? null : Number(text);
}

function localText(seconds: number): string {
  const moment = new Date(seconds * 1000);
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return Number.isNaN(local.getTime()) ? '' : local.toISOString().slice(0, 19);
}

function secondsOf(text: string): number | null {
  return text === '' ? null : Math.floor(new Date(text).getTime() / 1000);
}
