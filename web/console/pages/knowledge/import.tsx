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
    if (since !== null) throw new Error('An import is already running. Wait for it to finish, or stop it.');
    await running.start((run) => importFile(file, { language: language.trim(), ...run }), {
      done: `Import of ${file.name} finished.`,
      endsWithTab: true,
    });
  }
  const isBegun = progress !== null && progress.done > 0;
  return (
    <Page title="Import articles">
      <p>
        Import JSON lines (<code>.jsonl</code>, each with <code>title</code> and <code>content</code>) or an archive of
        Markdown files (<code>.zip</code>, <code>.tgz</code>). Articles with a known URL or path are updated.
      </p>
      <div class="panel">
        <Form submit="Import" send={send} isScratch>
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
                hint="For new articles without a language. Default: en"
                value={language}
                onChange={setLanguage}
              />
            </>
          )}
        </Form>
      </div>
      {since !== null && (
        <p>
          You can leave this page. Keep this tab open until the import finishes.{' '}
          <button type="button" onClick={() => running.stop()}>
            {' '}
            Stop import{' '}
          </button>
        </p>
      )}
      {error !== null && (
        <p class="note error" role="alert">
          {error}
          {isBegun && ' Imported articles are kept. Import the file again to continue.'}
        </p>
      )}
      {progress && (since !== null || error === null || isBegun) && (
        <Done
          progress={progress}
          state={since !== null ? 'Importing' : error === null ? 'Imported' : 'Partly imported'}
        />
      )}
    </Page>
  );
}

type Standing = 'Importing' | 'Imported' | 'Partly imported';

function Done({ progress: { done, total, result }, state }: { progress: ImportProgress; state: Standing }) {
  const isRunning = state === 'Importing';
  const { created, updated, unchanged, errors } = result;
  return (
    <section aria-label="Import result">
      <h2>{state}</h2>
      {isRunning && <Progress label={total === undefined ? 'Reading file' : 'Lines'} done={done} total={total} />}
      <Facts
        facts={[
          ['Created', created],
          ['Updated', updated],
          ['Unchanged', unchanged],
          ['Skipped', errors.length],
        ]}
      />
      {errors.length > 0 && (
        <Table
          caption="Skipped lines"
          rows={errors}
          keyOf={({ line }) => line}
          empty={null}
          columns={[
            { title: 'Line', cell: ({ line }) => line },
            { title: 'Problem', kind: 'text', cell: ({ error }) => error },
          ]}
        />
      )}
      {state === 'Partly imported' && total !== undefined && (
        <p>
          Stopped at line {done} of {total}.
        </p>
      )}
      {!isRunning && (
        <p>
          <a href="/console/knowledge/articles">View articles</a>
        </p>
      )}
    </section>
  );
}
