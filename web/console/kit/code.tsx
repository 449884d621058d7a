import { toast } from './toast.tsx';

/** Text as it is, such as JSON or an embed code, with a button that copies it. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <figure class="code">
      <figcaption>
        {label}
        <button type="button" class="quiet" aria-label={`Copy ${label}`} onClick={() => void copy(text)}>
          Copy
        </button>
      </figcaption>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </figure>
  );
}

/** Any value as readable JSON. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return <Code text={JSON.stringify(value, null, 2) ?? 'null'} label={label} />;
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast('Copied to clipboard.');
  } catch {
    toast('Copying was blocked by the browser. Select the text and copy it manually.', 'error');
  }
}
