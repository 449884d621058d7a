import './knowledge.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../../../shared/service-error.ts';
import { Facts } from '../../kit/facts.tsx';
import { Field, Form, TextField } from '../../kit/form.tsx';
import { Page } from '../../kit/page.tsx';
import { Progress } from '../../kit/progress.tsx';
import { Table } from '../../kit/table.tsx';
import { importFile, type ImportProgress } from './send-import.ts';

const accepted = '.jsonl,.ndjson,.zip,.tgz,.tar.gz';

/** The import of a file of articles: how far it is, what it did, and each line that was left out. */
export function ImportPage() {
  const [file, setFile] = useState<File | null>(null);
  const [language, setLanguage] = useState('');
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const [isRunning, setRunning] = useState(false);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  async function send(): Promise<void> {
    setProgress(null);
    if (!file) throw new Error('Choose a file first.');
    setRunning(true);
    let done = 0;
    const told = (present: ImportProgress): void => {
      ({ done } = present);
      setProgress(present);
    };
    try {
      await importFile(file, { language: language.trim(), signal: leaving.current.signal, told });
    } catch (error) {
      if (done === 0) setProgress(null);
      const more = done === 0 ? '' : ' What was imported stays; import the file again to go on.';
      throw new Error(sentenceOf(error) + more, { cause: error });
    } finally {
      setRunning(false);
    }
  }
  return (
    <Page title="Import articles">
      <p>
        A file of JSON lines (<code>.jsonl</code>), each an article with <code>title</code> and <code>content</code>, or
        Markdown files in an archive (<code>.zip</code>, <code>.tgz</code>). An article with the address or path of one
        that is there changes it; lines that cannot be read are left out and told.
      </p>
      <div class="panel">
        <Form submit="Import" send={send}>
          {() => (
            <>
              <Field label="File">
                {(control) => (
                  <input
                    {...control}
                    type="file"
                    accept={accepted}
                    onChange={({ currentTarget }) => setFile(currentTarget.files?.[0] ?? null)}
                  />
                )}
              </Field>
              <TextField
                label="Language"
                hint="Of new articles that do not say theirs; en if this is empty"
                value={language}
                onChange={setLanguage}
              />
            </>
          )}
        </Form>
      </div>
      {progress && <Done progress={progress} isRunning={isRunning} />}
    </Page>
  );
}

function Done({ progress: { done, total, result }, isRunning }: { progress: ImportProgress; isRunning: boolean }) {
  const { created, updated, unchanged, errors } = result;
  return (
    <section aria-label="What the import did">
      <h2>{isRunning ? 'Importing' : 'Imported'}</h2>
      {isRunning && <Progress label={total === undefined ? 'Reading the file' : 'Lines'} done={done} total={total} />}
      <Facts
        facts={[
          ['Created', created],
          ['Changed', updated],
          ['As they were', unchanged],
          ['Left out', errors.length],
        ]}
      />
      {errors.length > 0 && (
        <Table
          caption="Lines that were left out"
          rows={errors}
          keyOf={({ line }) => line}
          empty={null}
          columns={[
            { title: 'Line', cell: ({ line }) => line },
            { title: 'What is wrong', cell: ({ error }) => error },
          ]}
        />
      )}
      {!isRunning && (
        <p>
          <a href="/console/knowledge/articles">See the articles</a>
        </p>
      )}
    </section>
  );
}
