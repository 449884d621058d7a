import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Field } from './form.tsx';

type Option = readonly [value: string, text: string];

interface Props {
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
  /** An empty text for none. */
  value: string;
  onChange: (value: string) => void;
  options: readonly Option[];
}

/** Options that are drawn at once; typing finds the others. */
const maxShown = 50;

/** A field for one of many values, such as an agent: typing finds them, arrows move, Enter takes one, Escape keeps the old one. */
export function Combobox({ value, onChange, options, ...field }: Props) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const [index, setIndex] = useState(0);
  const isOpen = typed !== null;
  const found = isOpen ? matching(options, typed) : [];
  const active = found[index];
  const open = (text: string): void => {
    setTyped(text);
    setIndex(Math.max(0, text === '' ? options.findIndex(([one]) => one === value) : 0));
  };
  const close = (): void => setTyped(null);
  const take = ([taken]: Option): void => {
    onChange(taken);
    close();
  };
  function press(event: KeyboardEvent): void {
    if (event.isComposing || !act(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
  function act(key: string): boolean {
    if (key === 'ArrowDown' || key === 'ArrowUp') move(key === 'ArrowDown' ? 1 : -1);
    else if (key === 'Enter' && active) take(active);
    else if (key === 'Escape' && isOpen) close();
    else return false;
    return true;
  }
  function move(by: number): void {
    if (!isOpen) open('');
    else if (found.length > 0) setIndex((index + by + found.length) % found.length);
  }
  return (
    <Field {...field}>
      {(control) => (
        <div class="combobox">
          <input
            {...control}
            role="combobox"
            autocomplete="off"
            aria-autocomplete="list"
            aria-expanded={isOpen}
            aria-controls={`${id}-list`}
            aria-activedescendant={active && `${id}-${index}`}
            value={typed ?? textOf(options, value)}
            onInput={({ currentTarget }) => open(currentTarget.value)}
            onClick={() => !isOpen && open('')}
            onKeyDown={press}
            onBlur={close}
          />
          <Options id={`${id}-list`} label={field.label} found={found} index={index} optionId={id} take={take} />
          <span class="for-screen-readers" role="status">
            {isOpen && (found.length === 1 ? '1 result' : `${found.length} results`)}
          </span>
        </div>
      )}
    </Field>
  );
}

interface OptionsProps {
  id: string;
  label: string;
  found: readonly Option[];
  index: number;
  optionId: string;
  take: (option: Option) => void;
}

function Options({ id, label, found, index, optionId, take }: OptionsProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [index]);
  return (
    <ul ref={list} id={id} role="listbox" aria-label={`${label}: options`} hidden={found.length === 0}>
      {found.map((option, at) => (
        <li
          key={option[0]}
          id={`${optionId}-${at}`}
          role="option"
          aria-selected={at === index}
          // Before the field loses the focus, and the list with it.
          onMouseDown={(event) => {
            event.preventDefault();
            take(option);
          }}
        >
          {option[1]}
        </li>
      ))}
    </ul>
  );
}

interface SeveralProps extends Omit<Props, 'value' | 'onChange'> {
  values: readonly string[];
  onChange: (values: string[]) => void;
  /** Values at most. */
  most?: number;
}

/** Several of many values: those that are chosen, each with a button that removes it, and a combobox for another one. */
export function Comboboxes({ values, onChange, options, most = 20, ...field }: SeveralProps) {
  const left = options.filter(([value]) => !values.includes(value));
  return (
    <div class="comboboxes">
      {values.length < most && (
        <Combobox {...field} value="" options={left} onChange={(value) => onChange([...values, value])} />
      )}
      {values.length > 0 && (
        <ul class="chips" aria-label={`${field.label}: chosen`}>
          {values.map((value) => (
            <li key={value} class="badge">
              {textOf(options, value)}
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${textOf(options, value)} from ${field.label}`}
                onClick={() => onChange(values.filter((one) => one !== value))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function matching(options: readonly Option[], typed: string): Option[] {
  const wanted = typed.trim().toLowerCase();
  return options.filter(([, text]) => text.toLowerCase().includes(wanted)).slice(0, maxShown);
}

// A value that is gone, such as a deleted label, is shown as it is stored.
function textOf(options: readonly Option[], value: string): string {
  return options.find(([one]) => one === value)?.[1] ?? value;
}
