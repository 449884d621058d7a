import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf, ServiceError } from '../../shared/service-error.ts';
import type { Draft } from './draft.ts';
import { Elapsed } from './elapsed.tsx';
import { useUnsaved } from './unsaved.ts';

interface FormProps {
  /** Sends what was entered; its refusals are shown, at their fields where they name one. */
  send: () => Promise<unknown>;
  /** The text of the button. */
  submit: string;
  /** Asked before each request; false sends nothing. */
  mayBeSent?: () => boolean | Promise<boolean>;
  /** Start of a request that began before the form was shown. */
  since?: number | null;
  /** Content that outlives the form. Without it the person is asked before entered text is lost. */
  draft?: Pick<Draft<object>, 'isChanged' | 'hasUnkept' | 'isRestored' | 'discard'>;
  /** Text that nobody would miss, or that is kept elsewhere: it is lost without a question. */
  isScratch?: boolean;
  children: (problemOf: ProblemOf) => ComponentChildren;
}

/** The sentence about a field by its name, `title` or `working_hours/0`, or undefined. */
export type ProblemOf = (field: string) => string | undefined;

/** A form with its fields, its button and the refusals of the service. */
export function Form(props: FormProps) {
  const { send, submit, mayBeSent, since: sentSince = null, draft, isScratch = false, children } = props;
  const [error, setError] = useState<unknown>(null);
  const mark = useUnsaved(() => draft?.discard());
  // Not state: a form that is drawn between the input event of a box and its change event takes the choice back.
  const isEntered = useRef(false);
  function enter(entered: boolean): void {
    isEntered.current = entered;
    if (!draft && !isScratch) mark({ isChanged: entered, isLosable: true });
  }
  useLayoutEffect(() => {
    if (draft) mark({ isChanged: draft.isChanged, isLosable: draft.hasUnkept });
  }, [draft?.isChanged, draft?.hasUnkept]);
  const [ownSince, setSince] = useState<number | null>(null);
  const since = ownSince ?? sentSince;
  const fields = error instanceof ServiceError ? error.fields : new Map<string, string>();
  async function run(event: Event): Promise<void> {
    event.preventDefault();
    if (mayBeSent && !(await mayBeSent())) return;
    setSince(Date.now());
    setError(null);
    const wasEntered = isEntered.current;
    try {
      // Text that is entered from now on is not part of this request.
      enter(false);
      await send();
    } catch (thrown) {
      enter(wasEntered || isEntered.current);
      setError(thrown);
    }
    setSince(null);
  }
  return (
    <form onSubmit={(event) => void run(event)} onInput={() => enter(true)} noValidate>
      {draft?.isRestored && draft.isChanged && (
        <p class="note restored" role="status">
          Your unsaved changes were restored.{' '}
          <button type="button" class="quiet" onClick={draft.discard}>
            Discard changes
          </button>
        </p>
      )}
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
  /** The browser's name for the value that it may fill in. */
  autocomplete?: string;
}

/** A field for text. */
export function TextField({ value, onChange, type = 'text', rows, required, autocomplete, ...field }: TextProps) {
  // As an object, since Preact has other types of attributes for each `type`.
  const attributes: object = rows === undefined ? { type, required, autocomplete } : { rows, required };
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

/** The text of a value of a `ChoiceField`, or the value itself where it has none. */
export function optionText<Value extends string>(
  options: readonly (readonly [value: Value, text: string])[],
  value: Value,
): string {
  return options.find(([one]) => one === value)?.[1] ?? value;
}

/** The lines of a text, without spaces around them and empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
