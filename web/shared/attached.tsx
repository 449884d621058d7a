/** A file of a message, as the service tells it. */
interface AttachedFile {
  id: number;
  file_type: string;
  file_name: string;
  file_size: number;
  data_url: string;
  thumb_url?: string | undefined;
  width?: number | null | undefined;
  height?: number | null | undefined;
}

interface AttachedProps {
  files: readonly AttachedFile[];
  /** The origin from which the page may show pictures: the links to files name PUBLIC_URL, which may be another one. */
  origin: string;
}

/** The files of a message: pictures as such, in a size that styles bound, and all others as links with name and size. */
export function Attached({ files, origin }: AttachedProps) {
  return (
    <>
      {files.map((file) => (
        <One key={file.id} file={file} origin={origin} />
      ))}
    </>
  );
}

function One({ file, origin }: Pick<AttachedProps, 'origin'> & { file: AttachedFile }) {
  const { file_type: type, file_name: name, data_url: url, thumb_url: src = url } = file;
  const label = `${name} (${inWords(file.file_size)})`;
  // The service has made the link; that nothing runs shall not depend on it.
  if (!/^https?:/.test(url)) return <span class="file">{label}</span>;
  const isPicture = type === 'image' && src.startsWith(`${origin}/`);
  return (
    <a class="file" href={url} title={label} target="_blank" rel="noopener noreferrer nofollow">
      {isPicture ? <Picture src={src} file={file} /> : label}
    </a>
  );
}

// With its size, so that nothing moves when it is there.
function Picture({ src, file: { file_name: name, width, height } }: { src: string; file: AttachedFile }) {
  return <img src={src} alt={name} width={width ?? undefined} height={height ?? undefined} loading="lazy" />;
}

/** The files that the body of an event tells. */
export function filesIn(payload: unknown): readonly AttachedFile[] {
  const { attachments } = (payload ?? {}) as { attachments?: unknown };
  return Array.isArray(attachments) ? (attachments as AttachedFile[]) : [];
}

function inWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 999_500 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
