import { useState } from 'preact/hooks';
import { CheckField, ChoiceField, TextField, type ProblemOf } from './form.tsx';

/** A setting, as a plugin's manifest describes it in JSON Schema. */
export interface Setting {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: readonly unknown[];
  format?: string;
  maxLength?: number;
  items?: Setting;
  properties?: Readonly<Record<string, Setting>>;
  required?: readonly string[];
  'x-secret'?: boolean;
}

type Values = Readonly<Record<string, unknown>>;

interface FieldsProps {
  schema: Setting;
  values: Values;
  /** Gets the settings as they are to be sent; what was emptied is left out. */
  onChange: (values: Values) => void;
  problemOf: ProblemOf;
  /** Secrets that are stored already. */
  stored?: readonly string[];
  /** Where these settings are among all, `config/`. */
  path?: string;
}

/** The fields of a form that a JSON Schema describes. */
export function SchemaFields({ schema, values, onChange, path = '', ...rest }: FieldsProps) {
  const entries = Object.entries(schema.properties ?? {});
  if (entries.length === 0) return <p>There is nothing to set.</p>;
  const set = (name: string, value: unknown): void => {
    const { [name]: _, ...others } = values;
    onChange(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <>
      {entries.map(([name, setting]) => (
        <SchemaField
          key={name}
          {...rest}
          name={name}
          setting={setting}
          isRequired={schema.required?.includes(name) ?? false}
          value={values[name]}
          set={(value) => set(name, value)}
          path={path + name}
        />
      ))}
    </>
  );
}

interface FieldProps extends Pick<FieldsProps, 'problemOf' | 'stored'> {
  name: string;
  setting: Setting;
  isRequired: boolean;
  value: unknown;
  set: (value: unknown) => void;
  path: string;
}

function SchemaField(props: FieldProps) {
  const { name, setting, value, set } = props;
  const { type } = setting;
  const label = setting.title ?? name;
  if (setting.enum) return <EnumField {...props} label={label} options={setting.enum} />;
  if (type === 'boolean')
    return <CheckField label={label} checked={(value ?? setting.default) === true} onChange={set} />;
  if (type === 'object' && setting.properties) return <ObjectField {...props} label={label} />;
  if (['string', 'integer', 'number'].includes(type ?? '')) return <PlainField {...props} label={label} />;
  return isOfTexts(setting) ? <LinesField {...props} label={label} /> : <JsonField {...props} label={label} />;
}

function isOfTexts({ type, items }: Setting): boolean {
  return type === 'array' && items?.type === 'string' && !items.enum;
}

type Labelled = FieldProps & { label: string };

function ObjectField({ label, setting, value, set, path, ...rest }: Labelled) {
  return (
    <fieldset>
      <legend>{label}</legend>
      {setting.description && <p>{setting.description}</p>}
      <SchemaFields
        {...rest}
        schema={setting}
        values={(value ?? setting.default ?? {}) as Values}
        onChange={set}
        path={`${path}/`}
      />
    </fieldset>
  );
}

function EnumField({
  label,
  setting,
  value,
  set,
  options,
  problemOf,
  path,
}: Labelled & { options: readonly unknown[] }) {
  // Options are identified by position, as a value may be of any type.
  const chosen = options.indexOf(value ?? setting.default);
  const texts = options.map((option, index) => [String(index), String(option)] as const);
  return (
    <ChoiceField
      label={label}
      hint={setting.description}
      problem={problemOf(path)}
      value={String(chosen)}
      onChange={(index) => set(options[Number(index)])}
      options={chosen === -1 ? [['-1', '–'], ...texts] : texts}
    />
  );
}

const longText = 200;
const types: Readonly<Record<string, 'email' | 'url'>> = { email: 'email', uri: 'url' };

function PlainField({ label, name, setting, isRequired, value, set, problemOf, path, stored = [] }: Labelled) {
  const isText = setting.type === 'string';
  const isStored = setting['x-secret'] === true && stored.includes(name);
  const kept = isStored ? 'One is stored. What you enter takes its place.' : '';
  const [text, enter] = useText(value, setting);
  const usual = isText || setting.default === undefined ? '' : `Empty for ${JSON.stringify(setting.default)}.`;
  return (
    <TextField
      label={label}
      hint={[setting.description, kept, usual].filter(Boolean).join(' ')}
      problem={problemOf(path)}
      required={isRequired && !isStored}
      {...controlOf(setting)}
      value={text}
      onChange={(entered) => {
        enter(entered);
        set(readPlain(entered, { isText, usual: setting.default }));
      }}
    />
  );
}

// Entered text stays while it means the value: “1.0” on the way to “1.05”, or nothing at all.
function useText(value: unknown, { type, default: usual }: Setting): [string, (entered: string) => void] {
  const [entered, enter] = useState<string | null>(null);
  const present = value ?? usual;
  const own = typeof present === 'string' || typeof present === 'number' ? String(present) : '';
  const isMeant = entered === '' ? value === undefined : entered !== null && Number(entered) === value;
  return [type !== 'string' && isMeant ? (entered ?? own) : own, enter];
}

function controlOf(setting: Setting): { type?: 'password' | 'email' | 'url' | 'text' | 'number'; rows?: number } {
  const { type, format, maxLength } = setting;
  if (setting['x-secret'] === true) return { type: 'password' };
  if (type !== 'string') return { type: 'number' };
  if (format !== undefined) return { type: types[format] ?? 'text' };
  return maxLength !== undefined && maxLength <= longText ? { type: 'text' } : { rows: 3 };
}

// An emptied text is one, where the default would else come back.
function readPlain(text: string, { isText, usual }: { isText: boolean; usual: unknown }): unknown {
  if (text === '') return isText && usual !== undefined ? '' : undefined;
  return isText ? text : Number(text);
}

function LinesField({ label, setting, value, set, problemOf, path }: Labelled) {
  const lines = (value ?? setting.default ?? []) as readonly string[];
  const [text, setText] = useState(lines.join('\n'));
  return (
    <TextField
      label={label}
      hint={`${setting.description ?? ''} One per line.`.trim()}
      problem={problemOf(path)}
      rows={4}
      value={text}
      onChange={(entered) => {
        setText(entered);
        set(
          entered
            .split('\n')
            .map((line) => line.trim())
            .filter((line) => line !== ''),
        );
      }}
    />
  );
}

function JsonField({ label, setting, value, set, problemOf, path }: Labelled) {
  const [text, setText] = useState(JSON.stringify(value ?? setting.default ?? null, null, 2));
  const [problem, setProblem] = useState<string>();
  function enter(entered: string): void {
    setText(entered);
    try {
      set(JSON.parse(entered));
      setProblem(undefined);
    } catch {
      setProblem('Invalid JSON. The last valid value is kept.');
    }
  }
  return (
    <TextField
      label={label}
      hint={setting.description}
      problem={problem ?? problemOf(path)}
      rows={5}
      value={text}
      onChange={enter}
    />
  );
}
