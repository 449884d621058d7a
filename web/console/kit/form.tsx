import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Elapsed } from './elapsed.tsx';
import { sentenceOf, ServiceError } from '../../shared/service-error.ts';

interface FormProps {
  /** Sends what was entered; its refusals are shown, at their fields where they name one. */
  send: () => Promise<unknown>;
  /** The text of the button. */
  submit: string;
  /** Since when what was sent is on its way, where that began before the form was shown. */
  since?: number | null;
  children: (problemOf: ProblemOf) => ComponentChildren;
}

/** The sentence about a field by its name, `title` or `working_hours/0`, or undefined. */
export type ProblemOf = (field: string) => string | undefined;

/** A form: its fields, its button, and what the service says of them. */
export function Form({ send, submit, since: sentSince = null, children }: FormProps) {
  const [error, setError] = useState<unknown>(null);
  const [ownSince, setSince] = useState<number | null>(null);
  const since = ownSince ?? sentSince;
  const fields = error instanceof ServiceError ? error.fields : new Map<string, string>();
  async function run(event: Event): Promise<void> {
    event.preventDefault();
    setSince(Date.now());
    setError(null);
    await send().catch(setError);
    setSince(null);
  }
  return (
    <form onSubmit={(event) => void run(event)} noValidate>
      {children((field) => fields.get(`/${field}`))}
      {error !== null && (
        <p class="note error" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      <button type="submit" class="primary" disabled={since !== null} aria-busy={since !== null}>
        {submit}
        {since !== null && <Elapsed since={since} />}
      </button>
    </form>
  );
}

interface FieldProps {
  label: string;
  /** More about what is meant. */
  hint?: string | undefined;
  problem?: string | undefined;
  /** Draws the control, which takes these properties. */
  children: (control: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ComponentChildren;
}

/** A control with its label, its hint and its problem. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const about = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': about || undefined, 'aria-invalid': problem !== undefined })}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {problem && (
        <small id={`${id}-problem`} class="problem">
          {problem}
        </small>
      )}
    </div>
  );
}

interface TextProps extends Omit<FieldProps, 'children'> {
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'email' | 'url' | 'number' | 'color' | 'password' | 'search';
  /** Lines of a larger field. */
  rows?: number;
  required?: boolean;
}

/** A field for text. */
export function TextField({ value, onChange, type = 'text', rows, required, ...field }: TextProps) {
  // As an object, since Preact has other types of attributes for each `type`.
  const attributes: object = rows === undefined ? { type, required } : { rows, required };
  return (
    <Field {...field}>
      {(control) =>
        rows === undefined ? (
          <input
            {...control}
            {...attributes}
            value={value}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
        ) : (
          <textarea
            {...control}
            {...attributes}
            value={value}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

interface ChoiceProps<Value extends string> extends Omit<FieldProps, 'children'> {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly (readonly [value: Value, text: string])[];
}

/** A field for one of several values. */
export function ChoiceField<Value extends string>({ value, onChange, options, ...field }: ChoiceProps<Value>) {
  return (
    <Field {...field}>
      {(control) => (
        <select {...control} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A field for yes and no. */
export function CheckField({
  label,
  checked,
  onChange,
}: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {label}
    </label>
  );
}
