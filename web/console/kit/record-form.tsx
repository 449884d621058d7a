import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { useDraft } from './draft.ts';
import { CheckField, ChoiceField, Form, TextField, type ProblemOf } from './form.tsx';

/** A field of a record's form. `draft` and `set` serve fields that `control` draws. */
export interface RecordField<Draft> {
  name: keyof Draft & string;
  label: string;
  hint?: string;
  /** `check` is for booleans; `lines` for a text of several lines. Default: `text`. */
  type?: 'text' | 'email' | 'url' | 'number' | 'color' | 'check' | 'lines';
  /** The values of a choice, with their texts. */
  options?: readonly (readonly [value: string, text: string])[];
  required?: boolean;
  /** Drawn in place of a standard control. */
  control?: (field: {
    draft: Draft;
    set: (changes: Partial<Draft>) => void;
    problem: string | undefined;
  }) => ComponentChildren;
}

/** The form that creates a record and edits it. `record` is null for a new one. */
export interface RecordForm<Row, Draft extends object> {
  /** A noun in lower case, such as `label`. */
  noun: string;
  nameOf: (row: Row) => string;
  /** Content of the form for a new record. */
  fresh: Draft;
  draftOf: (row: Row) => Draft;
  /** Secret fields, which the browser's storage must not hold. */
  unkept?: readonly (keyof Draft)[];
  fields: (draft: Draft, record: Row | null) => readonly RecordField<Draft>[];
  save: (draft: Draft, record: Row | null) => Promise<unknown>;
  /** Title of the dialog and text of the button for a new record. */
  create?: { title: string; submit: string };
  /** Title of the dialog for a record; default: the noun and its name. */
  editTitle?: string;
}

interface DialogProps<Row, Draft extends object> {
  form: RecordForm<Row, Draft>;
  record: Row | null;
  close: () => void;
  saved: () => void;
}

/** A dialog with the form of a record. */
export function RecordDialog<Row extends { id: number }, Draft extends object>({
  form,
  record,
  close,
  saved,
}: DialogProps<Row, Draft>) {
  const draft = useDraft(
    `${form.noun} ${record?.id ?? 'new'}`,
    record ? form.draftOf(record) : form.fresh,
    form.unkept,
  );
  const { title, submit } = form.create ?? { title: `New ${form.noun}`, submit: 'Create' };
  async function send(): Promise<void> {
    await form.save(draft.value, record);
    draft.discard();
    saved();
  }
  return (
    <Dialog
      title={record ? (form.editTitle ?? `${capitalized(form.noun)} ${form.nameOf(record)}`) : title}
      onClose={close}
    >
      <Form submit={record ? 'Save' : submit} send={send} draft={draft}>
        {(problemOf) =>
          form
            .fields(draft.value, record)
            .map((field) => (
              <DrawnField key={field.name} field={field} draft={draft.value} set={draft.set} problemOf={problemOf} />
            ))
        }
      </Form>
    </Dialog>
  );
}

interface FieldProps<Draft> {
  field: RecordField<Draft>;
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
  problemOf: ProblemOf;
}

function DrawnField<Draft>({ field, draft, set, problemOf }: FieldProps<Draft>) {
  const { name, label, hint, type = 'text', options, required = false, control } = field;
  const problem = problemOf(name);
  if (control) return <>{control({ draft, set, problem })}</>;
  const enter = (entered: string | boolean): void => set({ [name]: entered } as Partial<Draft>);
  if (type === 'check') return <CheckField label={label} checked={Boolean(draft[name])} onChange={enter} />;
  const common = { label, hint, problem, value: String(draft[name] ?? ''), onChange: enter };
  if (options) return <ChoiceField {...common} options={options} />;
  if (type === 'lines') return <TextField {...common} rows={4} required={required} />;
  return <TextField {...common} type={type} required={required} />;
}

function capitalized(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1);
}
