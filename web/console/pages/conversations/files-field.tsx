import { Field } from '../../kit/form.tsx';
import { Progress } from '../../kit/progress.tsx';
import type { Uploaded } from '../../upload.ts';

/** The field that chooses files for a message, again and again. */
export function FilesField({ add, problem }: { add: (files: readonly File[]) => void; problem?: string | undefined }) {
  return (
    <Field label="Files" problem={problem}>
      {(control) => (
        <input
          {...control}
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            add([...(currentTarget.files ?? [])]);
            // Chosen files are listed below; the same file may be chosen again.
            currentTarget.value = '';
          }}
        />
      )}
    </Field>
  );
}

/** The files that go with the message. */
export function ChosenFiles({ files, remove }: { files: readonly File[]; remove: (file: File) => void }) {
  if (files.length === 0) return null;
  return (
    <ul class="chosen" aria-label="Files to send">
      {files.map((file, index) => (
        <li key={index}>
          <span>{file.name}</span> <small>{sizeOf(file.size)}</small>{' '}
          <button type="button" class="quiet" aria-label={`Remove ${file.name}`} onClick={() => remove(file)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** How far the files of a message are on their way. */
export function Uploading({ uploaded: { done, total }, cancel }: { uploaded: Uploaded; cancel: () => void }) {
  const inKb = (bytes: number): number => Math.ceil(bytes / 1024);
  if (done >= total)
    return (
      <p role="status">
        Processing files… <progress aria-label="Processing files" />
      </p>
    );
  return (
    <>
      <Progress label="Uploading (KB)" done={inKb(done)} total={inKb(total)} />
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </>
  );
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kb = bytes / 1024;
  return kb < 1024 ? `${Math.ceil(kb)} KB` : `${(kb / 1024).toFixed(1)} MB`;
}
