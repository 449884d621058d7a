import { useId } from 'preact/hooks';

interface Props<Value extends string> {
  /** Name of the group for screen readers. */
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly (readonly [value: Value, text: string])[];
}

/** Radio buttons drawn as one control: all of a few values are in view. */
export function Segments<Value extends string>({ label, value, onChange, options }: Props<Value>) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend>{label}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
