import './knowledge.css';
import { useState } from 'preact/hooks';
import { Facts } from '../../kit/facts.tsx';
import { Field, Form, TextField } from '../../kit/form.tsx';
import { Page } from '../../kit/page.tsx';
import { Progress } from '../../kit/progress.tsx';
import { Task, useTask } from '../../kit/task.ts';
import { Table } from '../../kit/table.tsx';
import { importFile, type ImportProgress } from './send-import.ts';

const accepted = '.jsonl,.ndjson,.zip,.tgz,.tar.gz';

// It goes on while its page is left, and is shown when somebody comes back.
const running = new Task<ImportProgress>();

/** The import of a file of articles: how far it is, what it did, and each line that was left out. */
export function ImportPage() {
  const [file, setFile] = useState<File | null>(null);
  const [language, setLanguage] = useState('');
  const { since, progress, error } = useTask(running);
  async function send(): Promise<void> {
    if (!file) throw new Error('Choose a file first.');
    if (since !== null) throw new Error('An import is running: wait for its end, or stop it.');
    await running.start((run) => importFile(file, { language: language.trim(), ...run }), {
      done: `The import of ${file.name} is done.`,
      endsWithTab: true,
    });
  }
  const isBegun = progress !== null && progress.done > 0;
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
      {since !== null && (
        <p>
          You may go to other pages of the console meanwhile: it goes on as long as this tab is open.{' '}
          <button type="button" onClick={() => running.stop()}>
            Stop the import
          </button>
        </p>
      )}
      {error !== null && (
        <p class="note error" role="alert">
          {error}
          {isBegun && ' What was imported stays; import the file again to go on.'}
        </p>
      )}
      {progress && (since !== null || error === null || isBegun) && (
        <Done
          progress={progress}
          state={since !== null ? 'Importing' : error === null ? 'Imported' : 'Imported in part'}
        />
      )}
    </Page>
  );
}

type Standing = 'Importing' | 'Imported' | 'Imported in part';

function Done({ progress: { done, total, result }, state }: { progress: ImportProgress; state: Standing }) {
  const isRunning = state === 'Importing';
  const { created, updated, unchanged, errors } = result;
  return (
    <section aria-label="What the import did">
      <h2>{state}</h2>
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
      {state === 'Imported in part' && total !== undefined && (
        <p>
          It came to line {done} of {total}.
        </p>
      )}
      {!isRunning && (
        <p>
          <a href="/console/knowledge/articles">See the articles</a>
        </p>
      )}
    </section>
  );
}
