import { useRef, useState } from 'preact/hooks';
import { Field, Form } from '../../kit/form.tsx';
import { Progress } from '../../kit/progress.tsx';
import { toast } from '../../kit/toast.tsx';
import { ServiceError } from '../../../shared/service-error.ts';
import type { Uploaded } from '../../upload.ts';
import { uploadPlugin } from './upload.ts';

/** Installs the archive of a plugin, or a new version of one. */
export function InstallPlugin({ installed }: { installed: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [uploaded, setUploaded] = useState<Uploaded | null>(null);
  const [problems, setProblems] = useState<readonly string[]>([]);
  async function send(): Promise<void> {
    setProblems([]);
    const file = input.current?.files?.[0];
    if (!file) throw new Error('Choose a file: the .tgz made by `npx switchboard plugin pack`.');
    setUploaded({ done: 0, total: file.size });
    try {
      const { name, version, pending } = await uploadPlugin(file, setUploaded);
      toast(pending ? `${name} ${pending.version} installed, pending approval.` : `${name} ${version} installed.`);
      if (input.current) input.current.value = '';
      installed();
    } catch (error) {
      // A package may have many problems, all at the one field.
      if (error instanceof ServiceError) setProblems(error.sentences);
      throw error;
    } finally {
      setUploaded(null);
    }
  }
  return (
    <div class="panel">
      <Form submit="Install" send={send} isScratch>
        {() => (
          <Field label="Plugin package" hint="A .tgz made by `npx switchboard plugin pack`, up to 2 MB.">
            {(control) => <input {...control} ref={input} type="file" accept=".tgz,.tar.gz,application/gzip" />}
          </Field>
        )}
      </Form>
      {problems.length > 1 && (
        <ul aria-label="Package problems">
          {problems.map((problem) => (
            <li key={problem} class="problem">
              {problem}
            </li>
          ))}
        </ul>
      )}
      {uploaded && <Standing uploaded={uploaded} />}
    </div>
  );
}

function Standing({ uploaded: { done, total } }: { uploaded: Uploaded }) {
  const inKb = (bytes: number): number => Math.ceil(bytes / 1024);
  return done < total ? (
    <Progress label="Uploading (KB)" done={inKb(done)} total={inKb(total)} />
  ) : (
    <p role="status">
      Checking the package… <progress aria-label="Checking the package" />
    </p>
  );
}
