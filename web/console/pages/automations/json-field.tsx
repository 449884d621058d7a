import { useState } from 'preact/hooks';
import { TextField } from '../../kit/form.tsx';

interface Props<Value> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
}

/** A field for an object as JSON; what is no object yet changes nothing. */
export function JsonField<Value extends object>({ label, value, onChange }: Props<Value>) {
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const isValid = parse(text) !== null;
  function enter(entered: string): void {
    setText(entered);
    const parsed = parse(entered);
    if (parsed) onChange(parsed as Value);
  }
  return (
    <TextField
      label={label}
      rows={16}
      value={text}
      onChange={enter}
      problem={isValid ? undefined : 'Invalid JSON. The last valid value is kept.'}
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
