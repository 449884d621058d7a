import { useState } from 'preact/hooks';
import { TextField } from '../../kit/form.tsx';

interface Props<Value> {
  label: string;
  value: Value;
  /** Called with null for a text that is no object as JSON. */
  onChange: (value: Value | null) => void;
}

/** A field for an object as JSON. */
export function JsonField<Value extends object>({ label, value, onChange }: Props<Value>) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const isValid = parse(text) !== null;
  function enter(entered: string): void {
    setText(entered);
    onChange(parse(entered) as Value | null);
  }
  return (
    <TextField
      label={label}
      rows={16}
      value={text}
      onChange={enter}
      problem={isValid ? undefined : 'Invalid JSON. Correct it to save.'}
    />
  );
}

function parse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
