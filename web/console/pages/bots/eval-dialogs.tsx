import { useState } from 'preact/hooks';
import { Dialog } from '../../kit/dialog.tsx';
import { CheckField, Field, Form, linesOf, TextField } from '../../kit/form.tsx';
import { RecordDialog, type RecordField } from '../../kit/record-form.tsx';
import { maxCases, readCases, type EvalCase, type Expectation } from './eval-cases.ts';

interface CaseProps {
  bot: number;
  cases: readonly EvalCase[];
  /** Place of the case to be changed; null for a new one. */
  index: number | null;
  close: () => void;
  saved: (cases: EvalCase[]) => void;
}

interface CaseDraft {
  question: string;
  kind: string;
  /** Title or URL of an article, or texts, one on each line. */
  value: string;
}

const kinds = [
  ['article', 'Cites an article'],
  ['contains', 'Contains texts'],
  ['answered true', 'Answers'],
  ['answered false', 'Does not answer'],
  ['handoff true', 'Hands off'],
  ['handoff false', 'Does not hand off'],
  ['small_talk true', 'Small talk'],
  ['small_talk false', 'No small talk'],
] as const;

/** A dialog that creates a case, or changes one. */
export function CaseDialog({ bot, cases, index, close, saved }: CaseProps) {
  const present = index === null ? undefined : cases[index];
  const record = present && index !== null ? { id: index, ...present } : null;
  return (
    <RecordDialog<EvalCase & { id: number }, CaseDraft>
      record={record}
      close={close}
      saved={close}
      form={{
        noun: `case of bot ${bot}`,
        create: { title: 'New case', submit: 'Add case' },
        editTitle: 'Edit case',
        nameOf: ({ question }) => question,
        fresh: { question: '', kind: 'article', value: '' },
        draftOf: ({ question, expect }) => ({ question, ...draftOf(expect) }),
        fields: ({ kind }) => fieldsFor(kind),
        save: async (draft) => {
          const changed = { ...present, ...caseOf(draft) };
          await Promise.resolve(saved(index === null ? [...cases, changed] : cases.with(index, changed)));
        },
      }}
    />
  );
}

function fieldsFor(kind: string): RecordField<CaseDraft>[] {
  const value = values[kind];
  return [
    { name: 'question', label: 'Question', type: 'lines', required: true },
    { name: 'kind', label: 'Expected', options: kinds },
    ...(value ? [{ name: 'value' as const, required: true, ...value }] : []),
  ];
}

const values: Readonly<Record<string, Pick<RecordField<CaseDraft>, 'label' | 'hint' | 'type'>>> = {
  article: { label: 'Article', hint: 'Title or URL. An offer of the article passes too.' },
  contains: { label: 'Texts', hint: 'One per line, in upper or lower case.', type: 'lines' },
};

function draftOf(expect: Expectation): Omit<CaseDraft, 'question'> {
  if (expect.article !== undefined) return { kind: 'article', value: expect.article };
  if (expect.contains !== undefined) return { kind: 'contains', value: expect.contains.join('\n') };
  const [[name, value] = ['', true]] = Object.entries(expect);
  return { kind: `${name} ${String(value)}`, value: '' };
}

function caseOf({ question, kind, value }: CaseDraft): EvalCase {
  if (question.trim() === '') throw new Error('Enter a question.');
  return { question: question.trim(), expect: expectationOf(kind, value) };
}

function expectationOf(kind: string, value: string): Expectation {
  if (kind === 'article') {
    if (value.trim() === '') throw new Error('Enter the title or the URL of an article.');
    return { article: value.trim() };
  }
  if (kind === 'contains') {
    if (linesOf(value).length === 0) throw new Error('Enter at least one text.');
    return { contains: linesOf(value) };
  }
  const [name = '', wanted] = kind.split(' ');
  return { [name]: wanted === 'true' };
}

interface ImportProps {
  cases: readonly EvalCase[];
  close: () => void;
  saved: (cases: EvalCase[]) => void;
}

/** A dialog that takes cases as JSON lines, pasted or from a file. */
export function ImportDialog({ cases, close, saved }: ImportProps) {
  const [text, setText] = useState('');
  const [replaces, setReplaces] = useState(false);
  function send(): Promise<void> {
    const read = readCases(text);
    const all = replaces ? read : [...cases, ...read];
    if (all.length > maxCases)
      throw new Error(`A run in the console has at most ${maxCases} cases. Use npx switchboard evals for more.`);
    saved(all);
    close();
    return Promise.resolve();
  }
  return (
    <Dialog title="Import cases" onClose={close}>
      <Form submit="Import" send={async () => send()}>
        {() => (
          <>
            <Field label="File" hint="JSON lines, as for npx switchboard evals.">
              {(control) => (
                <input
                  {...control}
                  type="file"
                  accept=".jsonl,.ndjson,.txt"
                  onChange={({ currentTarget }) => void currentTarget.files?.[0]?.text().then(setText)}
                />
              )}
            </Field>
            <TextField
              label="Cases"
              hint={'One per line: {"question": "May I return goods?", "expect": {"article": "Returns"}}'}
              rows={8}
              value={text}
              onChange={setText}
            />
            {cases.length > 0 && (
              <CheckField
                label={`Replace the present ${cases.length} cases`}
                checked={replaces}
                onChange={setReplaces}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
